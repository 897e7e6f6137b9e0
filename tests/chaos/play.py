"""One play: a store, the bots, the two chats, agents and people, and troubles until it is calm."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

from chaos.agents import AGENT, LONGEST, Agents
from chaos.bots import Bots, BotsConfig, deliver_to
from chaos.judge import YES, Records, answers, duplicates, noted, problems, records_of
from chaos.lag import Lag
from chaos.ledger import Ledger, session_of
from chaos.people import APPROVERS, STRANGERS, People, is_of_a_form, live_buttons, press_all
from chaos.reviewer import Reviewer
from support.balancer import Balancer
from support.playing import a_playground
from support.topologies import Topology

from sayso import Gate, RunRef
from sayso.agent.options import GateOptions
from sayso.errors import SaysoError, SubscriptionLostError
from sayso.stores.backend import Backend
from sayso.stores.connect import open_store
from sayso_playground import (
    DeliverTwice,
    DropConnection,
    Fault,
    Playground,
    RateLimited,
    ServerError,
    Slow,
)

CALM_SECONDS = 10.0
"""How long after the last trouble a card of an ended request may still have live buttons."""

# So long after its time was over at most a question has ended.
_OVERDUE_SECONDS = 3.0

SETTLING_SECONDS = 12.0
"""About how long a play goes on after its last trouble."""

_BOTS = 2
_BETWEEN_ASKS = (0.03, 0.25)
_BETWEEN_TROUBLES = (0.3, 3.0)
# Bots take their time to start: with more of it nobody could press anything.
_BETWEEN_TROUBLES_OF_BOTS = (2.0, 5.0)
_TROUBLE_SECONDS = (0.2, 2.0)
# What posts a message has another name on each platform.
_POSTING = "post"
_POSTS = {"slack": "chat.postMessage", "telegram": "sendMessage"}
_PLATFORM_FAULTS: tuple[tuple[str, Fault], ...] = (
    ("*", RateLimited(1)),
    ("*", ServerError(503)),
    ("*", DropConnection()),
    ("*", Slow(1.0)),
    ("callback", DeliverTwice()),
    (_POSTING, DropConnection()),
)

Trouble = Callable[[float], Awaitable[None]]


@dataclass
class Played:
    """What came of a play: what was wrong, and figures of what went on."""

    problems: list[str]
    figures: Mapping[str, int]


@dataclass
class Play:
    """A play under way."""

    topology: Topology
    sockets: bool
    seed: int
    folder: Path
    ledger: Ledger = field(default_factory=Ledger)
    _lag: Lag = field(default_factory=Lag)
    _asking: set[asyncio.Task[None]] = field(default_factory=set)
    _watched: set[str] = field(default_factory=set)

    async def run(self, seconds: float) -> Played:
        """Play for so many seconds, then wait until it is calm, and judge."""
        dice = random.Random(self.seed)
        async with AsyncExitStack() as stack:
            playground = await stack.enter_async_context(a_playground(slack_ack_seconds=3.0))
            bots = await self._bots(stack, playground)
            wire = await stack.enter_async_context(Balancer(lambda: [one.port for one in bots]))
            url = f"http://127.0.0.1:{wire.port}"
            if not self.sockets:
                deliver_to(playground, url)
            here, there, third = [
                await stack.enter_async_context(open_store(self.topology.url)) for _ in range(3)
            ]
            agents = Agents(
                (here, there), self.topology.url, url, self.ledger, self._lag, self.seed
            )
            stack.push_async_callback(agents.close)
            measuring = asyncio.create_task(self._lag.measure())
            around = self._surroundings(playground, url)
            observers: set[asyncio.Task[None]] = set()
            asking = asyncio.create_task(self._ask(agents, third, observers, dice))
            await self._make_trouble(bots, playground, seconds, random.Random(self.seed + 2))
            await _cancelled([asking])
            await self._settled_down(playground, bots)
            # Nobody presses any more: a press would repair the card it is made on.
            await _cancelled(around)
            records = await records_of(self.ledger, third)
            wrong = await self._still_live(playground, records)
            records = await self._all_over(third)
            wrong += await problems(self.ledger, records, third)
            await _cancelled([measuring, *observers])
            return Played(wrong, self._figures(playground, bots, records))

    def _surroundings(self, playground: Playground, url: str) -> list[asyncio.Task[None]]:
        """Everybody who answers."""
        people = People(playground, self.ledger, random.Random(self.seed + 1))
        reviewer = Reviewer(url, AGENT, self.ledger, random.Random(self.seed + 3))
        doing = [
            *[people.in_slack, people.in_telegram] * 2,
            people.in_both,
            reviewer.answer,
        ]
        return [asyncio.create_task(one()) for one in doing]

    async def _bots(self, stack: AsyncExitStack, playground: Playground) -> list[Bots]:
        config = BotsConfig(self.topology.url, playground, self.folder, self.sockets)
        bots = [Bots(config) for _ in range(_BOTS)]
        for one in bots:
            stack.push_async_callback(one.close)
            await one.start()
        for one in bots:
            await one.served()
        return bots

    async def _ask(
        self,
        agents: Agents,
        observing: Backend,
        observers: set[asyncio.Task[None]],
        dice: random.Random,
    ) -> None:
        while True:
            session = session_of(f"item-{self.ledger.asked_so_far:06d}")
            if session not in self._watched:
                self._watched.add(session)
                observers.add(asyncio.create_task(self._observe(observing, session)))
            lone = dice.random() < 0.02
            task = asyncio.create_task(agents.ask_and_die() if lone else agents.ask())
            self._asking.add(task)
            await asyncio.sleep(dice.uniform(*_BETWEEN_ASKS))

    async def _observe(self, backend: Backend, session: str) -> None:
        gate = Gate(backend, GateOptions(RunRef(AGENT, session)))
        while True:
            with suppress(SubscriptionLostError):
                async with gate.events() as events:
                    async for event in events:
                        self.ledger.heard(event)
            self.ledger.counts["observers that had to listen again"] += 1
            await asyncio.sleep(0.2)

    async def _make_trouble(
        self, bots: list[Bots], playground: Playground, seconds: float, dice: random.Random
    ) -> None:
        """The store has troubles, the bots have theirs and the platforms theirs, all at once."""

        async def misbehaving(_: float) -> None:
            platform = dice.choice(list(_POSTS))
            double = playground.slack if platform == "slack" else playground.telegram
            method, fault = dice.choice(_PLATFORM_FAULTS)
            method = _POSTS[platform] if method == _POSTING else method
            double.misbehave(method, fault, times=dice.randint(1, 3))

        async def all_killed(seconds: float) -> None:
            await asyncio.gather(*(one.killed(seconds) for one in bots))

        of_bots: dict[str, Trouble] = {"all bots killed": all_killed}
        for number, one in enumerate(bots, 1):
            of_bots |= {
                f"bots {number} killed": one.killed,
                f"bots {number} told to stop": one.retired,
                f"bots {number} held": one.stopped,
            }
        ends = asyncio.get_running_loop().time() + seconds
        await asyncio.gather(
            self._troubled(self.topology.troubles, ends, dice, _BETWEEN_TROUBLES),
            self._troubled(of_bots, ends, dice, _BETWEEN_TROUBLES_OF_BOTS),
            self._troubled({"platforms": misbehaving}, ends, dice, _BETWEEN_TROUBLES),
        )

    async def _troubled(
        self,
        kinds: Mapping[str, Trouble],
        ends: float,
        dice: random.Random,
        pauses: tuple[float, float],
    ) -> None:
        """One trouble after the other until the time of the event loop."""
        while asyncio.get_running_loop().time() < ends:
            await asyncio.sleep(dice.uniform(*pauses))
            name = dice.choice(list(kinds))
            self.ledger.counts[f"trouble: {name}"] += 1
            await kinds[name](dice.uniform(*_TROUBLE_SECONDS))

    async def _settled_down(self, playground: Playground, bots: list[Bots]) -> None:
        """No more troubles; everything that was asked has had its time."""
        playground.slack.behave()
        playground.telegram.behave()
        for one in bots:
            await one.served()
        with suppress(TimeoutError):
            async with asyncio.timeout(2 * LONGEST):
                await asyncio.gather(*self._asking, return_exceptions=True)
        for task in self._asking:
            if not task.done():
                self.ledger.counts["agents that wait for ever"] += 1
                task.cancel()
            elif task.exception() is not None:
                self.ledger.broken.append(repr(task.exception()))

    async def _all_over(self, backend: Backend) -> Records:
        """What the store knows, once the time of all is over, also of what was opened late."""
        while True:
            records = await records_of(self.ledger, backend)
            is_open = [one for one in records.values() if one is not None and one.ending is None]
            left = max((one.seconds_left for one in is_open), default=0.0)
            if not 0 < left <= LONGEST:
                return records
            await asyncio.sleep(left + _OVERDUE_SECONDS)

    async def _still_live(self, playground: Playground, records: Records) -> list[str]:
        """Messages whose buttons do not go although all requests have ended."""
        if not (left := await self._live_after(playground, CALM_SECONDS)):
            return []
        wrong = [f"live buttons, and noted: {one}" for one in noted(left, records)]
        # Posted by a process that did not live to note it, or without an answer: nobody can know of
        # them before somebody presses on them. A form is closed by whose it is.
        unknown = len(left) - len(wrong)
        for who in (*STRANGERS, *APPROVERS):
            await press_all(playground, who)
        left = await self._live_after(playground, CALM_SECONDS)
        forms = [one for one in left if is_of_a_form(one)]
        self.ledger.counts["forms that nobody noted"] = len(forms)
        self.ledger.counts["cards that nobody noted, closed by a press"] = unknown - len(forms)
        return wrong + [f"live buttons: {one}" for one in left if one not in forms]

    async def _live_after(self, playground: Playground, seconds: float) -> list[str]:
        loop = asyncio.get_running_loop()
        began = loop.time()
        while live := live_buttons(playground):
            if loop.time() >= began + seconds + self._lag.since(began):
                break
            await asyncio.sleep(0.1)
        return live

    def _figures(
        self, playground: Playground, bots: list[Bots], records: Records
    ) -> Mapping[str, int]:
        figures = self.ledger.counts
        figures["questions asked"] = len(records)
        figures["cards shown twice"] = duplicates(playground, self.ledger)
        figures["bots that ended by themselves"] = sum(one.ended_alone for one in bots)
        figures["milliseconds that the machine was late at worst"] = round(1000 * self._lag.worst)
        figures.update(answered := answers(records))
        people = sum(number for what, number in answered.items() if what.startswith("answered in"))
        figures["per cent of them that were answered"] = 100 * people // max(1, len(records))
        for told in self.ledger.told:
            said = told.outcome.value if told.outcome else f"{told.error} by {told.door}"
            figures[f"told: {said}{' without a question' if told.unasked else ''}"] += 1
            if told.outcome in YES:
                figures[f"yes through: {told.door}"] += 1
        return figures


async def _cancelled(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    for done in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(done, Exception) and not isinstance(done, SaysoError):
            raise done
