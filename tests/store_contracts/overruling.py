"""What every store promises of approvals that an agent overrules, and of what needs nobody."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from sayso.errors import RequestNotFoundError
from sayso.events import Event, Outcome, Resolution
from sayso.questions.permission_answer import PermissionApprovedEvent, PermissionResponseEvent
from sayso.stores.backend import Backend
from sayso.stores.protocols import BookChanged, Record
from sayso.stores.topics import branch_topic
from sayso.testing.builders import a_request, a_response, a_rule, soon


async def _answered(backend: Backend, *, approved: bool = True) -> PermissionResponseEvent:
    request = a_request()
    await backend.store.open(request, seconds=30, inbox="", book=None)
    response = a_response(request, approved=approved)
    await backend.store.settle(request.question_id, response)
    return response


def _denial(response: PermissionResponseEvent) -> PermissionResponseEvent:
    return response.denied(reason="denied by the agent", line="policy mine")


async def _record(backend: Backend, question_id: str) -> Record:
    record = await backend.store.get(question_id)
    assert record is not None
    return record


async def _heard(events: AsyncIterator[Event], count: int) -> list[Event]:
    return [await soon(events) for _ in range(count)]


class OverrulingContract:
    """More promises of ``Store``. Subclasses provide the ``backend`` fixture."""

    async def test_a_denial_takes_the_place_of_an_approval_and_the_record_keeps_both(
        self, backend: Backend
    ) -> None:
        response = await _answered(backend)

        counts = await backend.store.overrule(response.question_id, _denial(response))

        record = await _record(backend, response.question_id)
        assert record.ending == counts == _denial(response)
        assert record.overruled == response
        seen = await backend.store.poll([response.question_id], inbox="mine")
        assert seen == {response.question_id: counts}

    async def test_observers_desks_and_the_audit_hear_of_it(self, backend: Backend) -> None:
        async with (
            backend.bus.subscribe(branch_topic(a_request().run)) as events,
            backend.outbox.jobs("test") as jobs,
        ):
            response = await _answered(backend)
            await backend.store.overrule(response.question_id, _denial(response))

            assert (await _heard(events, 3))[1:] == [response, _denial(response)]
            assert [(await soon(jobs)).kind for _ in range(3)] == ["ask", "end", "end"]
        kinds = [(entry.kind, entry.reason) for entry in await backend.audit.read(2)]
        assert kinds == [("approved", ""), ("overruled", "denied by the agent")]

    async def test_nothing_but_an_approval_is_overruled_and_nothing_twice(
        self, backend: Backend
    ) -> None:
        refused, approved = await _answered(backend, approved=False), await _answered(backend)
        denial = _denial(approved)
        await backend.store.overrule(approved.question_id, denial)
        later = approved.denied(reason="another", line="policy mine")

        assert await backend.store.overrule(refused.question_id, _denial(refused)) == refused
        assert await backend.store.overrule(approved.question_id, later) == denial
        assert (await _record(backend, refused.question_id)).overruled is None

    async def test_what_is_open_or_unknown_cannot_be_overruled_nor_anything_by_an_approval(
        self, backend: Backend
    ) -> None:
        request = a_request()
        await backend.store.open(request, seconds=30, inbox="", book=None)
        response = a_response(request)

        with pytest.raises(ValueError, match="not ended"):
            await backend.store.overrule(request.question_id, _denial(response))
        with pytest.raises(ValueError, match="only a denial"):
            await backend.store.overrule(request.question_id, response)
        with pytest.raises(RequestNotFoundError):
            await backend.store.overrule("nobody", _denial(response))

    async def test_the_approval_of_a_text_is_not_that_of_a_call(self, backend: Backend) -> None:
        from sayso.questions.text_approval import ApproveText

        run = a_request().run
        expires = a_request().expires_at
        fields = {"source_name": "a", "run": run, "expires_at": expires}
        request = ApproveText("text").request("t-1", fields)
        await backend.store.open(request, seconds=30, inbox="", book=None)
        [allow, *_] = request.card().choices
        approval = request.answer(allow, by="slack:U0ALICE", at=datetime.now(UTC))
        await backend.store.settle("t-1", approval)

        assert approval.outcome is Outcome.APPROVED
        assert await backend.store.overrule("t-1", _denial(a_response())) == approval

    async def test_what_needs_nobody_is_recorded_with_its_ending_and_never_open(
        self, backend: Backend
    ) -> None:
        request = a_request()
        ending: Resolution = request.denied(
            reason="denied by deny rule 1", line="deny rule 1", at=datetime.now(UTC)
        )
        async with (
            backend.bus.subscribe(branch_topic(request.run)) as events,
            backend.outbox.jobs("test") as jobs,
        ):
            await backend.store.open(request, seconds=30, inbox="", book="", ending=ending)

            assert await _heard(events, 2) == [request, ending]
            assert (await soon(jobs)).kind == "end"
        assert (await _record(backend, request.question_id)).ending == ending
        assert await backend.store.list_requests() == []
        assert await backend.store.expire_due() is None
        assert not (await backend.store.settle(request.question_id, a_response(request))).first
        assert [entry.kind for entry in await backend.audit.read(5)] == ["asked", "denied"]

    async def test_what_needs_nobody_is_recorded_on_the_rules_that_said_so_only(
        self, backend: Backend
    ) -> None:
        other, request = a_request(), a_request()
        await backend.store.open(other, seconds=30, inbox="", book=None)
        await backend.store.settle(other.question_id, a_response(other), remember=a_rule())
        ending = request.denied(reason="no", line="deny rule 1", at=datetime.now(UTC))

        opened = await backend.store.open(request, seconds=30, inbox="", book="", ending=ending)

        assert opened == BookChanged()
        assert await backend.store.get(request.question_id) is None

    async def test_what_only_the_store_tells_cannot_be_published(self, backend: Backend) -> None:
        response = a_response()
        run = a_request().run
        outcome = PermissionApprovedEvent(
            permission_id="p-1", source_name="deploy-bot", decided_at=response.decided_at
        )

        for made_up in (response, outcome, a_request(), _Disguised(source_name="deploy-bot")):
            with pytest.raises(ValueError, match="told by the store alone"):
                await backend.bus.publish(branch_topic(run), made_up)
        with pytest.raises(ValueError, match="only the store"):
            await backend.bus.publish("inbox:mine", response)


class _Disguised(Event):
    """An event whose type is that of another, which is what others would read."""

    type: str = "PERMISSION_APPROVED"
