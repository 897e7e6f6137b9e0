"""Calling people in Slack: who is away, reminders in threads, direct messages, links to cards."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from sayso.cards.called import Called
from sayso.chats.caller import Waiting
from sayso.chats.places import MessageRef, Place
from sayso.clock import Clock, utc_now
from sayso.errors import DeliveryError
from sayso.locales import load_translations
from sayso.tasks import together
from sayso.text.visible import format_count
from sayso_slack.adapter import SlackAdapter
from sayso_slack.app_home import reminder_message
from sayso_slack.callback_guard import Payload, as_object, as_text
from sayso_slack.errors import PLATFORM

_REMEMBER_SECONDS = 60.0
_MOST_REMEMBERED = 4_096
# docs.slack.dev, dnd.teamInfo: at most 50 users at once.
_MOST_ASKED = 50
# The statuses that Slack itself offers to whoever does not work. Presence is not looked at: a
# client that is idle is when a phone has to ring.
_AWAY = frozenset({":palm_tree:", ":face_with_thermometer:"})


@dataclass(frozen=True, slots=True)
class _Known:
    """An answer of Slack's, and the time until which it counts."""

    value: str
    until: float


class SlackCaller:
    """Calls people by mentions and direct messages.

    Whoever does not want to be disturbed, or has set the status for vacation or
    sickness, is away. Without the scope for one of these, that one is not looked at.
    """

    def __init__(
        self,
        adapter: SlackAdapter,
        *,
        clock: Clock = utc_now,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self._adapter = adapter
        self._clock = clock
        self._timer = timer
        self._away: dict[str, _Known] = {}
        self._groups: dict[str, _Known] = {}
        self._links: dict[MessageRef, str] = {}

    @property
    def platform(self) -> str:
        """``slack``."""
        return PLATFORM

    async def reachable(self, called: Sequence[Called]) -> Sequence[Called]:
        """Those who are not away, groups by their ids. Never raises: who is not known is there."""
        users = [one.actor.removeprefix(f"{PLATFORM}:") for one in called if not _is_group(one)]
        groups = [one for one in called if _is_group(one)]
        _, *found = await together([self._learn_away(users), *map(self._group, groups)])
        known = dict(zip((one.actor for one in groups), found, strict=True))
        there = (known.get(one.actor, self._if_present(one)) for one in called)
        return [one for one in there if one is not None]

    async def link(self, card: MessageRef) -> str:
        """The permalink of a message.

        Raises:
            DeliveryError: Slack did not say.
        """
        if (known := self._links.get(card)) is not None:
            return known
        where = {"channel": card.place.address, "message_ts": card.message_id}
        answer = await self._adapter.read("chat.getPermalink", where)
        link = as_text(answer.get("permalink"))
        if not link.startswith("https://"):
            return ""
        if len(self._links) >= _MOST_REMEMBERED:
            self._links.clear()
        self._links[card] = link
        return link

    async def remind(
        self, place: Place, waiting: Sequence[Waiting], called: Sequence[Called]
    ) -> None:
        """In the thread of the card, or in the channel where several wait.

        Raises:
            DeliveryError: Slack did not take it.
        """
        translations, count = load_translations(waiting[0].language), len(waiting)
        heading = format_count(
            translations, "Still waiting for an answer", "{count} questions still wait", count
        )
        arguments = {
            "channel": place.address,
            **reminder_message(f"⏰ {heading}", waiting, called, translations),
        }
        card = waiting[0].card
        if len(waiting) == 1 and card is not None:
            # The channel of a direct message is only known from its card.
            arguments["channel"] = card.place.address
            arguments["thread_ts"] = card.place.thread or card.message_id
        elif place.thread:
            arguments["thread_ts"] = place.thread
        await self._adapter.post("chat.postMessage", arguments)

    async def write(self, actor: str, waiting: Sequence[Waiting]) -> None:
        """In the person's messages with the app.

        Raises:
            DeliveryError: Slack did not take it.
        """
        translations, count = load_translations(waiting[0].language), len(waiting)
        heading = format_count(
            translations, "A question waits for you", "{count} questions wait for you", count
        )
        to = actor.removeprefix(f"{PLATFORM}:")
        arguments = {"channel": to, **reminder_message(f"👋 {heading}", waiting, (), translations)}
        await self._adapter.post("chat.postMessage", arguments)

    def _if_present(self, one: Called) -> Called | None:
        known = self._away.get(one.actor.removeprefix(f"{PLATFORM}:"))
        return None if known is not None and known.value else one

    async def _group(self, group: Called) -> Called | None:
        """The group by its id, which is what can be mentioned; None where there is none."""
        handle = group.actor.removeprefix(f"{PLATFORM}:@")
        known = self._groups.get(handle)
        if known is None or known.until <= self._timer():
            try:
                group_id = await self._adapter.group_id(handle)
            except DeliveryError:
                group_id = ""
            known = _Known(group_id, self._timer() + _REMEMBER_SECONDS)
            self._groups[handle] = known
        return replace(group, actor=f"{PLATFORM}:{known.value}") if known.value else None

    async def _learn_away(self, users: Sequence[str]) -> None:
        """Learn who of them is away, unless that is known from a minute ago."""
        now = self._timer()
        asked = [one for one in users if one not in self._away or self._away[one].until <= now]
        if not asked:
            return
        if len(self._away) >= _MOST_REMEMBERED:
            self._away.clear()
        statuses, undisturbed = await asyncio.gather(
            asyncio.gather(*map(self._has_left, asked)), self._undisturbed(asked[:_MOST_ASKED])
        )
        for user, left in zip(asked, statuses, strict=True):
            away = "away" if left or user in undisturbed else ""
            self._away[user] = _Known(away, now + _REMEMBER_SECONDS)

    async def _has_left(self, user: str) -> bool:
        try:
            answer = await self._adapter.read("users.info", {"user": user})
        except DeliveryError:
            return False
        profile = as_object(as_object(answer.get("user")).get("profile"))
        ends = profile.get("status_expiration")
        is_over = isinstance(ends, int) and 0 < ends <= self._clock().timestamp()
        return as_text(profile.get("status_emoji")) in _AWAY and not is_over

    async def _undisturbed(self, users: Sequence[str]) -> frozenset[str]:
        try:
            answer = await self._adapter.read("dnd.teamInfo", {"users": ",".join(users)})
        except DeliveryError:
            return frozenset()
        now = self._clock().timestamp()
        told = as_object(answer.get("users"))
        return frozenset(user for user in users if _is_quiet(as_object(told.get(user)), now))


def _is_group(one: Called) -> bool:
    return one.actor.startswith(f"{PLATFORM}:@")


def _is_quiet(told: Payload | Mapping[str, object], now: float) -> bool:
    begins, ends = told.get("next_dnd_start_ts"), told.get("next_dnd_end_ts")
    if told.get("dnd_enabled") is not True or not isinstance(begins, int):
        return False
    return isinstance(ends, int) and begins <= now < ends
