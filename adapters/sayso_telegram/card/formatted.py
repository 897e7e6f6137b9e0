"""Text with entities, counted as Telegram counts: in UTF-16 code units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from telegram import MessageEntity, User

from sayso.cards.words import ENGLISH

# What makes text live outside of code: mentions, tags, commands, links. Each
# is replaced by its full-width twin, so that the length stays the same.
_HARMLESS = str.maketrans("@#$/.:", "＠＃＄／．：")
_BELOW = "\n\n{}\n"
_BETWEEN = "\n\n"


class Look(Enum):
    """How a part looks. What came from an agent is always CODE or BLOCK."""

    PLAIN = ""
    BOLD = MessageEntity.BOLD
    CODE = MessageEntity.CODE
    BLOCK = MessageEntity.PRE
    MENTION = MessageEntity.TEXT_MENTION


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a message, all of it with one look; ``user_id`` is whom a mention notifies."""

    text: str
    look: Look = Look.PLAIN
    user_id: int = 0


@dataclass(frozen=True, slots=True)
class Formatted:
    """A message as Telegram takes it: text beside entities, nothing to escape.

    ``from_agent`` says whose the long texts are where they stand at its end.
    """

    parts: tuple[Part, ...]
    from_agent: str = ENGLISH.from_agent

    @property
    def text(self) -> str:
        """What people read."""
        return "".join(part.text for part in self.parts)

    @property
    def entities(self) -> Sequence[MessageEntity]:
        """The looks, by offset and length in UTF-16 code units."""
        found = []
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
        lines = "".join(_harmless(part) for part in self.parts if part.look is not Look.BLOCK)
        blocks = [_harmless(part) for part in self.parts if part.look is Look.BLOCK]
        return lines + _BELOW.format(self.from_agent) + _BETWEEN.join(blocks) if blocks else lines


def _entity(part: Part, offset: int, length: int) -> MessageEntity:
    if part.look is not Look.MENTION:
        return MessageEntity(part.look.value, offset, length)
    # The id decides who is mentioned; the name is there because a User has one.
    user = User(part.user_id, part.text, is_bot=False)
    return MessageEntity(part.look.value, offset, length, user=user)


def _harmless(part: Part) -> str:
    if part.look in (Look.CODE, Look.BLOCK, Look.MENTION):
        return part.text.translate(_HARMLESS)
    return part.text


def plain_extra(parts: Sequence[Part], from_agent: str) -> int:
    """By how many code units the text without entities is longer than that with them."""
    blocks = sum(part.look is Look.BLOCK for part in parts)
    return units(_BELOW.format(from_agent)) + (blocks - 1) * len(_BETWEEN) if blocks else 0


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
