"""The endpoints of adapters: ask, look, withdraw, use what was approved, and say how it went."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

from aiohttp import web

from sayso.calls import RunRef
from sayso.clock import Clock
from sayso.desk.routes import Routes
from sayso.errors import DuplicateRequestError, RequestNotFoundError, StoreUnreachableError
from sayso.policy.server_policy import ServerPolicy
from sayso.questions.permission import PermissionRequestEvent
from sayso.stores.backend import Backend
from sayso.stores.ports import BookChanged, Record, Report, Sequel, Use, Went
from sayso_bots.aap.bodies import (
    beside,
    check_fields,
    idempotency_key,
    read_object,
    text_in,
    without_body,
)
from sayso_bots.aap.door import Door, id_in, no_such_request
from sayso_bots.aap.errors import AapError, conflict, invalid, json_response
from sayso_bots.aap.instances import Instance, Instances, other_call
from sayso_bots.aap.requests import (
    APPROVED,
    KEEP,
    QUEUE,
    Kept,
    kept_in,
    permission_of,
    status_of,
    told,
    valid_until,
    with_life,
)
from sayso_bots.aap.submissions import (
    FIELDS,
    NEEDED,
    Submission,
    read_submission,
    read_timeout,
)
from sayso_bots.api.policy import denied_by_now, opened_or_decided
from sayso_bots.api.polls import LONGEST_WAIT, Polls
from sayso_bots.settings.aap import AapSettings

LONGEST_NOTE = 1_000
_MOST_LOOKS = 10
_WENT: dict[str, Went] = {"succeeded": "succeeded", "failed": "failed"}
_WITHDRAWN = "the adapter withdrew it"


@dataclass(frozen=True, slots=True)
class Terms:
    """On which terms is decided: the server's policy, its routes, and the settings."""

    policy: ServerPolicy
    routes: Routes
    settings: AapSettings


class Asking:
    """What an instance does with its token. Another's requests are as good as none."""

    def __init__(
        self,
        backend: Backend,
        door: Door,
        instances: Instances,
        polls: Polls,
        terms: Terms,
        clock: Clock,
    ) -> None:
        self._backend = backend
        self._door = door
        self._instances = instances
        self._polls = polls
        self._terms = terms
        self._clock = clock

    async def ask(self, request: web.Request) -> web.Response:
        """``POST /v1/requests``."""
        instance = await self._door.instance(request)
        key = idempotency_key(request)
        found = await read_object(request, allowed=FIELDS, needed=NEEDED)
        submission = await beside(await request.read(), lambda: read_submission(found))
        request_id = self._instances.vault.request_id(instance.id, key)
        asked = permission_of(submission, instance, request_id)
        if (known := await self._record(request_id, asked.run)) is not None:
            return await self._repeated(*known, submission)
        self._door.asks(instance)
        route = self._terms.routes.find(asked)
        most = None if route is None or route.seconds is None else timedelta(seconds=route.seconds)
        lives = submission.timeout if most is None else min(submission.timeout, most)
        kept = Kept(
            instance.id,
            submission.text,
            submission.digest,
            lives,
            self._terms.settings.approval_valid,
        )
        is_new = await self._opened(with_life(asked, kept, self._clock()), lives)
        await self._unless_deleted(instance, request_id)
        record, stored = await self._known(request_id)
        if not is_new:
            return await self._repeated(record, stored, submission)
        return json_response(told(record, stored), 201)

    async def show(self, request: web.Request) -> web.Response:
        """``GET /v1/requests/{id}``, at once or when it ends."""
        instance = await self._door.instance(request)
        if (waits := request.query.getall("wait", [])) and len(waits) != 1:
            raise invalid("is given twice", param="wait")
        wait = min(read_timeout(waits[0], "wait").total_seconds(), LONGEST_WAIT) if waits else 0.0
        record, kept = await self._own(instance, request)
        if wait and record.ending is None:
            await self._polls.wait(request, instance.id, record, wait)
            record, kept = await self._own(instance, request)
        return json_response(told(record, kept), 200)

    async def withdraw(self, request: web.Request) -> web.Response:
        """``DELETE /v1/requests/{id}``."""
        instance = await self._door.instance(request)
        await without_body(request)
        record, kept = await self._own(instance, request)
        if record.ending is None:
            await self.cancel(record, _WITHDRAWN)
            record, kept = await self._own(instance, request)
        if status_of(record) != "cancelled":
            raise conflict("already_terminal", f"the request is already {status_of(record)}")
        return json_response(told(record, kept), 200)

    async def consume(self, request: web.Request) -> web.Response:
        """``POST /v1/requests/{id}/consume``: the one use of an approval."""
        instance = await self._door.instance(request)
        await without_body(request)
        key = hashlib.sha256(idempotency_key(request).encode()).hexdigest()
        record, kept = await self._own(instance, request)
        if not _is_used(record):
            if status_of(record) != APPROVED:
                raise conflict("not_approved", f"the request is {status_of(record)}")
            await self._instances.consumes(instance)
        use = await self._taken(record, kept, key)
        if use is None:
            raise conflict("approval_expired", "the approval was not used in time")
        if use.key != key:
            raise conflict("already_consumed", "the approval was used already")
        record, kept = await self._own(instance, request)
        return json_response(told(record, kept), 200)

    async def report(self, request: web.Request) -> web.Response:
        """``POST /v1/requests/{id}/outcome``: how the call went that ran on an approval."""
        instance = await self._door.instance(request)
        found = await read_object(request, allowed=("status", "note"), needed=("status",))
        check_fields(found, allowed=("status", "note"))
        went = _WENT.get(text_in(found, "status", most=LONGEST_NOTE))
        if went is None:
            raise invalid("must be succeeded or failed", param="status")
        note = text_in(found, "note", most=LONGEST_NOTE)
        record, kept = await self._own(instance, request)
        use = await self._backend.uses.report(record.request.question_id, went, note)
        if use is None:
            raise conflict("not_consumed", "the approval was not used yet")
        if not _says(use, went, note):
            raise conflict("outcome_conflict", "another outcome was reported already")
        record, kept = await self._own(instance, request)
        return json_response(told(record, kept), 200)

    async def cancel(self, record: Record, reason: str) -> None:
        """End an open request; one that has ended stays as it is."""
        ending = record.request.cancelled(at=self._clock(), reason=reason)
        await self._backend.store.settle(record.request.question_id, ending)

    async def _taken(self, record: Record, kept: Kept, key: str) -> Use | None:
        """Use the approval on the rules of this very moment, which is that of running.

        Raises:
            AapError: it is denied by now.
        """
        until = valid_until(record, kept) if status_of(record) == APPROVED else self._clock()
        for _ in range(_MOST_LOOKS):
            book = None if _is_used(record) else await self._unless_denied(record)
            use = await self._backend.uses.take(
                record.request.question_id, key, until=until, book=book
            )
            if not isinstance(use, BookChanged):
                return use
        raise StoreUnreachableError("the session's rules kept changing: nothing was used")

    async def _unless_denied(self, record: Record) -> str:
        """The version of the rules, none of which denies by now what was approved.

        Raises:
            AapError: one does. The decision stays what it was: it is told once and for all.
        """
        request = record.request
        if not isinstance(request, PermissionRequestEvent):
            raise no_such_request()
        denial, book = await denied_by_now(
            self._backend, self._terms.policy, request, self._clock, ending=record.ending
        )
        if denial is not None:
            raise conflict("not_approved", f"approved, then denied: {denial.reason}")
        return book

    async def _repeated(self, record: Record, kept: Kept, submission: Submission) -> web.Response:
        """How things stand with what was asked before; no approval that is denied by now."""
        if kept.digest != submission.digest:
            raise other_call()
        if status_of(record) == APPROVED and not _is_used(record):
            await self._unless_denied(record)
        return json_response(told(record, kept), 200)

    async def _opened(self, asked: PermissionRequestEvent, lives: timedelta) -> bool:
        """Open it, or record what a rule says of it; False where it was there already."""
        backend, policy, sequel = self._backend, self._terms.policy, Sequel(QUEUE, KEEP)
        try:
            await opened_or_decided(backend, policy, asked, self._clock, sequel=sequel, lives=lives)
        except DuplicateRequestError:
            return False
        return True

    async def _unless_deleted(self, instance: Instance, request_id: str) -> None:
        """Withdraw what was asked while its instance was deleted, which did not see it."""
        now = await self._instances.find(instance.id)
        if now is None or now.deleted_at is not None:
            record, _ = await self._known(request_id)
            await self.cancel(record, "its instance is deleted")
            raise AapError(401, "invalid_token", "this token is revoked")

    async def _own(self, instance: Instance, request: web.Request) -> tuple[Record, Kept]:
        found = await self._record(id_in(request))
        if found is None or found[1].instance_id != instance.id:
            raise no_such_request()
        return found

    async def _known(self, request_id: str) -> tuple[Record, Kept]:
        found = await self._record(request_id)
        if found is None:
            raise no_such_request()
        return found

    async def _record(
        self, request_id: str, run: RunRef | None = None
    ) -> tuple[Record, Kept] | None:
        """The request as it stands; one whose time is over has ended, also if nobody saw to it.

        Where it is asked again, its ``run`` says where to look.
        """
        backend = self._backend if run is None else self._backend.at(run)
        record = await backend.store.get(request_id) if request_id else None
        if record is not None and record.ending is None and record.seconds_left <= 0:
            expired = record.request.expired(at=self._clock())
            with suppress(RequestNotFoundError):
                await self._backend.store.settle(request_id, expired)
            record = await self._backend.store.get(request_id)
        kept = None if record is None else kept_in(record)
        return None if record is None or kept is None else (record, kept)


def _is_used(record: Record) -> bool:
    return record.use is not None and record.use.at is not None


def _says(use: Use, went: Went, note: str) -> bool:
    report: Report | None = use.report
    return report is not None and (report.went, report.note) == (went, note)
