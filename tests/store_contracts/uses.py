"""What all uses of approvals promise."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from sayso.errors import RequestNotFoundError
from sayso.questions.permission import PermissionRequestEvent
from sayso.stores.backend import Backend
from sayso.stores.protocols import Record, Use
from sayso.testing.builders import a_copy, a_request, a_response, soon


class UsesContract:
    """The promises of ``Uses``. Subclasses provide the ``backend`` fixture."""

    async def test_of_fifty_at_once_one_uses_an_approval(self, backend: Backend) -> None:
        request = await _ended(backend)

        uses = await asyncio.gather(
            *(
                backend.store.consume_approval(request.question_id, f"k{n}", until=_in_time())
                for n in range(50)
            )
        )

        winners = {use.key for use in uses if isinstance(use, Use)}
        assert len(winners) == 1
        assert len(uses) == 50
        record = await _record(backend, request)
        assert record.use is not None
        assert {record.use.key} == winners
        assert record.use.at is not None
        assert record.ended_at is not None
        assert record.use.at >= record.ended_at

    async def test_the_same_key_is_answered_alike_also_after_the_end(
        self, backend: Backend
    ) -> None:
        request = await _ended(backend)
        first = await backend.store.consume_approval(request.question_id, "k", until=_in_time())

        again = await backend.store.consume_approval(request.question_id, "k", until=_too_late())

        assert first is not None
        assert again == first

    async def test_an_approval_that_is_over_is_not_used(self, backend: Backend) -> None:
        request = await _ended(backend)

        assert (
            await backend.store.consume_approval(request.question_id, "k", until=_too_late())
            is None
        )
        assert (await _record(backend, request)).use is None

    async def test_nothing_but_an_approval_is_used(self, backend: Backend) -> None:
        request, denied = await _opened(backend), await _opened(backend)
        await backend.store.settle(denied.question_id, a_response(denied, approved=False))

        for one in (request, denied):
            assert (
                await backend.store.consume_approval(one.question_id, "k", until=_in_time()) is None
            )

    async def test_the_first_report_counts(self, backend: Backend) -> None:
        request = await _ended(backend)
        await backend.store.consume_approval(request.question_id, "k", until=_in_time())

        first = await backend.store.report_outcome(request.question_id, "failed", 'exit "1" ü')
        second = await backend.store.report_outcome(request.question_id, "succeeded")

        assert first is not None
        assert first.report is not None
        assert (first.report.went, first.report.note) == ("failed", 'exit "1" ü')
        assert first.at is not None
        assert first.report.at >= first.at
        assert second == first == (await _record(backend, request)).use

    async def test_what_was_not_used_has_no_report(self, backend: Backend) -> None:
        request = await _ended(backend)

        assert await backend.store.report_outcome(request.question_id, "succeeded") is None

    async def test_what_became_of_a_persons_approval_is_in_the_audit(
        self, backend: Backend
    ) -> None:
        request = await _ended(backend)
        for _ in range(2):
            await backend.store.consume_approval(request.question_id, "k", until=_in_time())
            await backend.store.report_outcome(request.question_id, "failed", "exit 1")

        told = [(one.kind, one.reason, one.question_id) for one in await backend.audit.read(50)]

        used = [one for one in told if one[0] in ("used", "ran", "failed")]
        assert sorted(used) == sorted(
            [
                ("used", "", request.question_id),
                ("failed", "exit 1", request.question_id),
            ]
        )

    async def test_what_a_rule_approved_is_not_in_the_audit(self, backend: Backend) -> None:
        request = a_request()
        said = request.approve(by="").model_copy(update={"decided_by": None})
        await backend.store.open(
            request, seconds=30, inbox="", book=None, ending=said, audited=False
        )
        await backend.store.consume_approval(request.question_id, "k", until=_in_time())

        assert await backend.audit.read(50) == []

    async def test_of_no_request_nothing_is_told(self, backend: Backend) -> None:
        with pytest.raises(RequestNotFoundError):
            await backend.store.consume_approval("nobody", "k", until=_in_time())
        with pytest.raises(RequestNotFoundError):
            await backend.store.report_outcome("nobody", "failed")

    async def test_a_use_is_found_behind_the_card_and_a_desk_is_told(
        self, backend: Backend
    ) -> None:
        request = await _ended(backend)
        copy = a_copy(request.question_id)
        await backend.copies.issue(copy)
        async with backend.outbox.jobs("desk") as jobs:
            for _ in range(2):  # that it was asked, and that it has ended
                await backend.outbox.done(await soon(jobs))
            await backend.store.consume_approval(request.question_id, "k", until=_in_time())
            job = await soon(jobs)
            await backend.outbox.done(job)

        found = await backend.copies.find(copy.handle)

        assert (job.kind, job.question_id) == ("end", request.question_id)
        assert found is not None
        assert found.use is not None
        assert found.use.key == "k"

    async def test_a_record_says_when_it_was_opened_and_ended(self, backend: Backend) -> None:
        request = await _opened(backend)
        before = await _record(backend, request)
        await backend.store.settle(request.question_id, a_response(request))
        after = await _record(backend, request)

        assert before.opened_at is not None
        assert before.ended_at is None
        assert after.opened_at == before.opened_at
        assert after.ended_at is not None
        assert after.ended_at >= before.opened_at


def _in_time() -> datetime:
    return datetime.now(UTC) + timedelta(minutes=5)


def _too_late() -> datetime:
    return datetime.now(UTC) - timedelta(minutes=5)


async def _opened(backend: Backend) -> PermissionRequestEvent:
    request = a_request()
    await backend.store.open(request, seconds=30, inbox="", book=None)
    return request


async def _ended(backend: Backend) -> PermissionRequestEvent:
    request = await _opened(backend)
    await backend.store.settle(request.question_id, a_response(request))
    return request


async def _record(backend: Backend, request: PermissionRequestEvent) -> Record:
    record = await backend.store.get(request.question_id)
    assert record is not None
    return record
