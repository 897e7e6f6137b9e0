"""Runs that are put aside while people are asked: what is asked of them, and how they go on."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from langgraph.types import Command, Interrupt
from pydantic import ValidationError

from sayso.agent.batch import side_by_side
from sayso.calls import ToolCall
from sayso.errors import ConfigError, InvalidCallError
from sayso_agents.calls import Said, asked, bind_run, failed, said_of
from sayso_agents.langchain.asking import Asking
from sayso_agents.langchain.middleware import OURS

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.pregel.protocol import PregelProtocol

    from sayso import Gate

    _Graph: TypeAlias = PregelProtocol[Any, Any, Any, Any]

_THEIRS = "tool_approval"
_SEVERAL = "action_requests"
_STOPPED = "the agent stopped waiting"


async def ainvoke(
    sayso: Gate,
    graph: _Graph,
    input: Any,  # noqa: A002 -- as LangGraph calls it
    config: RunnableConfig | None = None,
    **more: Any,
) -> Any:
    """``graph.ainvoke``; whenever the run is put aside for an approval, wait for it and go on.

    To cancel this withdraws what is asked. Interrupts of your own are in the result, as ever.

    Raises:
        ConfigError: LangChain's own middleware asks about calls in one, without their ids.
    """
    result = await graph.ainvoke(input, config, **more)
    return await _gone_on(sayso, graph, result, config, more)


async def submit(sayso: Gate, graph: _Graph, config: RunnableConfig) -> list[str]:
    """Ask about each call that a run was put aside for, once, and do not wait.

    The ids of the questions that need a person; what needs none is decided by ``resume``.

    Raises:
        ConfigError: as for ``ainvoke``.
    """
    state = await graph.aget_state(config)
    waits = _waits(sayso, state.interrupts, config)
    ids = [await wait.submitted(sayso) for wait in waits]
    return [one for one in ids if one is not None]


async def resume(sayso: Gate, graph: _Graph, config: RunnableConfig, **more: Any) -> Any:
    """Go on with a run that was put aside or broke off, in any process: wait, and run to the end.

    When it is cancelled, or the store is away, nothing is withdrawn: it can be done again.
    Of a run that is over, this gives the state.

    Raises:
        ConfigError: as for ``ainvoke``.
        StoreUnreachableError: the answers cannot be read.
    """
    state = await graph.aget_state(config)
    result: Any = {**state.values, "__interrupt__": state.interrupts}
    if not state.interrupts:
        if not state.next:
            return state.values
        result = await graph.ainvoke(None, config, **more)
    return await _gone_on(sayso, graph, result, config, more, patient=True)


async def _gone_on(
    sayso: Gate,
    graph: _Graph,
    result: Any,
    config: RunnableConfig | None,
    more: dict[str, Any],
    *,
    patient: bool = False,
) -> Any:
    while waits := _waits(sayso, _interrupts(result), config):
        answers = await side_by_side([wait.answer(sayso, patient=patient) for wait in waits])
        ids = [wait.id for wait in waits]
        try:
            result = await _resumed(graph, ids, [one.said for one in answers], config, more)
        except ValidationError:
            # LangChain takes no edit that does not fit the tool, and has kept none of the answers.
            if not any(one.edited for one in answers):
                raise
            result = await _resumed(graph, ids, [one.plain for one in answers], config, more)
    return result


async def _resumed(
    graph: _Graph,
    ids: list[str],
    answers: list[object],
    config: RunnableConfig | None,
    more: dict[str, Any],
) -> Any:
    answered: Command[Any] = Command(resume=dict(zip(ids, answers, strict=True)))
    return await graph.ainvoke(answered, config, **more)


def _interrupts(result: Any) -> Iterable[Interrupt[Any]]:
    """The interrupts that a run ended with, in either form that LangGraph has for results."""
    if isinstance(result, dict):
        found: Iterable[Interrupt[Any]] = result.get("__interrupt__", ())
        return found
    return getattr(result, "interrupts", ())


def _waits(
    sayso: Gate, interrupts: Iterable[Interrupt[Any]], config: RunnableConfig | None
) -> list[_Ours | _Theirs]:
    """Those that wait for an approval; the others are somebody else's."""
    waits: list[_Ours | _Theirs] = []
    for one in interrupts:
        value = one.value if isinstance(one.value, dict) else {}
        if value.get("type") == OURS:
            waits.append(_Ours(one.id, value["permission_id"], value["session_id"]))
        elif value.get("type") == _THEIRS:
            waits.append(_theirs(sayso, one, value, config))
        elif _SEVERAL in value:
            raise ConfigError(
                "HumanInTheLoopMiddleware asks about several calls in one, without their ids: "
                "give it interrupt_mode='per_call', or use SaysoMiddleware instead"
            )
    return waits


@dataclass(frozen=True, slots=True)
class _Answer:
    """What an interrupt is answered with; ``plain`` is the same without an edit."""

    said: object
    plain: object
    edited: bool = False


@dataclass(frozen=True, slots=True)
class _Ours:
    """An interrupt of ``SaysoMiddleware``: the question is asked, and the store has its answer."""

    id: str
    permission_id: str
    session: str

    async def submitted(self, _: Gate) -> str | None:
        """The id of the question."""
        return self.permission_id

    async def answer(self, sayso: Gate, *, patient: bool) -> _Answer:
        """Given when the question has ended: the middleware looks up how, and fails closed."""
        try:
            await sayso.for_session(self.session).resume(self.permission_id)
        except asyncio.CancelledError:
            if not patient:
                gate = sayso.for_session(self.session)
                await gate.cancel(self.permission_id, reason=_STOPPED)
            raise
        except Exception:
            if patient:
                raise
        return _Answer(OURS, OURS)


@dataclass(frozen=True, slots=True)
class _Theirs:
    """LangChain's own middleware asks about a call; ``allowed`` are the decisions it takes."""

    id: str
    asking: Asking
    allowed: frozenset[str]

    async def submitted(self, _: Gate) -> str | None:
        """The id of the question, if there is one."""
        submitted = await self.asking.run().submit(self.asking.call, **self.asking.how)
        return submitted if isinstance(submitted, str) else None

    async def answer(self, sayso: Gate, *, patient: bool) -> _Answer:
        """The decision, as soon as there is one."""
        call, asking = self.asking.call, self.asking
        tool = call.name
        if patient:
            try:
                await self.submitted(sayso)  # and so it stays open when nobody waits for it
                said = said_of(await asking.run().check(call, **asking.how), call)
            except InvalidCallError as error:
                said = failed(tool, error)
        else:
            said = await asked(
                tool, lambda: call, lambda call: asking.run().check(call, **asking.how)
            )
        plain = self._decision(said.unedited(tool))
        if not said.edited or "edit" not in self.allowed:
            return _Answer(plain, plain)
        return _Answer(self._edit(said), plain, edited=True)

    def _decision(self, said: Said) -> dict[str, Any]:
        if said.arguments is None:
            return {"type": "reject", "message": said.text}
        return {"type": "approve"} if "approve" in self.allowed else self._edit(said)

    def _edit(self, said: Said) -> dict[str, Any]:
        action = {"name": self.asking.call.name, "args": said.arguments}
        return {"type": "edit", "edited_action": action}


def _theirs(
    sayso: Gate, one: Interrupt[Any], value: dict[str, Any], config: RunnableConfig | None
) -> _Theirs:
    thread = (config or {}).get("configurable", {}).get("thread_id")
    call = ToolCall(value["name"], value["args"], value["tool_call_id"])
    asking = Asking(call, bind_run(sayso, lambda: thread), f"{one.id}/{call.call_id}")
    return _Theirs(one.id, asking, frozenset(_constants(one.response_schema)))


def _constants(schema: object) -> Iterator[str]:
    """The constants in a JSON Schema: in that of a decision, the types it may have."""
    if isinstance(schema, dict):
        if isinstance(constant := schema.get("const"), str):
            yield constant
        schema = list(schema.values())
    if isinstance(schema, list):
        for part in schema:
            yield from _constants(part)
