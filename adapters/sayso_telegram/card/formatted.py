"""Text with entities, counted as Telegram counts: in UTF-16 code units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import NamedTuple

from telegram import MessageEntity, User
from telegram.constants import MessageEntityType

from sayso.locales import ENGLISH

# What makes text live outside of code: mentions, tags, commands, links. Each
# is replaced by its full-width twin, so that the length stays the same.
_HARMLESS = str.maketrans("@#$/.:", "＠＃＄／．：")
_BELOW = "\n\n{}\n"
# core.telegram.org/bots/api, date-time entity formatting: relative to the reader's own time.
_MOMENT = "r"


class Look(Enum):
    """How a part looks. What came from an agent is always CODE or BLOCK."""

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
        """Whether it stands at the end where nothing has a look."""
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
        """What people read."""
        return "".join(part.text for part in self.parts)

    @property
    def entities(self) -> Sequence[MessageEntity]:
        """The looks, by offset and length in UTF-16 code units."""
        found: list[MessageEntity] = []
        offset = 0
        for part in self.parts:
            length = units(part.text)
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


def plain_extra(parts: Sequence[Part], from_agent: str) -> int:
    """By how many code units the text without entities is longer than that with them."""
    return units(_BELOW.format(from_agent)) if any(part.stands_below for part in parts) else 0


def units(text: str) -> int:
    """The length of the text in UTF-16 code units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def sound(text: str) -> str:
    """The text with a question mark for each half of a surrogate pair: JSON cannot carry it."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def fitted(text: str, most: int) -> str:
    """At most ``most`` UTF-16 code units of the text, whole characters; a cut ends in ``…``."""
    if units(text) <= most:
        return text
    kept = text.encode("utf-16-le")[: 2 * max(most - 1, 0)].decode("utf-16-le", "ignore")
    return kept + "…" if most > 0 else ""
