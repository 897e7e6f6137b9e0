"""Questions that wait, in a line each, with links to their cards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from gettext import NullTranslations
from typing import Any

from sayso.cards.called import Called
from sayso.cards.gist import alert
from sayso.chats.caller import Waiting
from sayso.text.visible import one_line
from sayso_slack.card.blocks import UNPARSED
from sayso_slack.card.called import mentions
from sayso_slack.card.elements import (
    Block,
    code,
    literal,
    moment,
    rich_text,
    section,
)
from sayso_slack.card.fallback import escaped

_TITLE, _ASKER, _LINK = 80, 80, 1_000
_TEXT = 1_000


def told(
    heading: str,
    waiting: Sequence[Waiting],
    called: Sequence[Called],
    translations: NullTranslations,
) -> dict[str, Any]:
    """What chat.postMessage is told to say that these wait; only the called are mentioned."""
    lead = section(literal(f"{heading}", bold=True), *mentions(called))
    blocks = [rich_text(lead, *lines(waiting, translations))]
    return {"text": escaped(_in_words(heading, waiting), _TEXT), "blocks": blocks, **UNPARSED}


def _in_words(heading: str, waiting: Sequence[Waiting]) -> str:
    """What a lock screen shows: the questions, and then that they wait."""
    said = [alert(one.asker, one.title, one.matters) for one in waiting]
    return "\n".join((*said, heading))


def lines(waiting: Sequence[Waiting], translations: NullTranslations) -> Iterator[Block]:
    """A line for each: what an agent wrote is literal, and set apart by a bar."""
    for one in waiting:
        yield {"type": "rich_text_quote", "elements": list(_line(one, translations))}


def _line(one: Waiting, translations: NullTranslations) -> Iterator[Block]:
    yield literal(one_line(one.title, _TITLE), bold=True)
    if one.matters:
        yield literal(" ")
        yield code(one_line(one.matters, _TITLE))
    asked_by, expires = translations.gettext("asked by"), translations.gettext("expires")
    yield literal(f" · {asked_by} {one_line(one.asker, _ASKER)} · {expires} ")
    yield moment(one.expires_at, translations)
    if one.link and len(one.link) <= _LINK:
        yield literal(" · ")
        yield {"type": "link", "url": one.link, "text": translations.gettext("Open the card")}
