"""The line that calls people, on a message with cards: the only mentions in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sayso.cards.called import Called
from sayso.cards.card import Card
from sayso_telegram.card.formatted import Formatted, Look, Part, fitted, plain_extra, sound, units
from sayso_telegram.card.pieces import MOST_UNITS

_NAME_UNITS = 24
# Telegram takes 100 entities in a message; cards keep to fewer than 95.
_MOST = 5


def with_call(text: Formatted, cards: Sequence[Card]) -> Formatted:
    """The message with a last line that calls people, as many as there is room for."""
    people = list({one.actor: one for card in cards for one in card.call.people}.values())
    lead = next((card.call.lead for card in cards if card.call.people), "")
    line = [Part(f"\n👋 {lead}"), *mentions(people)] if people else []
    # Cards of one message went one way: what is said of the first is said of all.
    if note := next((card.call.note for card in cards if card.call.note), ""):
        line.append(Part(f"\n🌙 {note}"))
    if not line:
        return text
    room = MOST_UNITS - units(text.text) - plain_extra(text.parts, text.from_agent)
    kept: list[Part] = []
    for part in line:
        room -= units(part.text)
        if room < 0:
            break
        kept.append(part)
    if people and all(part.look is not Look.MENTION for part in kept):
        return text
    return replace(text, parts=(*text.parts, *kept))


def mentions(people: Sequence[Called]) -> Iterator[Part]:
    """Each of them, with a space before: by the account's number, under our name for it."""
    for one in people[:_MOST]:
        account = one.actor.partition(":")[2]
        if account.isascii() and account.isdecimal():
            yield Part(" ")
            name = fitted(sound(one.name or account), _NAME_UNITS)
            yield Part(name, Look.MENTION, int(account))
