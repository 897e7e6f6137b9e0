"""A function as a tool: the call that each of its calls makes, and how it runs as approved."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias, TypedDict

from sayso.agent.tools.binding import bound_arguments, named_arguments
from sayso.agent.verdict import CheckResult
from sayso.calls import ToolCall
from sayso.digests import as_json
from sayso.errors import InvalidCallError, ToolBlocked
from sayso.events import Outcome
from sayso.rules.declarations import ToolAnnotations, declared_by

Approved: TypeAlias = Callable[[], Any]
"""Runs the function with the arguments that were approved."""


class Kind(Enum):
    """How a function is called."""

    PLAIN = "plain"
    ASYNC = "async"
    GENERATOR = "generator"
    ASYNC_GENERATOR = "async generator"


class How(TypedDict, total=False):
    """What a tool says of itself when it is asked about."""

    description: str
    declaration: ToolAnnotations


class Tool:
    """A function, or one with some arguments given already, as in ``functools.partial``.

    The object or the class that a method belongs to is no argument of its calls. Nor is
    what was given already and cannot be written as JSON, such as a connection;
    whatever else was given is shown and can be changed as any argument.
    """

    def __init__(self, function: Callable[..., Any], name: str | None = None) -> None:
        self.function, given, named = _unpacked(function)
        self._given, self._named = given, named
        self._signature = inspect.signature(self.function)
        own: str = getattr(self.function, "__name__", type(self.function).__name__)
        self.name = own if name is None else name
        self._owner = _owner_of(self.function, self._signature)
        self._hidden = self._not_shown()
        self.how = How(description=first_line(self.function))
        declaration = declared_by(function) or declared_by(self.function)
        if declaration is not None:
            self.how["declaration"] = declaration

    @property
    def kind(self) -> Kind:
        """How it is called, also behind decorators that kept its name."""
        called = getattr(self.function, "__call__", None)  # noqa: B004  what runs when it is called
        for one in (self.function, called):
            plain = inspect.unwrap(one) if callable(one) else one
            if inspect.isasyncgenfunction(plain):
                return Kind.ASYNC_GENERATOR
            if inspect.iscoroutinefunction(plain):
                return Kind.ASYNC
            if inspect.isgeneratorfunction(plain):
                return Kind.GENERATOR
        return Kind.PLAIN

    def called(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Called:
        """The call that calling the function so makes; TypeError where it cannot be called so."""
        owner = args[:1] if self._owner else ()
        rest = args[len(owner) :]
        bound = self._signature.bind(*owner, *self._given, *rest, **{**self._named, **kwargs})
        arguments = named_arguments(bound)
        hidden = {
            name: value
            for name, value in arguments.items()
            if name == self._owner or (name in self._hidden and value is self._hidden[name])
        }
        shown = {name: value for name, value in arguments.items() if name not in hidden}
        return Called(self, ToolCall(self.name, shown), hidden)

    def with_arguments(
        self, arguments: Mapping[str, Any], hidden: Mapping[str, Any]
    ) -> functools.partial[Any]:
        """The function with these arguments and no others; TypeError when they do not fit."""
        if both := arguments.keys() & hidden.keys():
            raise TypeError(f"it takes no {', '.join(map(repr, sorted(both)))}")
        bound = bound_arguments(self._signature, {**hidden, **arguments})
        return functools.partial(self.function, *bound.args, **bound.kwargs)

    def _not_shown(self) -> dict[str, Any]:
        """What was given already and no person could read."""
        if not self._given and not self._named:
            return {}
        owner = (None,) if self._owner else ()
        bound = self._signature.bind_partial(*owner, *self._given, **self._named)
        names = dict(bound.arguments)
        for parameter in self._signature.parameters.values():
            if parameter.kind is inspect.Parameter.VAR_KEYWORD:
                names |= names.pop(parameter.name, {})
        return {name: value for name, value in names.items() if not _is_json({name: value})}


@dataclass(frozen=True, slots=True)
class Called:
    """One call of a tool, before it is decided."""

    tool: Tool
    call: ToolCall
    hidden: Mapping[str, Any]

    def decided(self, verdict: CheckResult, *, raises: bool) -> Approved | str:
        """What runs; or what is said in place of its result.

        Raises:
            ToolBlocked: with ``raises``, in place of what is said.
        """
        if not verdict.approved:
            if raises:
                raise ToolBlocked(self.tool.name, refusal(verdict), outcome=verdict.outcome.value)
            return verdict.as_tool_result()
        try:
            # These and no others: what was taken out of them must not run.
            return self.tool.with_arguments(verdict.arguments, self.hidden)
        except TypeError as error:
            reason = f"it cannot be called as approved: {error}"
            if raises:
                raise ToolBlocked(self.tool.name, reason, outcome=verdict.outcome.value) from error
            return f"The call of {self.tool.name} did not run: {reason}."


def refusal(verdict: CheckResult) -> str:
    """Why a call did not run, in few words: the reason given, else how its question ended."""
    return verdict.why() or _ENDED[verdict.outcome]


_ENDED = {
    Outcome.APPROVED: "",
    Outcome.DENIED: "it was denied",
    Outcome.ANSWERED: "the answer was not an approval",
    Outcome.EXPIRED: "nobody answered in time",
    Outcome.CANCELLED: "the question was cancelled",
    Outcome.UNDELIVERABLE: "nobody could be asked",
}


def first_line(function: Callable[..., Any]) -> str:
    """The first line of a function's docstring: what a card says the tool does."""
    return (inspect.getdoc(function) or "").partition("\n")[0]


def _unpacked(
    function: Callable[..., Any],
) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
    """The function itself, and the arguments that it was given already."""
    given: tuple[Any, ...] = ()
    named: dict[str, Any] = {}
    while isinstance(function, functools.partial):
        given, named = (*function.args, *given), {**function.keywords, **named}
        function = function.func
    return function, given, named


def _owner_of(function: Callable[..., Any], signature: inspect.Signature) -> str:
    """The parameter of a method that takes its object or its class; empty for other functions."""
    scope, _, _ = getattr(function, "__qualname__", "").rpartition(".")
    first = next(iter(signature.parameters), "")
    in_a_class = bool(scope) and not scope.endswith("<locals>")
    is_bound = inspect.ismethod(function)
    return first if in_a_class and not is_bound and first in ("self", "cls") else ""


def _is_json(arguments: Mapping[str, Any]) -> bool:
    try:
        as_json(arguments)
    except InvalidCallError:
        return False
    return True
