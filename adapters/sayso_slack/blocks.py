"""A card as a Slack message: blocks, and a text for notifications and screen readers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from gettext import NullTranslations
from typing import Any

from sayso.cards.buttons import Button, button_data
from sayso.cards.card import MORE, Card, Choice, Ended
from sayso.cards.gist import gist
from sayso.cards.outcomes import outcome_text
from sayso.cards.plain_text import OUTCOME_ICONS
from sayso.cards.truncation import cut_notice
from sayso.text.visible import format_count, one_line, parts_of, shortened, visible
from sayso_slack.fallback_text import fallback_text
from sayso_slack.limits import (
    confirmed_label,
    fit_card,
    fits_dialog,
    stored_question,
    stored_words,
)
from sayso_slack.value_blocks import (
    Block,
    button_label,
    code,
    context,
    literal,
    local_time,
    moment,
    own_markup,
    plain_text,
    quote,
    rich_text,
    section,
    value_parts,
)

_SLACK_ACTOR = re.compile(r"slack:([UW][A-Z0-9]{1,20})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Spans:
    """Most characters for each part of an ending."""

    who: int = 120
    name: int = 60
    reason: int = 300
    stored: int = 300
    note: int = 150


def confirming(card: Card) -> Choice | None:
    """The choice at its second step, as far as a message can show what it stores."""
    if isinstance(card.state, Ended) or card.state.confirming is None:
        return None
    known = card.choice(card.state.confirming.key)
    return known and replace(known, warning=card.state.confirming.warning)


def danger_line(danger: str) -> Block:
    """Build the warning right above the buttons."""
    return section(literal(f"⚠️ {danger}", bold=True))


def second_step(choice: Choice, translations: NullTranslations, *, most: int) -> Block:
    """Build the question that comes before something is stored."""
    asked = translations.gettext("Really? This would be remembered:")
    return section(
        literal(f"⚠️ {asked} ", bold=True), literal(shortened(stored_words(choice), most))
    )


def outcome(ended: Ended, translations: NullTranslations, spans: Spans) -> Block:
    """Build the outcome: by whom, why, and the rule that was stored."""
    word = one_line(outcome_text(translations, ended.outcome), 30)
    icon = OUTCOME_ICONS.get(ended.outcome, "•")
    how = [literal(f"{icon} {word[:1].upper()}{word[1:]}", bold=True)]
    pieces = [*(_by(translations, how, _person(ended, spans)) if ended.by else how)]
    if ended.went:
        pieces.append(literal(f" · {ended.went}"))
    if ended.note:
        # Whoever ran the call says so: set as what agents say is.
        pieces += [literal(" "), code(one_line(ended.note, spans.note))]
    for label, text, most in (
        (translations.gettext("Reason"), ended.reason, spans.reason),
        (translations.gettext("Remembered"), ended.stored, spans.stored),
    ):
        if text:
            pieces += [literal(f"\n{label} ", bold=True), literal(one_line(text, most))]
    if ended.stored and ended.until is not None:
        until = translations.gettext("until")
        pieces += [literal(f", {until} "), moment(ended.until, translations)]
    return section(*pieces)


def _by(translations: NullTranslations, how: list[Block], who: list[Block]) -> Iterator[Block]:
    gaps = {"outcome": how, "who": who}
    for text, gap in parts_of(translations.gettext("{outcome} by {who}")):
        if text:
            yield literal(text)
        yield from gaps.get(gap, ())


def _person(ended: Ended, spans: Spans) -> list[Block]:
    """Name the person who ended it; mentioning a user in an edited message notifies nobody."""
    if match := _SLACK_ACTOR.fullmatch(ended.by):
        name = [literal(one_line(ended.by_name, spans.name) + " ")] if ended.by_name else []
        return [*name, {"type": "user", "user_id": match[1]}]
    return [literal(one_line(ended.who, spans.who))]


ACTION_PREFIX = "sayso:"

# docs.slack.dev, chat.postMessage and chat.update: their defaults parse, link and unfurl, and
# those of chat.update are not the ones the message was posted with.
UNPARSED = {
    "mrkdwn": False,
    "parse": "none",
    "link_names": False,
    "unfurl_links": False,
    "unfurl_media": False,
}
_LINE = 300
_CONFIRM = 30

Facts = tuple[tuple[str, str], ...]

ROOM = 3_000
"""Characters of all answers together. A card that is done has no buttons: theirs are free."""

SHORT_ROOM = 1_000
"""The same on a card that says no more than what came of it."""

_MOST_TOLD, _FEW_TOLD = 20, 8
_TOOL, _ABOUT = 60, 120
_LABEL = 60
_NOTE = 60
_ON_ONE_LINE = 200
_SECOND_STEP = 2_000  # more than anything that is stored takes


def card_message(card: Card) -> dict[str, Any]:
    """Build the arguments of chat.postMessage and chat.update that show the card.

    Whatever the card holds, Slack takes it: at most 10,000 characters in all
    blocks, each within its own limit. There is always a rich text block,
    because Slack refuses to replace one by a message without (block_mismatch).
    """
    shown = fit_card(card)
    left_out = _count(card) - _count(shown)
    return {"text": fallback_text(shown), "blocks": _blocks(shown, left_out), **UNPARSED}


def answer_parts(
    facts: Facts, translations: NullTranslations, is_short: bool = False
) -> Iterator[Block]:
    """The parts of a rich text that show each answer with its label.

    They are set apart by a bar, so that no line of an answer and no label looks
    like one of the card. What is cut says of how many characters.
    """
    most = _FEW_TOLD if is_short else _MOST_TOLD
    shown = facts if len(facts) <= most else facts[: most - 1]
    left = (SHORT_ROOM if is_short else ROOM) - (_LABEL + _NOTE) * len(shown)
    # The short ones first: what they leave over is for the long ones. One that takes no more
    # room than the note on what is cut is never cut.
    rooms: dict[int, int] = {}
    by_length = sorted(range(len(shown)), key=lambda number: len(visible(shown[number][1])))
    for done, number in enumerate(by_length):
        beyond = max(len(visible(shown[number][1])) - _NOTE, 0)
        taken = min(left // (len(shown) - done), beyond)
        rooms[number] = taken if taken < beyond else _NOTE + beyond
        left -= taken
    for number, (label, text) in enumerate(shown):
        yield _answer_part(one_line(label, _LABEL), visible(text), rooms[number], translations)
    if len(facts) > len(shown):
        yield count_hidden_answers(len(facts) - len(shown), translations)


def count_hidden_answers(count: int, translations: NullTranslations) -> Block:
    """Say how many answers are not shown."""
    text = format_count(
        translations,
        "{count} more answer is not shown here.",
        "{count} more answers are not shown here.",
        count,
    )
    return section(literal(text))


def _answer_part(label: str, text: str, room: int, translations: NullTranslations) -> Block:
    cut_answer = format_count(
        translations,
        "(cut, {count} character in all)",
        "(cut, {count} characters in all)",
        len(text),
    )
    note = f" {cut_answer}" if len(text) > room else ""
    shown = shortened(text, room) or "–"
    space = "\n" if "\n" in shown or len(shown) > _ON_ONE_LINE else " "
    return quote(literal(f"{label}{note}{space}", bold=True), literal(shown))


def _blocks(card: Card, left_out: int) -> list[Block]:
    if isinstance(card.state, Ended):
        return list(_ended(card, card.state))
    heading = card.body.question or card.body.title
    blocks: list[Block] = [{"type": "header", "text": plain_text(heading)}]
    blocks.append(rich_text(*_what_is_asked(card)))
    if notice := _notice(card, left_out):
        blocks.append(context(plain_text(notice)))
    expires = card.translations.gettext("Expires")
    blocks.append(context(own_markup(f"{expires} {_local(card.expires_at, card)}")))
    if danger := card.danger():
        blocks.append(rich_text(danger_line(danger)))
    if (choice := confirming(card)) is not None:
        asked = second_step(choice, card.translations, most=_SECOND_STEP)
        blocks += [rich_text(asked), _second_step(card, choice)]
    elif elements := list(_elements(card)):
        blocks.append(build_actions(card, name_step(card), elements))
    return blocks


def _ended(card: Card, ended: Ended) -> Iterator[Block]:
    """Build an ended card: the outcome and the call in a few lines, the rest on demand."""
    said = [
        outcome(ended, card.translations, Spans()),
        *answer_parts(ended.facts, card.translations, card.is_short),
    ]
    if card.is_short:
        yield rich_text(*said, section(*what_it_was(card)))
    else:
        yield rich_text(*said)
        yield rich_text(*_what_is_asked(card))
        if notice := cut_notice(card):
            yield context(plain_text(notice))
    ended_text = card.translations.gettext("Ended")
    yield context(own_markup(f"{ended_text} {_local(ended.at, card)}"))
    if elements := list(_elements(card)):
        yield build_actions(card, name_step(card), elements)


def what_it_was(card: Card, *, with_asker: bool = True) -> Iterator[Block]:
    """Build the line of an ended card: the asker, the tool, and the part that matters."""
    if with_asker:
        yield code(card.asker or "–")
        yield literal(" · ")
    yield code(one_line(card.body.tool or card.body.title, _TOOL))
    if about := gist(card.body):
        yield literal(" ")
        yield code(one_line(about, _ABOUT))


def _count(card: Card) -> int:
    return len(card.body.choices) + len(card.body.more)


def _what_is_asked(card: Card) -> Iterator[Block]:
    """Build the call and its asker, then the agent's description, then the facts."""
    yield section(*who_asks(card))
    yield from value_parts(card.on_screen.values)
    if card.description:
        yield section(literal(card.described, bold=True))
        yield quote(literal(card.description))
    if card.facts:
        yield section(*fact_lines(card.facts))


def who_asks(card: Card) -> Iterator[Block]:
    """The tool's name as it is, where words of ours stand above it, and who asks."""
    if card.body.question:
        yield code(card.body.title)
        yield literal(" · ")
    yield code(card.asker or "–")


def fact_lines(facts: Iterable[tuple[str, str]]) -> Iterator[Block]:
    """A line for each fact. What it says may be anybody's words: it looks like none of ours."""
    for number, (label, value) in enumerate(facts):
        yield literal(f"{chr(10) if number else ''}{label} ", bold=True)
        yield code(value)


def _notice(card: Card, left_out: int) -> str:
    said = cut_notice(card)
    notices = [said] if said else []
    if left_out:
        notices.append(
            format_count(
                card.translations,
                "{count} more choice does not fit into this message.",
                "{count} more choices do not fit into this message.",
                left_out,
            )
        )
    if not isinstance(card.state, Ended) and card.state.notice:
        notices.insert(0, f"✍️ {one_line(card.state.notice, _LINE)}")
    return " ".join(notices)


def _local(at: datetime, card: Card) -> str:
    return local_time(at, card.translations)


def _elements(card: Card) -> Iterator[Block]:
    """The buttons; one of them leads a level down, to the others and to the details."""
    if not isinstance(card.state, Ended) and card.state.more:
        yield from below(card, card.more)
        yield button(card, card.step_back, card.translations.gettext("Back"))
        return
    for choice in card.choices:
        if choice.longer:
            # For how long is asked on the card: its press decides nothing yet.
            yield from below(card, [choice], "0")
        else:
            yield button(card, choice, button_label(choice))
    if card.leads_on:
        yield button(card, card.show_more, card.translations.gettext("More…"))


def name_step(card: Card) -> str:
    """docs.slack.dev, block kit: a fresh block_id whenever a message is updated."""
    if isinstance(card.state, Ended):
        return ":details" if card.state.details else ":ended"
    return (":seen" if card.revealed else "") + (":more" if card.state.more else "")


def _second_step(card: Card, choice: Choice) -> Block:
    """Build the second step on the card itself, where a dialog has no room for it."""
    back = button(card, card.step_back, card.translations.gettext("Back"))
    elements = [*sure_buttons(card, choice), back]
    return build_actions(card, f":sure:{choice.key}", elements)


def build_actions(card: Card, iteration: str, elements: list[Block]) -> Block:
    """Build the row of buttons of a card."""
    block_id = f"{ACTION_PREFIX}{card.handle}{iteration}"
    return {"type": "actions", "block_id": block_id, "elements": elements}


def below(card: Card, choices: Iterable[Choice], number: str = "") -> Iterator[Block]:
    """Buttons a level down. None of them asks in a dialog: for all of those a message has no room.

    They say so themselves: what one stores is asked on the card, before it counts.
    """
    for place, choice in enumerate(choices, 1):
        element = button(card, choice, button_label(choice), asks=False)
        yield {
            **element,
            "action_id": f"{ACTION_PREFIX}{MORE.key}-{number}{place}",
            "value": button_data(Button(card.handle, choice.key)),
        }


def button(card: Card, choice: Choice, label: str, *, asks: bool = True) -> Block:
    """docs.slack.dev, button element: text 75, action_id 255, value 2,000 characters.

    A choice that stores something is confirmed in a dialog, or in a second step
    that says it where the dialog has no room.
    """
    element: Block = {
        "type": "button",
        "action_id": f"{ACTION_PREFIX}{choice.key}",
        "value": card.handle,
        "text": plain_text(label),
    }
    if choice.style in ("primary", "danger"):
        element["style"] = choice.style
    if asks and choice.stores and fits_dialog(choice, card.translations):
        element["confirm"] = _confirmation(choice, card.translations)
    return element


def sure_buttons(card: Card, choice: Choice) -> Iterator[Block]:
    """The buttons of a second step that store something, each for as long as it says."""
    yield button(card, choice, confirmed_label(choice, card.translations))
    for one in choice.longer:
        # What it stores is said above, and not again in a dialog.
        yield button(card, replace(one, stores=""), confirmed_label(one, card.translations))


def _confirmation(choice: Choice, translations: NullTranslations) -> Block:
    """docs.slack.dev, confirmation dialog: title 100, text 300, confirm and deny 30."""
    label = button_label(choice)
    return {
        "title": plain_text(f"{label}?"),
        "text": plain_text(stored_question(choice, translations)),
        "confirm": plain_text(label if len(label) <= _CONFIRM else translations.gettext("Yes")),
        "deny": plain_text(translations.gettext("Not now")),
    }
