"""What a card is about in few words: on a lock screen, once it has ended, beside its form."""

from __future__ import annotations

from sayso.cards.bundle import Bundle
from sayso.cards.card import Card, CardBody
from sayso.text.visible import format_count, on_one_line, one_line, shortened

FIRST = 110
"""So many characters of a message are on a lock screen."""

AGENT, TOOL = 20, 34
"""So many of them are the agent's name and the tool's at most: the rest is what matters."""

SEPARATOR = " · "
"""What stands between the parts of what matters."""

NAMED = ": "
"""What stands between the name of an argument and its value, in one of these parts."""

_LONGEST = 80
_CUT = "…"


def alert(asker: str, tool: str, matters: str, most: int = FIRST) -> str:
    """Who asks, for which tool, and what matters about it, in at most so many characters.

    However long the names are, neither takes the room of the others.
    """
    named = f"{agent_name(asker)} · {tool_name(tool)}"
    return shortened(f"{named}: {matters}" if matters else named, most)


def alert_of(card: Card, most: int = FIRST) -> str:
    """What a lock screen shows of a card."""
    return alert(card.asker, card.body.tool or card.body.title, gist(card.body), most)


def bundle_alert(bundle: Bundle, most: int = FIRST) -> str:
    """What a lock screen shows of several: what matters about the gravest, and how many there are.

    Those that wait come first, and of those what has a danger.
    """
    card = gravest(bundle)
    others = len(bundle.waiting or bundle.cards) - 1
    and_others = format_count(
        bundle.translations, "(and {count} more)", "(and {count} more)", others
    )
    rest = f" {and_others}" if others else ""
    return f"{alert_of(card, most - len(rest))}{rest}"


def gravest(bundle: Bundle) -> Card:
    """The card that is told of where there is room for one: waiting, with dangers, the first."""
    waiting = bundle.waiting or bundle.cards
    return max(waiting, key=lambda card: bool(card.body.dangers))


def agent_name(asker: str) -> str:
    """Who asks, as far as there is room on a lock screen."""
    return one_line(asker, AGENT)


def tool_name(tool: str) -> str:
    """The tool, its beginning and its end: where it is cut, that is in the middle."""
    shown = one_line(tool, len(tool) + AGENT)
    if len(shown) <= TOOL:
        return shown
    end = TOOL * 2 // 3
    return f"{shown[: TOOL - end - 1]}{_CUT}{shown[-end:]}"


def gist(body: CardBody) -> str:
    """What matters about it, on one line; of what is no call, the beginning of the thing itself."""
    if body.matters:
        return on_one_line(body.matters)
    text = next((value.text for value in body.values), "")
    return shortened(on_one_line(text.lstrip().partition("\n")[0]), _LONGEST)


def begins(card: Card) -> str:
    """The first line of the content where several cards are on the message, else nothing."""
    return gist(card.body) if card.count > 1 else ""
