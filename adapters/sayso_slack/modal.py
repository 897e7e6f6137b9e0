"""Slack's dialogs: everything that was asked, a form, and the reply to a form."""

from __future__ import annotations

import json
from collections.abc import Iterator
from gettext import NullTranslations
from typing import Any

from sayso.cards.card import Card, Choice
from sayso.cards.gist import begins
from sayso.chats.places import Answer, Answered, MessageRef
from sayso.errors import DeliveryError
from sayso.forms.form import Form
from sayso.locales import ENGLISH, locale_of
from sayso.text.visible import format_count, is_unicode, one_line, shortened, visible
from sayso_slack.callback_guard import Payload, as_object, as_text
from sayso_slack.errors import PLATFORM
from sayso_slack.form_inputs import (
    INPUT,
    decode_echo,
    encode_id,
    format_moment,
    input_blocks,
    literal_blocks,
    read_states,
)
from sayso_slack.value_blocks import (
    CHUNK,
    Block,
    chunks,
    code,
    context,
    literal,
    plain_text,
    preformatted,
    quote,
    rich_text,
    section,
)

REVEAL_LIMIT = 150_000
"""Most characters worth trying: in chunks of 1,934 to 2,900 they make 78 blocks at most."""

VIEW_BYTES = 250_000
"""docs.slack.dev, views: 250 kB. How Slack counts is not said, so the longest JSON counts here."""

MOST_BLOCKS = 100
"""docs.slack.dev, views."""

_ON_A_LINE = 150


def everything_modal(card: Card) -> Block:
    """A view with all that is behind *Show all*; the boxes of a value join to exactly its text.

    docs.slack.dev, views: a title of 24 characters, 100 blocks; header block:
    150 characters.
    """
    header = {"type": "header", "text": plain_text(one_line(card.body.title, 150))}
    return {
        "type": "modal",
        "title": plain_text(one_line(card.translations.gettext("All that is asked"), 24)),
        "close": plain_text(one_line(card.translations.gettext("Close"), 24)),
        "blocks": [header, *_pack_blocks(_parts(card))],
    }


def fits(view: Block) -> bool:
    """Return True if Slack takes the view for certain."""
    return len(view["blocks"]) <= MOST_BLOCKS and len(json.dumps(view)) <= VIEW_BYTES


def _parts(card: Card) -> Iterator[Block]:
    """Names outside, texts in boxes, the agent's words behind a bar, as on the card."""
    for value in (*card.body.values, *card.body.raw):
        if heading := " · ".join(filter(None, (value.name, value.note))):
            yield section(literal(one_line(heading, 150), bold=True))
        yield from (preformatted(chunk) for chunk in chunks(visible(value.text)))
    if card.body.description:
        heading = card.translations.gettext("{described} by the agent:").format(
            described=card.described
        )
        yield section(literal(heading, bold=True))
        yield from (quote(literal(chunk)) for chunk in chunks(visible(card.body.description)))
    for label, text in card.beside:
        yield from _fact(one_line(label, 60), visible(text))


def _fact(label: str, text: str) -> Iterator[Block]:
    """A fact on its line; what has more lines, such as an answer, in boxes below its label."""
    if len(text) <= _ON_A_LINE and "\n" not in text:
        yield section(literal(f"{label} ", bold=True), code(text or "–"))
        return
    yield section(literal(label, bold=True))
    yield from (preformatted(chunk) for chunk in chunks(text))


def _pack_blocks(parts: Iterator[Block]) -> Iterator[Block]:
    """The parts in blocks that hold no more than one of the longest would."""
    together: list[Block] = []
    size = 0
    for part in parts:
        length = sum(len(one.get("text", "")) for one in part["elements"])
        if together and size + length > CHUNK:
            yield rich_text(*together)
            together, size = [], 0
        together.append(part)
        size += length
    if together:
        yield rich_text(*together)


CALLBACK = "sayso:form"
"""The callback_id of all our forms."""

FALLS_BACK = "falls_back"
LANGUAGE = "language"
"""Key of the choice that counts when a dialog is closed."""

_ASKER = 150
_WHICH = 200

# What a dialog says of the card and of itself: where it stands, which it is, how it falls back.
_BLOCKS_OF_CARD = 3
_BYTES_OF_CARD = 15_000

_TITLE = 24  # docs.slack.dev, views: title, submit and close
_METADATA = 3_000  # docs.slack.dev, views: private_metadata


def form_modal(card: Card, choice: Choice, form: Form, message: MessageRef) -> Block:
    """A view that asks for the fields of a form and remembers where its button stands.

    Raises:
        DeliveryError: a Slack dialog cannot hold the form or take an answer; it says why.
    """
    translations = card.translations
    if choice.falls_back:
        close = form.leave_out or translations.gettext("Leave it out")
    else:
        close = translations.gettext("Cancel")
    blocks = _blocks(card, choice, form, translations)
    view: Block = {
        "type": "modal",
        "callback_id": CALLBACK,
        "private_metadata": _metadata(card, choice, message, translations),
        "title": plain_text(one_line(form.title, _TITLE)),
        "submit": plain_text(one_line(form.submit or translations.gettext("Send"), _TITLE)),
        "close": plain_text(one_line(close, _TITLE)),
        "blocks": blocks,
    }
    if choice.falls_back:
        view["notify_on_close"] = True
    if problem := _view_problem(view, translations):
        raise DeliveryError(PLATFORM, problem, permanent=True)
    return view


def _view_problem(view: Block, translations: NullTranslations) -> str:
    """Return the reason that Slack refuses the view; empty where it does not."""
    if not is_unicode(view):
        return translations.gettext(
            "the form holds half of a surrogate pair, which Slack cannot carry"
        )
    if fits(view):
        return ""
    return format_count(
        translations,
        "the form is too large for a Slack dialog: it needs {count} block of at most "
        "{most}, and {size} bytes of at most {most_size}",
        "the form is too large for a Slack dialog: it needs {count} blocks of at most "
        "{most}, and {size} bytes of at most {most_size}",
        len(view["blocks"]),
        most=MOST_BLOCKS,
        size=len(json.dumps(view)),
        most_size=VIEW_BYTES,
    )


def _blocks(card: Card, choice: Choice, form: Form, translations: NullTranslations) -> list[Block]:
    """Build the dialog: which card it is for, its note, its fields."""
    blocks: list[Block] = []
    if len(form.title) > _TITLE:
        blocks += literal_blocks(form.title)
    blocks += _card(card)
    blocks += literal_blocks(form.note)
    if choice.falls_back:
        usual = translations.gettext("Closed without an answer, it counts at once.")
        blocks.append(context(plain_text(form.if_closed or usual)))
    for field in form.fields:
        blocks += input_blocks(field, translations)
    return blocks


def form_problem(form: Form, translations: NullTranslations = ENGLISH) -> str:
    """Return the reason that no dialog can ask for the form; empty when one can."""
    try:
        fields = [block for field in form.fields for block in input_blocks(field, translations)]
    except DeliveryError as error:
        return error.reason
    blocks = [*literal_blocks(form.title), *literal_blocks(form.note), *fields]
    if len(blocks) + _BLOCKS_OF_CARD > MOST_BLOCKS:
        return format_count(
            translations,
            "a Slack dialog has {count} block, and it needs more",
            "a Slack dialog has {count} blocks, and it needs more",
            MOST_BLOCKS,
        )
    if len(json.dumps(blocks)) + _BYTES_OF_CARD > VIEW_BYTES:
        return format_count(
            translations,
            "a Slack dialog has {count} byte, and it needs more",
            "a Slack dialog has {count} bytes, and it needs more",
            VIEW_BYTES,
        )
    return ""


def _card(card: Card) -> Iterator[Block]:
    """Which card it is for: on a message with several, also how what is decided on begins."""
    which, asker = one_line(card.which, _WHICH), one_line(card.asker, _ASKER)
    if card.count == 1:
        yield context(
            plain_text(
                card.translations.gettext("{asker} asks: {title}").format(asker=asker, title=which)
            )
        )
        return
    first = [preformatted(one_line(begins(card), _WHICH))] if begins(card) else []
    yield rich_text(section(literal(which, bold=True)), *first)
    asked_by = card.translations.gettext("Asked by")
    yield context(plain_text(f"{asked_by} {asker}"))


def _metadata(
    card: Card, choice: Choice, message: MessageRef, translations: NullTranslations
) -> str:
    """Name the card of the dialog. Nothing in it is secret, and nobody is believed for it."""
    place = message.place
    text = json.dumps(
        {
            "handle": card.handle,
            "choice": choice.key,
            "channel": place.address,
            "message": message.message_id,
            **({FALLS_BACK: choice.falls_back} if choice.falls_back else {}),
            **({"thread": place.thread} if place.thread else {}),
            **(
                {LANGUAGE: locale_of(card.translations)}
                if locale_of(card.translations) != locale_of(ENGLISH)
                else {}
            ),
        }
    )
    if len(text) > _METADATA:
        raise DeliveryError(
            PLATFORM,
            translations.gettext("the card's handle is too long for a dialog"),
            permanent=True,
        )
    return text


_PROBLEM = 500
_OVER = (Answered.FORBIDDEN, Answered.LATE, Answered.REFUSED, Answered.UNKNOWN)


def build_form_reply(
    payload: Payload, answer: Answer, translations: NullTranslations = ENGLISH
) -> Payload | None:
    """Build the response action for the dialog; None closes it.

    docs.slack.dev, modals: ``errors`` are shown beside its inputs, ``update`` replaces it.
    """
    view = as_object(payload.get("view"))
    if answer.kind is Answered.INVALID and (errors := _find_errors(view, answer, translations)):
        return {"response_action": "errors", "errors": errors}
    if answer.kind in _OVER or answer.kind is Answered.INVALID:
        return {"response_action": "update", "view": _build_refusal(view, answer, translations)}
    return None


def _find_errors(view: Payload, answer: Answer, translations: NullTranslations) -> dict[str, str]:
    """Each problem at its field; what belongs to none of them at the first one."""
    known = [block_id for block_id in _labels(view) if block_id.startswith(INPUT)]
    if not known:
        return {}
    problems: dict[str, list[str]] = {}
    for name, problem in (answer.problems or {"": answer.text}).items():
        block_id = f"{INPUT}{encode_id(name)}"
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


def _build_refusal(view: Payload, answer: Answer, translations: NullTranslations) -> Block:
    """A view that says why nothing was taken, and keeps what was entered to be copied."""
    blocks = [
        *literal_blocks(answer.text or translations.gettext("This was not taken.")),
        *_list_entries(view, translations),
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


def _list_entries(view: Payload, translations: NullTranslations) -> Iterator[Block]:
    labels = _labels(view)
    entered = [
        (labels.get(block_id, translations.gettext("Answer")), text)
        for block_id, state in read_states(view).items()
        if (text := _read_entry(state))
    ]
    if entered:
        yield rich_text(section(literal(translations.gettext("What you entered"), bold=True)))
    for label, text in entered:
        quotes = [quote(literal(chunk)) for chunk in chunks(visible(text))]
        yield rich_text(section(literal(one_line(label, 100), bold=True)), *quotes)


def _read_entry(state: Payload) -> str:
    """Return the text that a person sees in an input."""
    for name in ("value", "selected_date"):
        if text := as_text(state.get(name)):
            return text
    if type(at := state.get("selected_date_time")) is int:
        return format_moment(at)
    options = [state.get("selected_option"), *(state.get("selected_options") or [])]
    return ", ".join(filter(None, (decode_echo(as_text(_text(option))) for option in options)))


def _labels(view: Payload) -> dict[str, str]:
    """The labels of the view's inputs by block_id, in order."""
    blocks = view.get("blocks")
    return {
        as_text(block.get("block_id")): decode_echo(
            as_text(as_object(block.get("label")).get("text"))
        )
        for block in (blocks if isinstance(blocks, list) else [])
        if isinstance(block, dict) and block.get("type") == "input"
    }


def _text(option: Any) -> Any:
    return as_object(as_object(option).get("text")).get("text")
