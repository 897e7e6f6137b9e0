"""An agent that asks, the bots as ``sayso serve`` runs them, and both platforms around them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from support.playing import a_playground

from sayso import Gate, RunRef
from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend
from sayso.stores.redis import redis_backend
from sayso_bots.config.settings import build_settings
from sayso_bots.config.source import parse_source
from sayso_bots.server.server import serving
from sayso_playground import ALICE, BOB, MALLORY, Member, Playground

CAROL = Member("Carol", "U0CAROL", 4444)
"""May decide on payments, and on nothing else."""

RUN = RunRef("deploy-bot", "s-1")
REASONS = ("Too risky", "R&D only")
_WEBHOOK_SECRET = "a-secret-of-this-test"
_T = TypeVar("_T")

_SETTINGS = """
[server]
port = 0

[people.alice]
slack = "U0ALICE"
telegram = 4242

[people.bob]
slack = "U0BOB"
telegram = 4343

[people.carol]
slack = "U0CAROL"
telegram = 4444

[questions]
reasons = ["Too risky", "R&D only"]
reason_wait = "{reason_wait}"
together = "{together}"
"""

_ROUTES = """
[[route]]
tool = "payments_*"
to = ["slack:C0OPS"]
approvers = ["carol"]

[[route]]
to = ["slack:C0OPS", "telegram:-1001234567890"]
approvers = ["alice", "bob"]
"""

Opened = Callable[[], AbstractAsyncContextManager[Backend]]


@dataclass
class Asked:
    """One agent, one store, one process of bots, and the people at both platforms.

    ``backend`` is the agent's. ``process`` is another process's view of the
    same store, where the store can be shared.
    """

    playground: Playground
    backend: Backend
    gate: Gate
    process: Opened
    _asking: list[asyncio.Task[Any]] = field(default_factory=list)

    def ask(self, question: Coroutine[Any, Any, _T]) -> asyncio.Task[_T]:
        """Let the agent ask; what it gets."""
        task = asyncio.create_task(question)
        self._asking.append(task)
        return task

    @asynccontextmanager
    async def later(self) -> AsyncIterator[Gate]:
        """The gate of an agent that was started anew."""
        async with self.process() as backend, Gate.open(backend, run=RUN, timeout=30) as gate:
            yield gate

    async def stop(self) -> None:
        """Ask nobody any more."""
        for task in self._asking:
            task.cancel()
        await asyncio.gather(*self._asking, return_exceptions=True)


@asynccontextmanager
async def asked(
    store: str,
    *,
    reason_wait: str = "60s",
    together: str = "off",
    routes: str = _ROUTES,
    bots: Callable[[Backend], Backend] = lambda backend: backend,
    pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
) -> AsyncIterator[Asked]:
    """All of it while the block runs, on the store with this URL.

    On Redis the agent and the bots each have connections of their own, as in
    two processes. A denial waits for its reason as long as ``reason_wait``;
    calls that come within ``together`` share a card. ``routes`` are those of the settings, with
    what stands above all sections before them. ``bots`` makes of the
    bots' backend the one they are given; ``pause`` is what Telegram does
    before it delivers an update again.
    """
    async with AsyncExitStack() as stack:
        playing = a_playground(members=(ALICE, BOB, MALLORY, CAROL), sleep=pause)
        playground = await stack.enter_async_context(playing)
        process = await _processes(stack, store)
        backend = await stack.enter_async_context(process())
        theirs = await stack.enter_async_context(process())
        text = routes + _SETTINGS.format(reason_wait=reason_wait, together=together)
        settings = build_settings(parse_source(text, _environment(playground), name="this test"))
        serves = await stack.enter_async_context(serving(settings, backend=bots(theirs)))
        playground.slack.deliver_to(f"{serves.url}/slack/events")
        playground.telegram.deliver_to(
            f"{serves.url}/telegram/webhook", secret_token=_WEBHOOK_SECRET
        )
        gate = await stack.enter_async_context(Gate.open(backend, run=RUN, timeout=30))
        scene = Asked(playground, backend, gate, process)
        stack.push_async_callback(scene.stop)
        yield scene


async def _processes(stack: AsyncExitStack, store: str) -> Opened:
    if not store.startswith("memory"):
        return lambda: redis_backend(store)
    shared = await stack.enter_async_context(memory_backend())

    @asynccontextmanager
    async def opened() -> AsyncIterator[Backend]:
        yield shared

    return opened


def _environment(playground: Playground) -> dict[str, str]:
    return {
        "SLACK_BOT_TOKEN": playground.config.slack_bot_token,
        "SLACK_SIGNING_SECRET": playground.config.slack_signing_secret,
        "SAYSO_SLACK_API_URL": playground.slack_api_url,
        "TELEGRAM_BOT_TOKEN": playground.config.telegram_bot_token,
        "TELEGRAM_WEBHOOK_SECRET": _WEBHOOK_SECRET,
        "SAYSO_TELEGRAM_API_URL": playground.telegram_api_url,
        # The played platforms take as many messages as there are.
        "SAYSO_SLACK_PER_CHANNEL": "off",
        "SAYSO_TELEGRAM_PER_CHAT": "off",
    }
