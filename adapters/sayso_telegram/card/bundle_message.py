"""Several cards as one Telegram message: a numbered line for each, whatever it holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from gettext import NullTranslations

from sayso.cards.bundle import MOST_IN_BUNDLE, Bundle
from sayso.cards.card import DESCRIPTION_LIMIT, Card, CardBody, Ended, Open
from sayso.cards.gist import agent_name, gravest, tool_name
from sayso.cards.truncation import Room
from sayso.text.visible import format_count, on_one_line, visible
from sayso_telegram.card.bundle_keyboard import MOST_STORED_IN_BUNDLE
from sayso_telegram.card.formatted import Formatted, Look, Part, fitted, sound, units
from sayso_telegram.card.keyboard import confirmed_choice
from sayso_telegram.card.message import CONTENT_LIMIT, LINES
from sayso_telegram.card.parts import ending, reasons, second_step, unsaid, what_it_was
from sayso_telegram.card.pieces import Piece, fitting, label, line, moment, own, spread
from sayso_telegram.card.values import value_pieces

# Of 4,096 code units, 50 are kept back by `fitting`; 860 are for what is said once, the second
# step of one line among it; each line takes 212 beside its content and its description. A line
# that is decided says more, and then its description gives way.
_FOR_LINES = 3_180
_BESIDE = 212
_TITLE = 64
_LEAST_LINES = 3
_COMMON_FACTS = 3
_OWN_FACTS = 2
_ANSWERS = 2
_DANGERS, _BESIDE_DANGERS = 2, 40
# Telegram takes 100 entities: these are at most 11 a line and 12 besides.


@dataclass(frozen=True, slots=True)
class Listing(Formatted):
    """A message whose long texts stay on their lines, even when Telegram refuses its entities."""

    @property
    def without_entities(self) -> str:
        """The same words in the same order, each text of an agent's on one line."""
        return "".join(_plain(part) for part in self.parts)


def _plain(part: Part) -> str:
    if part.look is Look.BLOCK:
        part = Part(part.text.replace("\n", "⏎"), Look.CODE)
    return Formatted((part._replace(is_value=False),)).without_entities


def bundle_room(body: CardBody, count: int) -> Room | None:
    """What a message with so many cards shows of this one; None: it must stand alone."""
    if count > MOST_IN_BUNDLE or units(sound(visible(body.title, one_line=True))) > _TITLE:
        return None
    left = _FOR_LINES // count - _BESIDE
    if body.dangers:
        left -= _BESIDE_DANGERS + sum(map(units, body.dangers[:_DANGERS]))
    content, description = (
        sound(body.content),
        sound(on_one_line(body.description)),
    )
    for_description = max(left - units(content), left // 3)
    said = min(_first(description, for_description), DESCRIPTION_LIMIT)
    left -= units(description[:said])
    room = min(_first(content, left), CONTENT_LIMIT)
    # All buttons stand below all lines: together they are one screen.
    return Room(room, said, MOST_STORED_IN_BUNDLE, lines=max(LINES // count, _LEAST_LINES))


def _first(text: str, most: int) -> int:
    """How many characters from the beginning of the text fit into so many code units."""
    if units(text) <= most:
        return len(text)
    return max(len(fitted(text, most)) - 1, 0)


def bundle_message(cards: Sequence[Card]) -> Formatted:
    """The cards as they are now, at most 4,096 UTF-16 code units long.

    What a person still decides on is never cut here, as on a single card.

    Raises:
        ValueError: the cards hold more than Telegram takes.
    """
    bundle = Bundle(tuple(cards))
    heading, lines = [*_heading(bundle)], list[Piece]()
    for number, card in enumerate(bundle.cards, 1):
        lines += _line(bundle, number, card)
    pieces = [*heading, *_alert(bundle, [*heading, *lines]), *lines]
    return Listing(fitting([*pieces, *_footing(bundle)], bundle.translations).parts)


def _heading(bundle: Bundle) -> Iterator[Piece]:
    yield own("🔔 " if bundle.waiting else "")
    if bundle.agent:
        yield line(agent_name(bundle.agent), rank=4)
        yield own(" · ")
    yield own(bundle.title, Look.BOLD)


def _alert(bundle: Bundle, pieces: Sequence[Piece]) -> Iterator[Piece]:
    """The gravest of those that wait, where the first lines do not tell of it."""
    card = gravest(bundle)
    if bundle.waiting and (first := unsaid(card, pieces)):
        number = bundle.cards.index(card) + 1
        yield own(f"\n{number}. ")
        yield line(tool_name(card.body.tool or card.body.title), rank=3)
        yield own(" ")
        yield line(first, rank=9)


def _common(bundle: Bundle) -> Iterator[Piece]:
    """Who asks, where the first line has no room for all of it, and the facts that hold for all."""
    if bundle.asker != agent_name(bundle.asker) and bundle.asker:
        asked_by = bundle.translations.gettext("Asked by")
        yield own(f"\n{asked_by} ")
        yield line(bundle.asker, rank=4)
    for name, value in bundle.facts[:_COMMON_FACTS]:
        yield from _fact(name, value, rank=50)
    yield from _more(len(bundle.facts) - _COMMON_FACTS, bundle.translations)


def _line(bundle: Bundle, number: int, card: Card) -> Iterator[Piece]:
    ended = card.state if isinstance(card.state, Ended) else None
    yield own("\n\n")
    yield own(f"{number}. ", Look.BOLD)
    if card.is_short:
        yield from what_it_was(card, with_asker=not bundle.asker)
    else:
        yield line(card.body.title, rank=3)
    if isinstance(card.state, Ended):
        yield from _outcome(card.state, card.translations)
    elif card.state.notice:
        yield own("\n✍️ ")
        yield line(card.state.notice, rank=7)
    yield from value_pieces(card.on_screen.values)
    if card.description:
        yield own(f"\n{card.described} ")
        yield line(card.description, rank=60 if ended else 1)
    if not card.is_short:
        facts = bundle.own_facts(card)
        is_open_wide = card.state.more if isinstance(card.state, Open) else card.state.details
        if is_open_wide:
            facts = (*facts[:_OWN_FACTS], *card.details)
        most = len(facts) if is_open_wide else _OWN_FACTS
        for name, value in facts[:most]:
            yield from _fact(name, value, rank=30)
        yield from _more(len(facts) - most, card.translations)
        if danger := card.danger(_DANGERS):
            yield own(f"\n⚠️ {danger}", Look.BOLD)
        if card.is_cut:
            yield own("\n")
            yield own(_cut(number, card), Look.BOLD)


def _fact(name: str, value: str, *, rank: int) -> Iterator[Piece]:
    """A fact with its label outside of what may be anybody's words."""
    yield own("\n")
    yield label(name, rank=rank)
    yield own(" ")
    yield line(value, rank=rank)


def _cut(number: int, card: Card) -> str:
    text = card.translations.gettext("Cut, and too long for this chat")
    if card.can_reveal:
        label = card.translations.gettext("Show all")
        text = card.translations.gettext("Cut: see {show_all}")
        text = text.format(show_all=f"{label} {number}")
    return f"✂️ {text}"


def _outcome(ended: Ended, translations: NullTranslations) -> Iterator[Piece]:
    yield own("\n")
    yield from ending(ended, translations)
    for said in reasons(ended, translations, stored_rank=5):
        yield own("\n")
        yield from said
    for name, value in ended.facts[:_ANSWERS]:
        yield own("\n")
        yield line(f"{name}: {value}", rank=10)
    yield from _more(len(ended.facts) - _ANSWERS, translations)


def _more(count: int, translations: NullTranslations) -> Iterator[Piece]:
    """How many facts there is no room for."""
    if count > 0:
        more_left = format_count(
            translations, "{count} more not shown", "{count} more not shown", count
        )
        yield own(f"\n{more_left}")


def _footing(bundle: Bundle) -> Iterator[Piece]:
    translations = bundle.translations
    if common := [*_common(bundle)]:
        yield own("\n")
        yield from common
    if bundle.notice:
        yield own(f"\n\n✂️ {bundle.notice}")
    if bundle.expires:
        first, last = bundle.expires
        expires = translations.gettext("Expires")
        yield own(f"\n\n{expires} ")
        if (last - first).total_seconds() >= 60:
            both = translations.gettext("{first}, the last one {last}")
            yield from spread(
                both, first=moment(first, translations), last=moment(last, translations)
            )
        else:
            yield moment(first, translations)
    for number, card in enumerate(bundle.cards, 1):
        if (choice := confirmed_choice(card, MOST_STORED_IN_BUNDLE)) is not None:
            really = card.translations.gettext(
                "Really? For {number} this would be remembered:"
            ).format(number=number)
            yield from second_step(choice, card.translations, really)
