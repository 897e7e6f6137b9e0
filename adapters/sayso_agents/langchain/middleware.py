"""A middleware of LangChain that stands between an agent and its tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.messages import ToolMessage
from langgraph.errors import GraphInterrupt
from langgraph.types import Command, interrupt

from sayso.calls import RunRef, ToolCall
from sayso.errors import ConfigError
from sayso_agents.calls import Said, asked, failed, said_of
from sayso_agents.langchain.asking import Asking, asking_of, inside
from sayso_agents.used import Used

if TYPE_CHECKING:
    from sayso import Gate

OURS = "sayso"
"""The type of the interrupts that this middleware makes."""

_T = TypeVar("_T")
_Result: TypeAlias = ToolMessage | Command[Any]


class SaysoMiddleware(AgentMiddleware[Any, Any, Any]):
    """Every call of a tool passes Sayso first: people are asked where the policy says so.

    A call runs with the arguments that were approved, or the model is told why it did
    not run; whatever fails on the way is such a no. List it last: what other middleware
    changes between it and the tool was shown to nobody.

    With ``suspend`` a run ends with an interrupt while people are asked, which needs a
    checkpointer; otherwise the call waits. Either way a call is asked about once, also
    when its node runs again. Once its tool has run, another run of it is asked about anew.
    """

    def __init__(self, sayso: Gate, *, suspend: bool = False) -> None:
        super().__init__()
        self._sayso = sayso
        self._suspend = suspend
        self._used = Used()

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], _Result]
    ) -> _Result:
        """Run the call if it is approved."""
        said, key = _at_once(self._let_through(request, _Blocking(self._sayso)))
        if said.arguments is None:
            return _refusal(request, said)
        with inside(request), self._running(key):
            return _told(said, handler(_with(request, said.arguments)))

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[_Result]]
    ) -> _Result:
        """Run the call if it is approved."""
        said, key = await self._let_through(request, self._sayso)
        if said.arguments is None:
            return _refusal(request, said)
        with inside(request), self._running(key):
            return _told(said, await handler(_with(request, said.arguments)))

    @contextmanager
    def _running(self, key: str) -> Iterator[None]:
        """In the block the tool runs; if it interrupts the run, it runs again for the same call."""
        try:
            yield
        except GraphInterrupt:
            self._used.release(key)
            raise

    async def _let_through(
        self, request: ToolCallRequest, sayso: Gate | _Blocking
    ) -> tuple[Said, str]:
        """What came of asking about the call, and the key that it may run under, once."""
        try:
            asking = asking_of(self._sayso, request)
        except Exception as error:
            return failed(request.tool_call["name"], error), ""
        return await self._used.once(
            asking.key, lambda key: self._said(request, replace(asking, key=key), sayso)
        )

    async def _said(
        self, request: ToolCallRequest, asking: Asking, sayso: Gate | _Blocking
    ) -> Said:
        if self._suspend:
            try:
                _check_alone(request)
                gate = sayso.for_session(asking.run().run)
                submitted = await gate.submit(asking.call, **asking.how)
                if not isinstance(submitted, str):
                    return said_of(submitted, asking.call)
            except Exception as error:
                return failed(asking.call.name, error)
            # It raises at first. What it gives when the node runs again decides nothing.
            interrupt({"type": OURS, "permission_id": submitted, **asking.shown})
        return await asked(
            asking.call.name,
            lambda: asking.call,
            lambda call: sayso.for_session(asking.run().run).check(call, **asking.how),
        )


def _told(said: Said, result: _Result) -> _Result:
    """The result, with a word about what ran if a person changed the call."""
    if not said.text or not isinstance(result, ToolMessage):
        return result
    content = result.content
    if isinstance(content, str):
        content = f"{said.text}\n\n{content}"
    else:
        content = [{"type": "text", "text": said.text}, *content]
    return result.model_copy(update={"content": content})


def _check_alone(request: ToolCallRequest) -> None:
    """See that the call is a task of its own.

    Raises:
        ConfigError: its node runs other calls, too, and would do so again at each interrupt.
    """
    path = request.runtime.config.get("metadata", {}).get("langgraph_path", ())
    if tuple(path)[:1] != ("__pregel_push",):
        raise ConfigError(
            "SaysoMiddleware suspends agents of create_agent only, where each call is a task of "
            "its own: leave suspend=True out, and the call waits"
        )


def _with(request: ToolCallRequest, arguments: dict[str, Any]) -> ToolCallRequest:
    return request.override(tool_call={**request.tool_call, "args": arguments})


def _refusal(request: ToolCallRequest, said: Said) -> ToolMessage:
    called = request.tool_call
    return ToolMessage(
        said.text, name=called["name"], tool_call_id=called["id"] or "", status="error"
    )


class _Blocking:
    """A handle for callers without an event loop: what is awaited is done at once."""

    def __init__(self, sayso: Gate) -> None:
        self._sayso = sayso

    def for_session(self, run: RunRef) -> _Blocking:
        return _Blocking(self._sayso.for_session(run))

    async def submit(self, call: ToolCall, **how: Any) -> object:
        return self._sayso.sync.submit(call, **how)

    async def check(self, call: ToolCall, **how: Any) -> object:
        return self._sayso.sync.check(call, **how)


def _at_once(work: Coroutine[Any, Any, _T]) -> _T:
    """What comes of work that blocks where others wait."""
    try:
        work.send(None)
    except StopIteration as done:
        result: _T = done.value
        return result
    raise AssertionError("it waited in another way than by blocking")
