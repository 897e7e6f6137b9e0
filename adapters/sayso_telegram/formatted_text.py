"""Text with entities, made of pieces that are cut by their rank, in UTF-16 code units."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from gettext import NullTranslations
from typing import NamedTuple

from telegram import MessageEntity, User
from telegram.constants import MessageEntityType

from sayso.formats import formats_of
from sayso.locales import ENGLISH
from sayso.text.visible import Ranked, cut_by_rank, on_one_line, parts_of
from sayso.values import Kind, Value

# What makes text live outside of code: mentions, tags, commands, links. Each
# is replaced by its full-width twin, so that the length stays the same.
_HARMLESS = str.maketrans("@#$/.:", "＠＃＄／．：")
_BELOW = "\n\n{}\n"
# core.telegram.org/bots/api, date-time entity formatting: relative to the reader's own time.
_MOMENT = "r"


class Look(Enum):
    """The look of a part. Words of an agent are always CODE or BLOCK."""

    PLAIN = ""
    BOLD = MessageEntityType.BOLD.value
    CODE = MessageEntityType.CODE.value
    BLOCK = MessageEntityType.PRE.value
    MENTION = MessageEntityType.TEXT_MENTION.value
    MOMENT = MessageEntityType.DATE_TIME.value


class Part(NamedTuple):
    """A piece of a message, all of it with one look.

    ``user_id`` is whom a mention notifies, ``language`` what a block is written in, ``at``
    the moment that readers see in their own time. ``is_value`` says that it is of what is
    decided on: without looks it stands at the end, where all is the agent's.
    """

    text: str
    look: Look = Look.PLAIN
    user_id: int = 0
    language: str = ""
    at: datetime | None = None
    is_value: bool = False

    @property
    def stands_below(self) -> bool:
        """True for a part that stands at the end where nothing has a look."""
        return self.is_value or self.look is Look.BLOCK


@dataclass(frozen=True, slots=True)
class Formatted:
    """A message as Telegram takes it: text beside entities, nothing to escape.

    ``from_agent`` says whose the long texts are where they stand at its end.
    """

    parts: tuple[Part, ...]
    from_agent: str = ENGLISH.gettext("Written by the agent, from here to the end:")

    @property
    def text(self) -> str:
        """The words that people read."""
        return "".join(part.text for part in self.parts)

    @property
    def entities(self) -> Sequence[MessageEntity]:
        """The looks, by offset and length in UTF-16 code units."""
        found: list[MessageEntity] = []
        offset = 0
        for part in self.parts:
            length = count_units(part.text)
            if length and part.look is not Look.PLAIN:
                found.append(_entity(part, offset, length))
            offset += length
        return found

    @property
    def without_entities(self) -> str:
        """The same words for when Telegram refuses the entities.

        Nothing in it can be followed or notifies anybody, and the long texts
        stand at the end, below a line that says whose they are: they cannot
        pass for lines of the card.
        """
        lines = "".join(_harmless(part) for part in self.parts if not part.stands_below)
        below = [_harmless(part) for part in self.parts if part.stands_below]
        return lines + _BELOW.format(self.from_agent) + "".join(below) if below else lines


def _entity(part: Part, offset: int, length: int) -> MessageEntity:
    kind = part.look.value
    if part.look is Look.MENTION:
        # The id decides who is mentioned; the name is there because a User has one.
        user = User(part.user_id, part.text, is_bot=False)
        return MessageEntity(kind, offset, length, user=user)
    if part.look is Look.MOMENT:
        return MessageEntity(kind, offset, length, unix_time=part.at, date_time_format=_MOMENT)
    return MessageEntity(kind, offset, length, language=part.language or None)


def _harmless(part: Part) -> str:
    if part.is_value or part.look in (Look.CODE, Look.BLOCK, Look.MENTION):
        return part.text.translate(_HARMLESS)
    return part.text


def count_plain_extra(parts: Sequence[Part], from_agent: str) -> int:
    """By how many code units the text without entities is longer than that with them."""
    return count_units(_BELOW.format(from_agent)) if any(part.stands_below for part in parts) else 0


def count_units(text: str) -> int:
    """The length of the text in UTF-16 code units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def replace_surrogates(text: str) -> str:
    """The text with a question mark for each half of a surrogate pair: JSON cannot carry it."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def truncate(text: str, most: int) -> str:
    """At most ``most`` UTF-16 code units of the text, whole characters; a cut ends in ``…``."""
    if count_units(text) <= most:
        return text
    kept = text.encode("utf-16-le")[: 2 * max(most - 1, 0)].decode("utf-16-le", "ignore")
    return kept + "…" if most > 0 else ""


# sendMessage, text: 1-4096 characters after entities parsing. Telegram does not
# say which characters; UTF-16 code units are the strictest reading.
MAX_UNITS = 4096
_LEAST_UNITS = 24
_LONGEST_LABEL = 24


class Piece(NamedTuple):
    """A part that gives way when the message is too long; those with the highest rank first.

    A piece of rank 0 is never cut.
    """

    part: Part
    rank: int = 0


def own(words: str, look: Look = Look.PLAIN) -> Piece:
    """Words of our own: never cut."""
    return Piece(Part(words, look))


def line(text: str, *, rank: int) -> Piece:
    """Anybody's words on one line: code, and therefore neither a mention, a link nor a tag."""
    return Piece(Part(replace_surrogates(on_one_line(text)), Look.CODE), rank)


def moment(at: datetime, translations: NullTranslations) -> Piece:
    """A moment that every reader sees in their own time; older apps show it as it is written."""
    return Piece(Part(formats_of(translations).time(at), Look.MOMENT, at=at))


def label(text: str, *, rank: int) -> Piece:
    """The name of a fact: plain if nothing in it can come alive, a line of code otherwise."""
    looks_plain = len(text) <= _LONGEST_LABEL and text.replace(" ", "").isalpha()
    return Piece(Part(replace_surrogates(text)), rank) if looks_plain else line(text, rank=rank)


def fill_template(template: str, look: Look = Look.PLAIN, /, **gaps: Piece) -> Iterator[Piece]:
    """Words of our own with these pieces in their gaps."""
    for words, gap in parts_of(template):
        if words:
            yield own(words, look)
        if gap:
            yield gaps[gap]


def fit_pieces(pieces: list[Piece], translations: NullTranslations) -> Formatted:
    """The pieces as one message, cut where they must be, each to a readable rest.

    Raises:
        ValueError: it is too long for Telegram even so.
    """
    parts = tuple([piece.part for piece in pieces])
    whole = sum([count_units(part.text) for part in parts])
    over = (
        whole
        + count_plain_extra(
            parts, translations.gettext("Written by the agent, from here to the end:")
        )
        - MAX_UNITS
    )
    if over <= 0:
        return Formatted(parts, translations.gettext("Written by the agent, from here to the end:"))
    ranked = [Ranked(piece.part.text, piece.rank) for piece in pieces]
    texts, over = cut_by_rank(ranked, over, least=_LEAST_UNITS, size=count_units, cut=truncate)
    if over:
        raise ValueError(f"the card is {over} UTF-16 code units too long for Telegram")
    cut = zip(parts, texts, strict=True)
    return Formatted(
        tuple([part._replace(text=text) for part, text in cut]),
        translations.gettext("Written by the agent, from here to the end:"),
    )


_LANGUAGES: dict[Kind, str] = {
    "shell": "shell",
    "sql": "sql",
    "json": "json",
    "yaml": "yaml",
    "http": "http",
    "diff": "diff",
}


def value_pieces(values: Iterable[Value]) -> Iterator[Piece]:
    """The values in order, each on lines of its own, begun by a line break.

    Names are bold and texts are code or blocks: wherever a line is wrapped, none that
    begins with a text of an agent's looks like one that begins with a name.
    """
    for value in values:
        if value.name:
            yield _part(f"\n{value.name}", Look.BOLD)
        if value.note:
            yield _part(f" · {value.note}" if value.name else f"\n{value.note}")
        yield _part(" " if value.is_short else "\n")
        if value.is_short:
            yield _part(replace_surrogates(value.text), Look.CODE)
        else:
            language = _LANGUAGES.get(value.kind, value.language)
            yield Piece(
                Part(replace_surrogates(value.text), Look.BLOCK, language=language, is_value=True)
            )


def _part(text: str, look: Look = Look.PLAIN) -> Piece:
    return Piece(Part(text, look, is_value=True))
