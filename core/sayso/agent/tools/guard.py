"""A function whose every call passes a check first."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, Protocol, TypeAlias, TypeVar, Unpack

from sayso.agent.options import CallOptions
from sayso.agent.tools.binding import bound_arguments, named_arguments
from sayso.agent.verdict import Verdict
from sayso.calls import ToolCall
from sayso.errors import ConfigError, ToolBlocked
from sayso.events import Outcome
from sayso.rules.declarations import declared_by

GUARDED = "__sayso_guarded__"
"""The mark of functions whose calls pass a check already."""

_P = ParamSpec("_P")
_T = TypeVar("_T")

Guarded: TypeAlias = Callable[_P, Coroutine[Any, Any, _T | str]]
"""A function behind a check: async, and its result is text where the call did not run."""


class Check(Protocol):
    """The check of a gate."""

    async def __call__(self, call: ToolCall, **how: Unpack[CallOptions]) -> Verdict:
        """May this call run?"""
        ...


def guarded(check: Check, function: Callable[_P, Any], *, raises: bool = False) -> Guarded[_P, Any]:
    """The function, run only when the check approves; otherwise its result says what happened.

    With ``raises`` there is no such result: ToolBlocked is raised in its place.

    Raises:
        ConfigError: its calls pass a check already.
    """
    refuse_guarded(getattr(function, "__name__", type(function).__name__), function)
    signature = inspect.signature(function)
    name = getattr(function, "__name__", type(function).__name__)
    description, declaration = first_line(function), declared_by(function)

    @functools.wraps(function)
    async def run(*args: _P.args, **kwargs: _P.kwargs) -> Any:
        call = ToolCall(name, named_arguments(signature.bind(*args, **kwargs)))
        verdict = await check(call, description=description, declaration=declaration)
        if not verdict.approved and raises:
            raise ToolBlocked(name, refusal(verdict), outcome=verdict.outcome.value)
        if not verdict.approved:
            return verdict.as_tool_result()
        try:
            # These and no others: what was taken out of them must not run.
            bound = bound_arguments(signature, verdict.arguments)
        except TypeError as error:
            if raises:
                reason = f"it cannot be called as approved: {error}"
                raise ToolBlocked(name, reason, outcome=verdict.outcome.value) from error
            return f"The call of {name} did not run: it cannot be called as approved: {error}."
        return await result_of(function(*bound.args, **bound.kwargs))

    setattr(run, GUARDED, True)
    return run


def refusal(verdict: Verdict) -> str:
    """Why a call did not run, in few words: the reason given, else how its question ended."""
    return verdict.reason or _ENDED[verdict.outcome]


_ENDED = {
    Outcome.APPROVED: "",
    Outcome.DENIED: "it was denied",
    Outcome.ANSWERED: "the answer was not an approval",
    Outcome.EXPIRED: "nobody answered in time",
    Outcome.CANCELLED: "the question was cancelled",
    Outcome.UNDELIVERABLE: "nobody could be asked",
}


def refuse_guarded(name: str, function: Callable[..., Any]) -> None:
    """Return when the function's calls pass no check yet.

    Raises:
        ConfigError: they do, and every call would be asked about twice.
    """
    if getattr(function, GUARDED, False):
        raise ConfigError(f"{name} is guarded already: every call would be asked about twice")


async def result_of(result: Any) -> Any:
    """What a tool gave, awaited where it is async."""
    return await result if inspect.isawaitable(result) else result


def first_line(function: Callable[..., Any]) -> str:
    """The first line of a function's docstring: what a card says the tool does."""
    return (inspect.getdoc(function) or "").partition("\n")[0]
