"""Functions whose every call passes a check first."""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Generator
from contextlib import aclosing
from typing import Any, ParamSpec, TypeAlias, TypeVar

from sayso.agent.tools.tool import Kind, Tool
from sayso.agent.verdict import CheckResult
from sayso.errors import ConfigError

GUARDED = "__sayso_guarded__"
"""The mark of functions whose calls pass a check already."""

_P = ParamSpec("_P")
_T = TypeVar("_T")

Guarded: TypeAlias = Callable[_P, Coroutine[Any, Any, _T | str]]
"""A function behind a check: async, and its result is text where the call did not run."""


Check: TypeAlias = Callable[..., Awaitable[CheckResult]]
"""``check`` of a gate: ``async check(call, *, description=…, declaration=…)``."""

CheckAtOnce: TypeAlias = Callable[..., CheckResult]
"""The same for code that is not async."""


def guarded(check: Check, function: Any, *, raises: bool = False, name: str | None = None) -> Any:
    """The function, run only when the check approves; otherwise its result says what happened.

    It is async, whatever the function is; an async generator stays one. With ``raises``
    ToolBlocked is raised in place of such a result.

    Raises:
        ConfigError: its calls pass a check already.
    """
    if isinstance(function, classmethod | staticmethod):
        inner = guarded(check, function.__func__, raises=raises, name=name)
        return type(function)(inner)
    tool = _unguarded(function, name)
    if tool.kind is Kind.ASYNC_GENERATOR:
        return _dressed(_generating_later(tool, check, raises), function, tool)
    return _dressed(_async(tool, check, raises), function, tool)


def guarded_alike(
    check: Check,
    check_at_once: CheckAtOnce,
    function: Any,
    *,
    raises: bool = False,
    name: str | None = None,
) -> Any:
    """As ``guarded``, but a function that is not async, or a generator, stays what it is.

    Raises:
        ConfigError: as for ``guarded``.
    """
    if isinstance(function, classmethod | staticmethod):
        inner = guarded_alike(check, check_at_once, function.__func__, raises=raises, name=name)
        return type(function)(inner)
    tool = _unguarded(function, name)
    if tool.kind is Kind.GENERATOR:
        return _dressed(_generating(tool, check_at_once, raises), function, tool)
    if tool.kind is Kind.PLAIN:
        return _dressed(_plain(tool, check_at_once, raises), function, tool)
    return guarded(check, function, raises=raises, name=name)


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


def _unguarded(function: Callable[..., Any], name: str | None) -> Tool:
    tool = Tool(function, name)
    refuse_guarded(tool.name, tool.function)
    return tool


def _dressed(run: Any, function: Callable[..., Any], tool: Tool) -> Any:
    """The function that runs it, with its name, its docstring and its signature."""
    functools.update_wrapper(run, tool.function)
    if tool.function is not function:  # a partial: fewer arguments are left to be given
        run.__signature__ = inspect.signature(function)
    setattr(run, GUARDED, True)
    return run


def _async(tool: Tool, check: Check, raises: bool) -> Callable[..., Any]:
    async def run(*args: Any, **kwargs: Any) -> Any:
        called = tool.called(args, kwargs)
        said = called.decided(await check(called.call, **tool.how), raises=raises)
        return said if isinstance(said, str) else await result_of(said())

    return run


def _plain(tool: Tool, check: CheckAtOnce, raises: bool) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        called = tool.called(args, kwargs)
        said = called.decided(check(called.call, **tool.how), raises=raises)
        return said if isinstance(said, str) else said()

    return run


def _generating(tool: Tool, check: CheckAtOnce, raises: bool) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        called = tool.called(args, kwargs)
        said = called.decided(check(called.call, **tool.how), raises=raises)
        if isinstance(said, str):
            yield said
            return None
        return (yield from said())

    return run


def _generating_later(tool: Tool, check: Check, raises: bool) -> Callable[..., Any]:
    async def run(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        called = tool.called(args, kwargs)
        said = called.decided(await check(called.call, **tool.how), raises=raises)
        if isinstance(said, str):
            yield said
            return
        async with aclosing(said()) as items:
            async for item in items:
                yield item

    return run
