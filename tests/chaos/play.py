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
from chaos.judge import duplicates, problems
from chaos.ledger import Ledger, session_of
from chaos.people import People, live_buttons, press_all
from support.balancer import Balancer
from support.playing import a_playground
from support.topologies import Topology

from sayso import Gate, RunRef
from sayso.agent.options import GateOptions
from sayso.errors import BusLostError, SaysoError
from sayso.stores.backend import Backend
from sayso.stores.connect import open_backend
from sayso.testing import until
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

_DESKS = 2
_BETWEEN_ASKS = (0.05, 0.4)
_BETWEEN_TROUBLES = (0.5, 4.0)
_TROUBLE_SECONDS = (0.2, 2.0)
_PLATFORM_FAULTS: tuple[tuple[str, Fault], ...] = (
    ("*", RateLimited(1)),
    ("*", ServerError(503)),
    ("*", DropConnection()),
    ("*", Slow(1.0)),
    ("callback", DeliverTwice()),
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
            opened = [
                await stack.enter_async_context(open_backend(self.topology.url)) for _ in range(3)
            ]
            agents = Agents(opened[0], opened[1], self.topology.url, url, self.ledger, self.seed)
            stack.push_async_callback(agents.close)
            people = People(playground, self.ledger, random.Random(self.seed + 1))
            around = [
                asyncio.create_task(people.in_slack()),
                asyncio.create_task(people.in_telegram()),
            ]
            observers: set[asyncio.Task[None]] = set()
            asking = asyncio.create_task(self._ask(agents, opened[2], observers, dice))
            await self._make_trouble(bots, playground, seconds, random.Random(self.seed + 2))
            await _cancelled([asking])
            await self._settled_down(playground, bots)
            await _cancelled([*around, *observers])
            wrong = await problems(self.ledger, opened[2])
            wrong += await self._still_live(playground)
            return Played(wrong, self._figures(playground))

    async def _bots(self, stack: AsyncExitStack, playground: Playground) -> list[Bots]:
        config = BotsConfig(self.topology.url, playground, self.folder, self.sockets)
        bots = [Bots(config) for _ in range(_DESKS)]
        for one in bots:
            stack.push_async_callback(one.close)
            await one.start()
        for one in bots:
            await until(one.is_serving)
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
            with suppress(BusLostError):
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
            double = playground.slack if dice.random() < 0.5 else playground.telegram
            method, fault = dice.choice(_PLATFORM_FAULTS)
            double.misbehave(method, fault, times=dice.randint(1, 3))

        of_bots: dict[str, Trouble] = {}
        for number, one in enumerate(bots, 1):
            of_bots |= {
                f"bots {number} killed": one.killed,
                f"bots {number} told to stop": one.retired,
                f"bots {number} held": one.stopped,
            }
        ends = asyncio.get_running_loop().time() + seconds
        await asyncio.gather(
            self._troubled(self.topology.troubles, ends, dice),
            self._troubled(of_bots, ends, dice),
            self._troubled({"platforms": misbehaving}, ends, dice),
        )

    async def _troubled(
        self, kinds: Mapping[str, Trouble], ends: float, dice: random.Random
    ) -> None:
        """One trouble after the other until the time of the event loop."""
        while asyncio.get_running_loop().time() < ends:
            await asyncio.sleep(dice.uniform(*_BETWEEN_TROUBLES))
            name = dice.choice(list(kinds))
            self.ledger.counts[f"trouble: {name}"] += 1
            await kinds[name](dice.uniform(*_TROUBLE_SECONDS))

    async def _settled_down(self, playground: Playground, bots: list[Bots]) -> None:
        """No more troubles; everything that was asked has had its time."""
        playground.slack.behave()
        playground.telegram.behave()
        for one in bots:
            if one.has_ended:
                self.ledger.counts["bots that ended by themselves"] += 1
                await one.start()
            await until(one.is_serving)
        with suppress(TimeoutError):
            async with asyncio.timeout(LONGEST + 5):
                await asyncio.gather(*self._asking, return_exceptions=True)
        for task in self._asking:
            if not task.done():
                self.ledger.counts["agents that wait for ever"] += 1
                task.cancel()
            elif task.exception() is not None:
                self.ledger.broken.append(repr(task.exception()))

    async def _still_live(self, playground: Playground) -> list[str]:
        """Messages whose buttons do not go although all requests have ended."""
        if left := await self._live_after(playground, CALM_SECONDS):
            # Posted by a process that did not live to note it, or without an answer: nobody can
            # know of them before somebody presses on them.
            self.ledger.counts["cards left behind, closed by a press"] = len(left)
            await press_all(playground)
            left = await self._live_after(playground, CALM_SECONDS)
        return [f"live buttons: {one}" for one in left]

    async def _live_after(self, playground: Playground, seconds: float) -> list[str]:
        loop = asyncio.get_running_loop()
        ends = loop.time() + seconds
        while (live := live_buttons(playground)) and loop.time() < ends:
            await asyncio.sleep(0.1)
        return live

    def _figures(self, playground: Playground) -> Mapping[str, int]:
        figures = self.ledger.counts
        figures["questions asked"] = len(self.ledger.ids)
        figures["cards shown twice"] = duplicates(playground, self.ledger)
        for told in self.ledger.told:
            said = told.outcome.value if told.outcome else told.error
            figures[f"told: {said}{' without a question' if told.unasked else ''}"] += 1
        return figures


async def _cancelled(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    for done in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(done, Exception) and not isinstance(done, SaysoError):
            raise done
