"""Send queue: one message at a time per chat, resolutions first, agents in turn, rate limited."""

from __future__ import annotations

import asyncio
import heapq
import math
import random
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import count
from typing import Protocol

from sayso.chats.budgets import Budget
from sayso.chats.places import Place
from sayso.errors import DeliveryError, SaysoError
from sayso.stores.protocols import KeyValueStore


class Timer(Protocol):
    """Tells the time in seconds and waits by it."""

    def now(self) -> float:
        """The time; it never goes back."""
        ...

    async def wait(self, event: asyncio.Event, seconds: float) -> None:
        """Return when the event is set, or when so many seconds are over."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return when so many seconds are over."""
        ...


class LoopTimer:
    """The time of the event loop."""

    def now(self) -> float:
        """The time; it never goes back."""
        return asyncio.get_running_loop().time()

    async def wait(self, event: asyncio.Event, seconds: float) -> None:
        """Return when the event is set, or when so many seconds are over."""
        with suppress(TimeoutError):
            await asyncio.wait_for(event.wait(), seconds)

    async def sleep(self, seconds: float) -> None:
        """Return when so many seconds are over."""
        await asyncio.sleep(seconds)


_FIRST_PAUSE_SECONDS = 0.25
_LONGEST_PAUSE_SECONDS = 30.0
# A moment that was reserved and not used in time is not that of the next message.
_MISSED_SECONDS = 1.0
# After so many messages a round is over, however many agents are still to come in it.
_ROUND_MESSAGES = 8
_FEW_AGENTS = 100


class ShutdownError(SaysoError):
    """No message leaves any more: the desk stops."""


class Rank(IntEnum):
    """The rounds by which a message goes later than an ending that comes at the same time."""

    ENDED = 0
    CHANGED = 1
    NEW = 2
    REMINDER = 3


@dataclass(order=True, slots=True)
class _Waiting:
    """One who wants to send something, in its round; ``look`` wakes it."""

    round: float
    rank: Rank
    number: int
    look: asyncio.Event = field(compare=False, default_factory=asyncio.Event)
    is_gone: bool = field(compare=False, default=False)


class Lane:
    """The way to one place. Its pauses hold up nobody else."""

    def __init__(self, key_value: KeyValueStore, timer: Timer) -> None:
        self._key_value = key_value
        self._timer = timer
        self._numbers = count()
        self._waiting: list[_Waiting] = []
        self._round = 0.0
        self._last_rounds: dict[tuple[str, Rank], float] = {}
        self._tidied_at = _FEW_AGENTS
        self._is_taken = False
        self._is_closed = False
        self._not_before = 0.0
        self._pause = _FIRST_PAUSE_SECONDS
        self._reserving = asyncio.Lock()
        self._reserved: dict[tuple[Budget, ...], float] = {}

    @property
    def is_idle(self) -> bool:
        """True if nobody waits or sends, and no pause has to be kept."""
        return (
            self._first() is None
            and not self._is_taken
            and self._pause == _FIRST_PAUSE_SECONDS
            and self._not_before <= self._timer.now()
        )

    def leave(self, error: BaseException | None) -> None:
        """Let the next one go after a turn, which this error has ended, if one has."""
        if error is None:
            self._pause = _FIRST_PAUSE_SECONDS
        elif isinstance(error, DeliveryError) and not error.permanent:
            self._hold(error)
        self._is_taken = False
        self._wake_first()

    def close(self) -> None:
        """Let nobody go any more."""
        self._is_closed = True
        for one in self._waiting:
            one.look.set()

    async def enter(self, rank: Rank, budgets: tuple[Budget, ...], agent: str = "") -> None:
        """Return when it is the turn of this message of an agent; ``leave`` ends that."""
        me = _Waiting(self._next_round(agent, rank), rank, next(self._numbers))
        before = self._first()
        heapq.heappush(self._waiting, me)
        if before is not None:
            before.look.set()
        try:
            while not await self._may_go(me, budgets):
                pass
            self._is_taken = True
            self._round = max(me.round - rank, self._round + 1 / _ROUND_MESSAGES)
            self._reserved.pop(budgets, None)
        finally:
            me.is_gone = True
            if not self._is_taken:
                self._wake_first()

    async def _may_go(self, me: _Waiting, budgets: tuple[Budget, ...]) -> bool:
        """Return True if it is this one's turn; otherwise wait until that may have changed."""
        if self._is_closed:
            raise ShutdownError("the desk stops")
        me.look.clear()
        if not self._is_next(me):
            await me.look.wait()
            return False
        moment = await self._free_at(budgets)
        if not self._is_next(me):
            return False
        left = moment - self._timer.now()
        if left > 0:
            await self._timer.wait(me.look, left)
            return False
        return not self._is_closed

    def _is_next(self, me: _Waiting) -> bool:
        return not self._is_taken and self._first() is me

    async def _free_at(self, budgets: tuple[Budget, ...]) -> float:
        """When the next message may go; what is reserved is for whoever is first then."""
        if self._not_before > self._timer.now() or not budgets:
            return self._not_before
        async with self._reserving:
            now = self._timer.now()
            moment = self._reserved.get(budgets)
            if moment is None or moment + _MISSED_SECONDS < now:
                moment = now + await self._key_value.reserve_rate(budgets)
                self._reserved[budgets] = moment
        return max(moment, self._not_before)

    def _first(self) -> _Waiting | None:
        while self._waiting and self._waiting[0].is_gone:
            heapq.heappop(self._waiting)
        return self._waiting[0] if self._waiting else None

    def _next_round(self, agent: str, rank: Rank) -> float:
        """The round of an agent's message: one after its last of that rank, or the current one.

        So a new name gains nothing over those that wait, and endings keep others waiting for few.
        """
        if len(self._last_rounds) > self._tidied_at:
            lasts = self._last_rounds.items()
            self._last_rounds = {key: at for key, at in lasts if at + 1 > self._round + key[1]}
            self._tidied_at = 2 * len(self._last_rounds) + _FEW_AGENTS
        last = self._last_rounds.get((agent, rank), -math.inf)
        mine = self._last_rounds[agent, rank] = max(self._round + rank, last + 1)
        return mine

    def _wake_first(self) -> None:
        if (first := self._first()) is not None:
            first.look.set()

    def _hold(self, error: DeliveryError) -> None:
        pause = error.retry_after
        if pause is not None and math.isfinite(pause):
            pause = max(pause, _FIRST_PAUSE_SECONDS)
        else:
            pause = self._pause * random.uniform(0.75, 1.25)  # noqa: S311  jitter
            pause = min(pause, _LONGEST_PAUSE_SECONDS)
            self._pause = min(self._pause * 2, _LONGEST_PAUSE_SECONDS)
        self._not_before = self._timer.now() + pause


class SendQueue:
    """A lane for every place, made when it is needed and gone when it is not."""

    def __init__(self, key_value: KeyValueStore, timer: Timer) -> None:
        self._key_value = key_value
        self._timer = timer
        self._is_closed = False
        self._lanes: dict[tuple[str, str], Lane] = {}

    def __len__(self) -> int:
        """How many lanes there are now."""
        return len(self._lanes)

    def turn(
        self, place: Place, rank: Rank, budgets: Sequence[Budget] = (), *, agent: str = ""
    ) -> Turn:
        """A turn for an agent's message in the lane to a place; the threads of a chat share it."""
        return Turn(self, (place.platform, place.address), rank, tuple(budgets), agent)

    def lane(self, key: tuple[str, str]) -> Lane:
        """The lane to a chat of a platform."""
        lane = self._lanes.get(key)
        if lane is None:
            lane = self._lanes[key] = Lane(self._key_value, self._timer)
            if self._is_closed:
                lane.close()
        return lane

    def tidy(self, key: tuple[str, str], lane: Lane) -> None:
        """Forget a lane that nobody uses any more."""
        if lane.is_idle and self._lanes.get(key) is lane:
            del self._lanes[key]

    def close(self) -> None:
        """Let messages on their way arrive and send no others."""
        self._is_closed = True
        for lane in self._lanes.values():
            lane.close()


class Turn:
    """Waits for those before, for the pause that the platform asked for, and for the budgets.

    Whoever comes with a better rank goes first, also while others wait. A
    DeliveryError that leaves the block sets the next pause: as long as
    the platform asked for, or twice as long as the last one.

    Entering it raises:
        ShutdownError: the desk stops; another one takes over.
        StoreUnreachableError: nobody knows what the budgets allow.
    """

    # No generator: one takes as long as all that is done here.
    __slots__ = ("_agent", "_budgets", "_key", "_lane", "_lanes", "_rank")

    def __init__(
        self,
        lanes: SendQueue,
        key: tuple[str, str],
        rank: Rank,
        budgets: tuple[Budget, ...],
        agent: str,
    ) -> None:
        self._lanes = lanes
        self._key = key
        self._rank = rank
        self._budgets = budgets
        self._agent = agent

    async def __aenter__(self) -> None:
        self._lane = self._lanes.lane(self._key)
        try:
            await self._lane.enter(self._rank, self._budgets, self._agent)
        except BaseException:
            self._lanes.tidy(self._key, self._lane)
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: object
    ) -> None:
        self._lane.leave(error)
        self._lanes.tidy(self._key, self._lane)
