"""What is decided of a call without a person, by the same order as a gate's."""

from __future__ import annotations

from typing import NoReturn

from sayso.agent.decider import Asker, Decider
from sayso.agent.unasked import Unasked
from sayso.agent.verdict import CheckResult, decided
from sayso.calls import RunRef, ToolCall
from sayso.clock import utc_now
from sayso.events import UserInputRequest
from sayso.policy.decision import Policy, Ruling
from sayso.stores.backend import Backend
from sayso.stores.session_state import SessionState


async def unasked(
    backend: Backend,
    run: RunRef,
    policy: Policy,
    call: ToolCall,
    *,
    source_name: str | None = None,
    audit_rules: bool = False,
) -> CheckResult | None:
    """The verdict where rules, or what the session remembers, decide; None where a person must.

    Raises:
        StoreUnreachableError: what the session remembers cannot be read now.
    """
    decider = Decider(backend.rules, SessionState(backend.key_value), policy, run, _nobody, utc_now)
    await decider.refresh()
    said = await decider.decide(call, Asker(run.agent_id if source_name is None else source_name))
    if said.decision.ruling is Ruling.ASK:
        return None
    tell = Unasked(run, backend.audit if audit_rules else None).tell
    return await tell(call, decided(call, said.decision))


async def _nobody(request: UserInputRequest) -> NoReturn:
    raise TypeError(f"a policy of settings asks nothing itself: {type(request).__name__}")
