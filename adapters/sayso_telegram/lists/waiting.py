"""Questions that wait, in a line each, with links to their cards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from gettext import NullTranslations

from sayso.cards.called import Called
from sayso.cards.gist import AGENT, FIRST, TOOL, agent_name, tool_name
from sayso.chats.caller import Waiting
from sayso.formats import formats_of
from sayso.text.visible import format_count
from sayso_telegram.card.called import mentions
from sayso_telegram.card.formatted import Formatted, Look, Part, fitted, sound

# 20 lines of these, a heading and links of 60 characters each stay below 4,096 code units.
_ABOUT = 34
MOST = 20


def told(
    heading: str,
    waiting: Sequence[Waiting],
    translations: NullTranslations,
    called: Sequence[Called] = (),
    more: int = 0,
) -> Formatted:
    """That these wait: what an agent wrote is code, and only the called are mentioned."""
    parts = [Part(heading, Look.BOLD), *mentions(called)]
    for one in waiting[:MOST]:
        parts += _line(one, translations)
    if left := more + len(waiting[MOST:]):
        more_waiting = format_count(
            translations, "{count} more question waits", "{count} more questions wait", left
        )
        parts.append(Part(f"\n{more_waiting}"))
    return Formatted(tuple(parts))


def calling(
    icon: str,
    heading: str,
    waiting: Sequence[Waiting],
    translations: NullTranslations,
    called: Sequence[Called] = (),
) -> Formatted:
    """The same for somebody who is called: what waits comes first, on a lock screen as well."""
    first, *others = waiting[:MOST]
    said = tuple(_line(first, translations, f"{icon} ", fitted(sound(first.matters), FIRST)))
    rest = tuple(part for one in others for part in _line(one, translations))
    lead = Part(f"\n{heading}", Look.BOLD)
    return Formatted((*said, *rest, lead, *mentions(called)))


def _line(
    one: Waiting, translations: NullTranslations, begins: str = "\n• ", matters: str = ""
) -> Iterator[Part]:
    yield Part(begins)
    yield Part(fitted(sound(agent_name(one.asker)), AGENT), Look.CODE)
    yield Part(" · ")
    yield Part(fitted(sound(tool_name(one.title)), TOOL), Look.CODE)
    if about := matters or fitted(sound(one.matters), _ABOUT):
        yield Part(" ")
        yield Part(about, Look.CODE)
    expires = translations.gettext("expires")
    yield Part(f" · {expires} ")
    yield Part(formats_of(translations).time(one.expires_at), Look.MOMENT, at=one.expires_at)
    if one.link:
        yield Part(f"\n{one.link}")
