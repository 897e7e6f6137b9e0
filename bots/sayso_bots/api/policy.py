"""Requests opened on the policy of the settings, once under an idempotency key."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime
from functools import partial

from aiohttp import web

from sayso.agent.decider import Asker, Decider
from sayso.agent.unasked import Unasked
from sayso.agent.verdict import decided as verdict_by
from sayso.calls import RunRef
from sayso.clock import Clock
from sayso.events import Outcome, Resolution, UserInputRequest, UserInputResponse
from sayso.policy.decision import Decision, Ruling
from sayso.policy.server_policy import ServerPolicy
from sayso.questions.permission import PermissionRequestEvent, call_of, calls_of
from sayso.questions.permission_answer import PermissionResponseEvent
from sayso.stores.backend import Backend
from sayso.stores.branch_log import branch_of
from sayso.stores.protocols import BookChanged, Hold, Joined, Record, check_key
from sayso.stores.session_state import SessionState
from sayso_bots.api.bodies import beside
from sayso_bots.api.problems import ApiProblem
from sayso_bots.api.requests import Draft


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
    # What needs nobody is audited by whoever decides it.
    open_request = partial(backend.store.open, seconds=seconds, inbox="", key=key, audited=False)
    if not isinstance(request, PermissionRequestEvent):
        opened = await open_request(request, book=None)
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
        opened = await open_request(asked, book=held, ending=said)
        if isinstance(opened, Joined):
            return opened
        if not isinstance(opened, BookChanged):
            return said
        decision, book = await _decided_anew(decider, request, asker, decision)


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


HEADER = "Idempotency-Key"
_QUOTED = re.compile(r'"((?:[^"\\]|\\["\\])*+)"')
_ESCAPED = re.compile(r'\\(["\\])')


def key_of(request: web.Request) -> str:
    """The key that a call is sent with, in quotes or bare; empty where there is none.

    Raises:
        ApiProblem: it cannot be a key.
    """
    given = request.headers.getall(HEADER, [])
    if not given:
        return ""
    written = given[0].strip()
    if (quoted := _QUOTED.fullmatch(written)) is not None:
        written = _ESCAPED.sub(r"\1", quoted[1])
    try:
        if len(given) > 1:
            raise ValueError("there is more than one")  # noqa: TRY301
        return check_key(written)
    except ValueError as error:
        raise ApiProblem(400, "InvalidIdempotencyKey", f"{HEADER}: {error}") from None


class AskedOnce:
    """Finds what a session asked under a key, as its rules say by now."""

    def __init__(self, backend: Backend, policy: ServerPolicy, clock: Clock) -> None:
        self._backend = backend
        self._policy = policy
        self._clock = clock

    async def find(
        self, request: web.Request, run: RunRef, key: str, draft: Draft
    ) -> Record | None:
        """The request that was asked under the key; None where there is none.

        What is denied by now is recorded as denied, as at a gate.

        Raises:
            ApiProblem: something else was asked under it.
        """
        if (record := await self._backend.store.get_by_key(run, key)) is None:
            return None
        same = await beside(request, partial(draft.asks_the_same_as, record.request))
        if not same or branch_of(record.request.run) != branch_of(run):
            detail = "this key was used for another request; a new request needs a new key"
            raise ApiProblem(422, "IdempotencyKeyReused", detail)
        # Whoever asks over HTTP comes back for the answer.
        record = await self._backend.store.get_by_key(run, key, hold=Hold())
        return None if record is None else await self._as_of_now(record)

    async def _as_of_now(self, record: Record) -> Record:
        request, ending = record.request, record.ending
        if not isinstance(request, PermissionRequestEvent):
            return record
        if ending is not None and ending.outcome is not Outcome.APPROVED:
            return record
        backend, policy = self._backend, self._policy
        denial, _ = await denied_by_now(backend, policy, request, self._clock, ending=ending)
        if denial is None:
            return record
        at, question_id = self._clock(), request.permission_id
        if isinstance(ending, PermissionResponseEvent):
            reason = f"approved by {ending.decided_by}, then denied: {denial.reason}"
            overruled = ending.denied(reason=reason, line=denial.line, at=at)
            counts = await self._backend.store.overrule(question_id, overruled)
        else:
            denied = request.denied(reason=denial.reason, line=denial.line, at=at)
            counts = (await self._backend.store.settle(question_id, denied)).ending
        return replace(record, ending=counts)
