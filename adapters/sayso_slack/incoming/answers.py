"""What a form is answered with: what Slack shows in its dialog."""

from __future__ import annotations

from collections.abc import Iterator
from gettext import NullTranslations
from typing import Any

from sayso.chats.places import Answer, Answered
from sayso.locales import ENGLISH
from sayso.text.visible import one_line, shortened, visible
from sayso_slack.callback_guard import Payload, as_object, as_text
from sayso_slack.card.elements import Block, literal, plain_text, quote, rich_text, section
from sayso_slack.card.everything import chunks, fits
from sayso_slack.forms.inputs import INPUT, carried, echoed, literal_blocks, picked_moment
from sayso_slack.incoming.submissions import states_of

_PROBLEM = 500
_OVER = (Answered.FORBIDDEN, Answered.LATE, Answered.REFUSED, Answered.UNKNOWN)


def form_answer(
    payload: Payload, answer: Answer, translations: NullTranslations = ENGLISH
) -> Payload | None:
    """What Slack is told to do with the dialog; None closes it.

    docs.slack.dev, modals: ``errors`` are shown beside its inputs, ``update`` replaces it.
    """
    view = as_object(payload.get("view"))
    if answer.kind is Answered.INVALID and (errors := _errors(view, answer, translations)):
        return {"response_action": "errors", "errors": errors}
    if answer.kind in _OVER or answer.kind is Answered.INVALID:
        return {"response_action": "update", "view": _over(view, answer, translations)}
    return None


def _errors(view: Payload, answer: Answer, translations: NullTranslations) -> dict[str, str]:
    """Each problem at its field; what belongs to none of them at the first one."""
    known = [block_id for block_id in _labels(view) if block_id.startswith(INPUT)]
    if not known:
        return {}
    problems: dict[str, list[str]] = {}
    for name, problem in (answer.problems or {"": answer.text}).items():
        block_id = f"{INPUT}{carried(name)}"
        if block_id in known:
            problems.setdefault(block_id, []).append(problem)
        else:
            about = f"{name}: {problem}" if name else problem
            problems.setdefault(known[0], []).append(about)
    return {
        block_id: shortened(visible("; ".join(told)).strip(), _PROBLEM)
        or translations.gettext("this does not fit")
        for block_id, told in problems.items()
    }


def _over(view: Payload, answer: Answer, translations: NullTranslations) -> Block:
    """A view that says why nothing was taken, and keeps what was entered to be copied."""
    blocks = [
        *literal_blocks(answer.text or translations.gettext("This was not taken.")),
        *_entered(view, translations),
    ]
    title = (
        translations.gettext("Too late")
        if answer.kind is Answered.LATE
        else translations.gettext("Not taken")
    )
    over: Block = {
        "type": "modal",
        "title": plain_text(one_line(title, 24)),
        "close": plain_text(one_line(translations.gettext("Close"), 24)),
        "blocks": blocks,
    }
    if not fits(over):
        over["blocks"] = [
            blocks[0],
            *literal_blocks(translations.gettext("It is too long to be shown again.")),
        ]
    return over


def _entered(view: Payload, translations: NullTranslations) -> Iterator[Block]:
    labels = _labels(view)
    entered = [
        (labels.get(block_id, translations.gettext("Answer")), text)
        for block_id, state in states_of(view).items()
        if (text := _words(state))
    ]
    if entered:
        yield rich_text(section(literal(translations.gettext("What you entered"), bold=True)))
    for label, text in entered:
        quotes = [quote(literal(chunk)) for chunk in chunks(visible(text))]
        yield rich_text(section(literal(one_line(label, 100), bold=True)), *quotes)


def _words(state: Payload) -> str:
    """What a person sees in an input."""
    for name in ("value", "selected_date"):
        if text := as_text(state.get(name)):
            return text
    if type(at := state.get("selected_date_time")) is int:
        return picked_moment(at)
    options = [state.get("selected_option"), *(state.get("selected_options") or [])]
    return ", ".join(filter(None, (echoed(as_text(_text(option))) for option in options)))


def _labels(view: Payload) -> dict[str, str]:
    """The labels of the view's inputs by block_id, in order."""
    blocks = view.get("blocks")
    return {
        as_text(block.get("block_id")): echoed(as_text(as_object(block.get("label")).get("text")))
        for block in (blocks if isinstance(blocks, list) else [])
        if isinstance(block, dict) and block.get("type") == "input"
    }


def _text(option: Any) -> Any:
    return as_object(as_object(option).get("text")).get("text")
