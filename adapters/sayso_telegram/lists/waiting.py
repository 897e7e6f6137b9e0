"""Questions that wait, in a line each, with links to their cards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sayso.cards.called import Called
from sayso.chats.caller import Waiting
from sayso.text.visible import one_line
from sayso_telegram.card.called import mentions
from sayso_telegram.card.formatted import Formatted, Look, Part, sound
from sayso_telegram.words import TelegramWords

# 20 lines of these, a heading and links of 60 characters each stay below 4,096 code units.
_TITLE, _ASKER = 32, 24
MOST = 20


def told(
    heading: str,
    waiting: Sequence[Waiting],
    words: TelegramWords,
    called: Sequence[Called] = (),
    more: int = 0,
) -> Formatted:
    """That these wait: what an agent wrote is code, and only the called are mentioned."""
    parts = [Part(heading, Look.BOLD), *mentions(called)]
    for one in waiting[:MOST]:
        parts += _line(one, words)
    if left := more + len(waiting[MOST:]):
        parts.append(Part(f"\n{words.calls.more_waiting.of(left)}"))
    return Formatted(tuple(parts))


def _line(one: Waiting, words: TelegramWords) -> Iterator[Part]:
    yield Part("\n• ")
    yield Part(sound(one_line(one.title, _TITLE)), Look.CODE)
    yield Part(f" · {words.calls.asked_by} ")
    yield Part(sound(one_line(one.asker, _ASKER)), Look.CODE)
    yield Part(f" · {words.calls.expires} ")
    yield Part(words.dialogues.cards.formats.time(one.expires_at), Look.MOMENT, at=one.expires_at)
    if one.link:
        yield Part(f"\n{one.link}")
