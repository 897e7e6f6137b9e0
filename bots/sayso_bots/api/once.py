"""The header under which a request is asked once, and what was asked under it before."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial

from aiohttp import web

from sayso.calls import RunRef
from sayso.clock import Clock
from sayso.events import Outcome
from sayso.policy.server_policy import ServerPolicy
from sayso.questions.permission import PermissionRequestEvent
from sayso.questions.permission_answer import PermissionResponseEvent
from sayso.stores.backend import Backend
from sayso.stores.branch_log import branch_of
from sayso.stores.protocols import Hold, Record, check_key
from sayso_bots.api.bodies import beside
from sayso_bots.api.policy import denied_by_now
from sayso_bots.api.problems import ApiProblem
from sayso_bots.api.requests import Draft

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
