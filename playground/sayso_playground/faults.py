"""Misbehaviour a double can be told to show, and what it remembers of every call."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

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
        """What is still to come, for display."""
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
    """What became of one callback to the bot.

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
