"""Faults that a test plans, calls and callbacks that it looks at, and waiting without polling."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from sayso_playground.config import PlaygroundConfig

CALLBACK = "callback"
"""The name under which the deliveries to the bot misbehave, beside the API methods."""

EVERY_METHOD = "*"


@dataclass(frozen=True, slots=True)
class RateLimited:
    """Answers 429 and says after how many seconds to try again; nothing is done."""

    seconds: int = 1


@dataclass(frozen=True, slots=True)
class ServerError:
    """Answers with a 5xx status; nothing is done."""

    status: int = 503


@dataclass(frozen=True, slots=True)
class Slow:
    """Waits before it does what was asked."""

    seconds: float


@dataclass(frozen=True, slots=True)
class DropConnection:
    """Does what was asked, then hangs up without an answer."""


@dataclass(frozen=True, slots=True)
class DeliverTwice:
    """Delivers the same callback twice at the same time."""


Fault = RateLimited | ServerError | Slow | DropConnection | DeliverTwice


@dataclass(slots=True)
class _Plan:
    method: str
    fault: Fault
    times: int | None


class Faults:
    """The misbehaviour still to come; one fault a call, the first that matches."""

    def __init__(self) -> None:
        self._plans: list[_Plan] = []

    def add(self, method: str, fault: Fault, times: int | None) -> None:
        """Plan a fault for ``times`` calls of a method, ``None`` for all until further notice."""
        if (method == CALLBACK) != isinstance(fault, DeliverTwice) and not isinstance(fault, Slow):
            raise ValueError(f"{type(fault).__name__} makes no sense for {method!r}")
        self._plans.append(_Plan(method, fault, times))

    def clear(self) -> None:
        """Behave again."""
        self._plans.clear()

    def take(self, method: str) -> Fault | None:
        """The fault for this call, used up."""
        for plan in self._plans:
            if plan.method == method or (plan.method == EVERY_METHOD and method != CALLBACK):
                if plan.times is not None:
                    plan.times -= 1
                    if not plan.times:
                        self._plans.remove(plan)
                return plan.fault
        return None

    def planned(self) -> list[dict[str, Any]]:
        """Return the faults that are still to come, for display."""
        return [
            {"method": plan.method, "fault": repr(plan.fault), "times": plan.times}
            for plan in self._plans
        ]


@dataclass(frozen=True, slots=True)
class Call:
    """One call of an API method, without its secrets.

    ``status`` is the HTTP status, 0 when the connection was dropped. ``error`` is the
    platform's word for a refusal.
    """

    method: str
    arguments: Mapping[str, Any]
    status: int
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Delivery:
    """The end of one callback to the bot.

    ``status`` is the last HTTP status (200 for an acknowledged Socket Mode envelope or
    a polled update), ``None`` when nobody answered. ``statuses`` has one entry an
    attempt. ``error`` is what the person sees go wrong. ``answered``, ``toast`` and
    ``alert`` are Telegram's: what answerCallbackQuery made the person see.
    """

    status: int | None
    body: str = ""
    seconds: float = 0.0
    error: str | None = None
    statuses: tuple[int | None, ...] = ()
    answered: bool = False
    toast: str | None = None
    alert: bool = False


T = TypeVar("T")

# Whoever waits for something that never comes is told after this; a busy machine needs less.
PATIENCE_SECONDS = 30.0


class Changes:
    """A bell that rings whenever anything visible in the playground changed."""

    def __init__(self) -> None:
        self.version = 0
        self._bell = asyncio.Event()

    def ring(self) -> None:
        """Wake everybody who waits, once."""
        self.version += 1
        self._bell.set()
        self._bell = asyncio.Event()

    async def after(self, version: int) -> int:
        """Return the current version as soon as it is newer than this one."""
        while self.version <= version:
            await self._bell.wait()
        return self.version

    async def until(self, find: Callable[[], T | None], what: str, timeout: float) -> T:
        """Look now and after every change, until ``find`` finds something.

        Raises:
            TimeoutError: it did not within ``timeout`` seconds; the message says what.
        """
        try:
            async with asyncio.timeout(timeout):
                while (found := find()) is None:
                    await self.after(self.version)
                return found
        except TimeoutError as error:
            raise TimeoutError(f"no {what} within {timeout:g} s") from error


class Double:
    """A platform that is played: its calls, its faults, and waiting for what happens there."""

    def __init__(self, config: PlaygroundConfig, changes: Changes) -> None:
        self.config = config
        self.calls: list[Call] = []
        self.faults = Faults()
        self._changes = changes

    def misbehave(self, method: str, fault: Fault, times: int | None = 1) -> None:
        """Show a fault in the next calls of a method; ``"*"`` is all, ``"callback"`` callbacks."""
        self.faults.add(method, fault, times)
        self._changes.ring()

    def behave(self) -> None:
        """Forget every planned fault."""
        self.faults.clear()
        self._changes.ring()

    async def until(self, condition: Callable[[], bool], timeout: float = PATIENCE_SECONDS) -> None:
        """Wait until a condition over anything in the playground holds.

        Raises:
            TimeoutError: it did not in time.
        """
        await self._changes.until(lambda: condition() or None, "such condition", timeout)
