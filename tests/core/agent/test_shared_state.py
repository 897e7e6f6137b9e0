"""A small state that the policies of a session share, across branches and processes."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import pytest

from sayso import Chain, Decision, Gate, PolicyContext, RunRef, ToolCall
from sayso.agent.tools.wrap import LocalGate
from sayso.stores.backend import Backend
from sayso.stores.connect import open_store
from sayso.stores.session_state import SessionState


async def budget(call: ToolCall, context: PolicyContext) -> Decision:
    """Ten euros for the session, whoever spends them; each call counts once."""
    assert context.state is not None
    euros = call.arguments["euros"]

    def counted(spent: dict[str, int] | None) -> dict[str, int]:
        known = spent or {}
        if call.call_id in known or sum(known.values()) + euros > 10:
            return known
        return {**known, call.call_id: euros}

    spent = await context.state.update("spent", counted)
    return Decision.ALLOW if call.call_id in spent else Decision.DENY


def pay(number: int, euros: int = 1) -> ToolCall:
    return ToolCall("pay", {"euros": euros}, call_id=f"c-{number}")


async def test_context_holds_a_state_that_branches_and_processes_of_a_session_share(
    store: str,
) -> None:
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(open_store(store))
        second = first
        if store != "memory://":
            second = await stack.enter_async_context(open_store(store))
        gates = [
            await stack.enter_async_context(Gate.open(backend, run=run, policy=budget))
            for backend in (first, second)
            for run in (RunRef("shop", "s-1"), RunRef("shop", "s-1", "branch"))
        ]
        other = await stack.enter_async_context(
            Gate.open(first, run=RunRef("shop", "s-2"), policy=budget)
        )

        verdicts = await asyncio.gather(
            *(gates[number % 4].check(pay(number)) for number in range(24))
        )

        assert sum(verdict.approved for verdict in verdicts) == 10
        assert (await other.check(pay(1, euros=10))).approved


class Frozen:
    """Denies what is frozen; with ``changes`` its denial does more than look."""

    def __init__(self, *, changes: bool = False) -> None:
        self._changes = changes

    def decide(self, call: ToolCall, context: PolicyContext) -> Decision:
        return Decision.ALLOW

    async def denial(self, call: ToolCall, context: PolicyContext) -> Decision | None:
        assert context.state is not None
        if self._changes:
            await context.state.set("frozen", False)
        frozen = await context.state.get("frozen", False)
        return Decision.DENY.because("frozen") if frozen else None


async def test_a_denial_may_look_at_the_state_and_change_nothing(backend: Backend) -> None:
    async def freezes(call: ToolCall, context: PolicyContext) -> Decision:
        assert context.state is not None
        await context.state.set("frozen", True)
        return Decision.DENY

    run = RunRef("shop", "s-1")
    async with (
        Gate.open(backend, run=run, policy=Frozen()) as gate,
        Gate.open(backend, run=run, policy=freezes) as other,
        Gate.open(backend, run=run, policy=Chain(Frozen(changes=True))) as changing,
    ):
        assert (await gate.before_function(ToolCall("pay", call_id="c-1"))).approved
        await other.check(ToolCall("freeze"))
        # Approved before, and denied by now.
        assert (await gate.before_function(ToolCall("pay", call_id="c-1"))).reason == "frozen"
        refused = await changing.check(ToolCall("pay"))

    assert "raised TypeError" in refused.reason
    assert await SessionState(backend.key_value).recall(run, "frozen") == "true"


async def test_what_does_not_fit_into_the_state_denies_with_a_reason(backend: Backend) -> None:
    async def greedy(call: ToolCall, context: PolicyContext) -> Decision:
        assert context.state is not None
        await context.state.set("all", "x" * 20_000)
        return Decision.ALLOW

    async with Gate.open(backend, run=RunRef("shop", "s-1"), policy=greedy) as gate:
        verdict = await gate.check(ToolCall("pay"))

    assert not verdict.approved
    assert "'all' does not fit into the session's state" in verdict.reason


@pytest.mark.parametrize("wrong", [float("nan"), object(), {1, 2}])
async def test_what_is_no_json_is_not_kept_and_denies(backend: Backend, wrong: object) -> None:
    async def odd(call: ToolCall, context: PolicyContext) -> Decision:
        assert context.state is not None
        await context.state.set("odd", wrong)
        return Decision.ALLOW

    async with Gate.open(backend, run=RunRef("shop", "s-1"), policy=odd) as gate:
        assert not (await gate.check(ToolCall("pay"))).approved

    assert await SessionState(backend.key_value).recall(RunRef("shop", "s-1"), "odd") is None


async def test_without_a_store_there_is_no_state() -> None:
    async def looks(call: ToolCall, context: PolicyContext) -> Decision:
        return Decision.ALLOW if context.state is None else Decision.DENY

    assert (await LocalGate(looks).check(ToolCall("pay"))).approved
