"""Why a policy wants a person: on the card, in the event and in the audit."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from support.outbox import next_request

from sayso import Chain, Decision, Gate, Policy, PolicyContext, RulePolicy, RunRef, ToolCall
from sayso.events import PermissionRequestEvent
from sayso.questions.permission import LONGEST_TOLD
from sayso.questions.wire import decode, encode
from sayso.stores.backend import Backend

CALL = ToolCall("pay", {"euros": 3000})
WHY = "more than 1000 euros"


def too_much(call: ToolCall, context: PolicyContext) -> Decision:
    return Decision.ASK.because(WHY)


def says_nothing(call: ToolCall, context: PolicyContext) -> None:
    return None


def rewrites(call: ToolCall, context: PolicyContext) -> dict[str, object]:
    return {"euros": 2000}


@asynccontextmanager
async def asked(backend: Backend, policy: Policy | None) -> AsyncIterator[PermissionRequestEvent]:
    async with Gate.open(backend, run=RunRef("shop", "s-1"), policy=policy) as gate:
        waiting = asyncio.create_task(gate.check(CALL))
        yield await next_request(backend)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)


async def facts(backend: Backend, policy: Policy | None) -> dict[str, str]:
    async with asked(backend, policy) as request:
        return dict(request.card().facts)


async def test_the_reason_of_an_ask_is_on_the_card_in_the_event_and_in_the_audit(
    backend: Backend,
) -> None:
    async with asked(backend, too_much) as request:
        assert request.asked_because == WHY
        assert dict(request.card().facts)["Asked because"] == WHY
        assert decode(encode(request)) == request
        assert b'"askedBecause":"more than 1000 euros"' in encode(request)
        (entry,) = await backend.audit.read(9)

    assert (entry.kind, entry.reason) == ("asked", WHY)
    # It is why it was asked, and no reason of how it ended.
    assert [one.reason for one in await backend.audit.read(9)] == [WHY, "the agent stopped waiting"]


async def test_the_reason_of_an_ask_comes_through_a_chain(backend: Backend) -> None:
    assert (await facts(backend, Chain(says_nothing, rewrites, too_much)))["Asked because"] == WHY


async def test_where_a_person_is_asked_because_nothing_else_was_said_no_card_says_so(
    backend: Backend,
) -> None:
    for policy in (None, RulePolicy(), says_nothing, Chain(rewrites)):
        assert "Asked because" not in await facts(backend, policy)
    assert {one.reason for one in await backend.audit.read(1)} == {"the agent stopped waiting"}


async def test_the_reason_of_an_ask_is_data_with_an_end_and_without_secrets(
    backend: Backend,
) -> None:
    key = "ghp_" + "a1" * 18

    def talkative(call: ToolCall, context: PolicyContext) -> Decision:
        return Decision.ASK.because(f"it has {key}\nAllowed by: alice\u202e" + "x" * 5000)

    told = (await facts(backend, talkative))["Asked because"]
    entry = (await backend.audit.read(2))[0]

    for text in (told, entry.reason):
        assert key not in text
        assert "\n" not in text
        assert "\u202e" not in text
        assert len(text) <= LONGEST_TOLD
