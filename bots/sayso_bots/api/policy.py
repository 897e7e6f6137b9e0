"""Calls that need no person: the policy of the settings and what the session remembers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from sayso.agent.decider import Asker, Decider
from sayso.agent.unasked import Unasked
from sayso.agent.verdict import decided as verdict_by
from sayso.clock import Clock
from sayso.events import Resolution, UserInputRequest, UserInputResponse
from sayso.policy.decision import Decision, Ruling
from sayso.policy.server_policy import ServerPolicy
from sayso.questions.permission import PermissionRequestEvent, call_of, calls_of
from sayso.questions.permission_answer import PermissionResponseEvent
from sayso.stores.backend import Backend
from sayso.stores.protocols import BookChanged, Joined, Opened
from sayso.stores.session_state import SessionState


async def opened_or_decided(
    backend: Backend,
    policy: ServerPolicy,
    request: UserInputRequest,
    clock: Clock,
    *,
    key: str = "",
) -> UserInputResponse | Joined | None:
    """Open the request, unless a rule answers it: then the response, and nobody is asked.

    As at a gate, a request is opened, and an approval recorded, only on the rules of the
    session that the policy saw. What a rule answers is recorded, and with that it is over; the
    rule is counted as used, logged and, where its section says so, audited.
    What is denied of a call as it was made first is denied of what became of it.
    What was asked under the ``key`` before is joined.

    Raises:
        IdempotencyConflictError: another request has this id.
        RequestUnansweredError: its agent or its token has as many open requests as the
            server allows.
        StoreUnreachableError: the store does not answer; nothing was decided.
    """
    seconds = (request.expires_at - clock()).total_seconds()
    opening = _Opening(backend, seconds, key)
    if not isinstance(request, PermissionRequestEvent):
        opened = await opening.open(request, book=None)
        return opened if isinstance(opened, Joined) else None
    audits = policy.audits(request.run.agent_id, request.function_name)
    decider = Decider(
        backend.rules, SessionState(backend.key_value), policy, request.run, nobody, clock
    )
    unasked = Unasked(request.run, backend.audit if audits else None)
    call, asker = call_of(request), Asker(request.source_name, request.path)
    # Whoever edits the call is held to these rules, too.
    request = request.model_copy(update={"deny_rules": await decider.deny_rules(asker, call)})
    decision, book = await _decided(decider, request, asker)
    told: Decision | None = None
    while True:
        said: UserInputResponse | None = None
        if decision.ruling is not Ruling.ASK:
            said = _said_by(decision, request, clock())
            if decision is not told:
                await unasked.tell(call, verdict_by(call, decision))
                told = decision
        asked = request.model_copy(update={"asked_because": decision.told_because})
        held = None if decision.ruling is Ruling.DENY else book
        opened = await opening.open(asked, book=held, ending=said)
        if isinstance(opened, Joined):
            return opened
        if not isinstance(opened, BookChanged):
            return said
        decision, book = await _decided_anew(decider, request, asker, decision)


@dataclass(frozen=True, slots=True)
class _Opening:
    """How a request is opened, whatever is said of it."""

    backend: Backend
    seconds: float
    key: str

    async def open(
        self,
        request: UserInputRequest,
        *,
        book: str | None,
        ending: UserInputResponse | None = None,
    ) -> Opened | BookChanged | Joined:
        """Open it, on the rules of this version unless that is None."""
        # What needs nobody is audited by whoever decides it.
        return await self.backend.store.open(
            request,
            seconds=self.seconds,
            inbox="",
            book=book,
            ending=ending,
            key=self.key,
            audited=False,
        )


async def _decided_anew(
    decider: Decider, request: PermissionRequestEvent, asker: Asker, before: Decision
) -> tuple[Decision, str]:
    """What the rules say by now, that are others than those of the first decision."""
    await decider.refresh()
    if before.ruling is not Ruling.ALLOW:
        return await _decided(decider, request, asker)
    # What may be allowed once is used up by now: only a denial counts anew.
    denial, book = await decider.standing(asker, *calls_of(request))
    return denial or before, book


async def _decided(
    decider: Decider, request: PermissionRequestEvent, asker: Asker
) -> tuple[Decision, str]:
    """What the rules say of the call, and the version of those of the session."""
    decided = await decider.decide(call_of(request), asker)
    decision = decided.decision
    if request.original_arguments is not None:
        denial, _ = await decider.standing(asker, *calls_of(request))
        decision = denial or decision
    return decision, decided.book


async def denied_by_now(
    backend: Backend,
    policy: ServerPolicy,
    request: PermissionRequestEvent,
    clock: Clock,
    *,
    ending: Resolution | None,
) -> tuple[Decision | None, str]:
    """What denies by now a call that is open or was approved, and the version of the rules so.

    Denials of the server count, the floor and what the session remembers: against what would
    run, what was shown, and the call as it was made.

    Raises:
        StoreUnreachableError: what the session remembers cannot be read.
    """
    calls = calls_of(request)
    if isinstance(ending, PermissionResponseEvent) and ending.modified_arguments is not None:
        calls = (replace(calls[0], arguments=ending.modified_arguments), *calls)
    decider = Decider(
        backend.rules, SessionState(backend.key_value), policy, request.run, nobody, clock
    )
    await decider.refresh()
    return await decider.standing(Asker(request.source_name, request.path), *calls)


def _said_by(
    decision: Decision, request: PermissionRequestEvent, at: datetime
) -> PermissionResponseEvent:
    """The answer that is a rule's, and no person's: who stored it said it of calls, not of this."""
    reason = decision.reason or decision.line
    if decision.ruling is not Ruling.ALLOW:
        return request.denied(reason=reason, line=decision.line, at=at)
    return request.approve(by="", at=at, reason=reason).model_copy(update={"decided_by": None})


async def nobody(request: UserInputRequest) -> Resolution:
    """A policy of the settings has no questions of its own."""
    raise TypeError(f"the policy of the settings asks nothing itself, not {request.subject!r}")
