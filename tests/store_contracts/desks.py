"""What every store promises desks that work beside each other."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from types import MappingProxyType

import pytest

from sayso.chats.places import MessageRef
from sayso.errors import RequestNotFoundError
from sayso.questions.permission import PermissionRequestEvent
from sayso.stores.backend import Backend
from sayso.stores.ports import Copy, Job, Offer, Settled, Shown, Upkeep
from sayso.testing.builders import a_copy, a_request, a_response, soon, until

_OFFER = Offer("poster", MappingProxyType({"allow": "Allow", "deny": "Deny"}))
_ELSEWHERE = replace(_OFFER, desk="elsewhere")
_numbers = count(1)


@dataclass
class Heard:
    """A desk at work that notes what others tell it."""

    jobs: AsyncIterator[Job] | None = None
    rings: list[Job] = field(default_factory=list)
    cards: list[Shown] = field(default_factory=list)

    def rung(self, job: Job) -> None:
        self.rings.append(job)

    def heard(self, shown: Shown) -> None:
        self.cards.append(shown)


class DesksContract:
    """The promises of desks that tell each other. Subclasses provide the ``backend`` fixture."""

    async def test_what_a_desk_settles_is_its_own_job_with_all_that_is_known(
        self, backend: Backend
    ) -> None:
        async with _at_work(backend, "settler"), _at_work(backend, "other") as other:
            request, copy = await _shown(backend)
            settled = await _settle(backend, request, Upkeep("settler", "settler"))

            assert settled.first
            assert settled.receipt
            assert settled.record is not None
            assert settled.record.ending == settled.ending
            assert [one.handle for one in settled.record.copies] == [copy.handle]
            known = await backend.store.get(request.question_id)
            assert known is not None
            assert settled.record == replace(known, seconds_left=settled.record.seconds_left)
            job = Job("end", request.question_id, settled.receipt)
            backend.outbox.have("settler", job)
            await backend.outbox.done(job)
            assert await _next_end(backend, other) is None
        assert other.rings == []

    async def test_what_it_does_not_do_goes_to_another_desk_when_it_leaves(
        self, backend: Backend
    ) -> None:
        async with _at_work(backend, "other") as other:
            async with _at_work(backend, "settler"):
                request, _ = await _shown(backend)
                settled = await _settle(backend, request, Upkeep("settler"))
                job = Job("end", request.question_id, settled.receipt)
                backend.outbox.have("settler", job)
            given_back = await _next_end(backend, other)

        assert given_back is not None
        assert given_back.question_id == request.question_id

    async def test_the_desk_that_posted_a_card_is_rung_for_it(self, backend: Backend) -> None:
        async with _at_work(backend, "poster") as poster, _at_work(backend, "settler") as settler:
            await _reached(backend, poster)
            request, copy = await _shown(backend)
            settled = await _settle(backend, request, Upkeep("settler", "poster"))

            async def is_rung() -> bool:
                return bool(poster.rings)

            await until(is_rung)
            (job,) = poster.rings
            await backend.outbox.done(job)
            assert await _next_end(backend, settler) is None

        assert (settled.receipt, settled.record) == ("", None)
        assert (job.kind, job.question_id, job.tries) == ("end", request.question_id, 1)
        assert job.record is not None
        assert job.record.ending == settled.ending
        assert [one.handle for one in job.record.copies] == [copy.handle]

    async def test_where_that_desk_is_gone_any_other_has_the_job(self, backend: Backend) -> None:
        async with _at_work(backend, "settler") as settler:
            request, _ = await _shown(backend)
            settled = await _settle(backend, request, Upkeep("settler", "nobody"))
            job = await _next_end(backend, settler)

        assert settled.receipt == ""
        assert job is not None
        assert job.question_id == request.question_id

    async def test_only_who_ends_a_request_has_the_job(self, backend: Backend) -> None:
        async with _at_work(backend, "settler"):
            request, _ = await _shown(backend)
            await _settle(backend, request, Upkeep("settler"))
            late = await _settle(backend, request, Upkeep("settler"))

        assert (late.first, late.receipt, late.record) == (False, "", None)

    async def test_other_desks_hear_of_a_card_that_stands_and_its_own_does_not(
        self, backend: Backend
    ) -> None:
        async with _at_work(backend, "poster") as poster, _at_work(backend, "other") as other:
            await _reached(backend, other)
            request, copy = await _shown(backend, _OFFER)

            async def is_heard() -> bool:
                return any(one.handle == copy.handle for one in other.cards)

            await until(is_heard)
            heard = next(one for one in other.cards if one.handle == copy.handle)

        assert heard.offer == _OFFER
        assert heard.found() == await backend.copies.find(copy.handle)
        assert heard.found().request.question_id == request.question_id
        assert not any(one.handle == copy.handle for one in poster.cards)

    async def test_cards_that_take_no_presses_are_nobodys_news(self, backend: Backend) -> None:
        async with _at_work(backend, "other") as other:
            await _reached(backend, other)
            before = len(other.cards)
            ended = a_request(_id())
            await backend.store.open(ended, seconds=30, inbox="", book=None)
            await backend.copies.issue(copy := replace(a_copy(ended.question_id), handle=_id()))
            await backend.store.settle(ended.question_id, a_response(ended))
            await backend.copies.mark(_at(copy), offer=_OFFER)
            _, copy = await _shown(backend, _OFFER)
            await backend.copies.issue(second := replace(copy, handle=_id(), message_id=""))
            closed = await backend.copies.mark(_at(second), offer=_OFFER)
            await backend.copies.mark(replace(copy, revealed=True), offer=_OFFER)
            await _reached(backend, other)

        handles = [one.handle for one in other.cards[before:]]
        assert closed.closed_at is not None
        assert copy.handle in handles
        assert second.handle not in handles
        assert handles.count(copy.handle) == 1

    async def test_what_was_seen_elsewhere_decides_while_the_store_has_just_that(
        self, backend: Backend
    ) -> None:
        async with _at_work(backend, "other") as other:
            await _reached(backend, other)
            shown = other.cards[-1]
            request = _asked(shown)
            settled = await backend.store.settle(
                request.question_id, a_response(request), handle=shown.handle, seen=shown.seen
            )

        assert settled.first


class SeenContract:
    """The promise of stores whose desks are other processes: what was told may be old."""

    async def test_what_the_store_has_otherwise_decides_nothing_and_uses_up_nothing(
        self, backend: Backend
    ) -> None:
        async with _at_work(backend, "other") as other:
            await _reached(backend, other)
            shown = other.cards[-1]
            request = _asked(shown)
            await backend.copies.mark(replace(shown.found().copy, revealed=True))
            for _ in range(2):
                with pytest.raises(RequestNotFoundError):
                    await backend.store.settle(
                        request.question_id,
                        a_response(request),
                        handle=shown.handle,
                        delivery="slack:1",
                        seen=shown.seen,
                    )

            found = await backend.copies.find(shown.handle, delivery="slack:1")
        assert found is not None
        assert found.ending is None


@asynccontextmanager
async def _at_work(backend: Backend, desk: str) -> AsyncIterator[Heard]:
    heard = Heard()
    async with backend.outbox.jobs(desk, heard) as jobs:
        await backend.roster.join(desk, seconds=30)
        heard.jobs = jobs
        yield heard
    await backend.roster.leave(desk)


def _id() -> str:
    return f"d-{next(_numbers)}"


def _at(copy: Copy) -> Copy:
    return copy.at(MessageRef(copy.place, _id()))


async def _shown(
    backend: Backend, offer: Offer | None = None
) -> tuple[PermissionRequestEvent, Copy]:
    """A request whose card stands."""
    request = a_request(_id())
    await backend.store.open(request, seconds=30, inbox="", book=None)
    await backend.copies.issue(copy := replace(a_copy(request.question_id), handle=_id()))
    copy = _at(copy)
    await backend.copies.mark(copy, offer=offer)
    return request, copy


def _asked(shown: Shown) -> PermissionRequestEvent:
    request = shown.found().request
    assert isinstance(request, PermissionRequestEvent)
    return request


async def _settle(backend: Backend, request: PermissionRequestEvent, upkeep: Upkeep) -> Settled:
    return await backend.store.settle(request.question_id, a_response(request), upkeep=upkeep)


async def _next_end(backend: Backend, desk: Heard) -> Job | None:
    """The next job that is an ending; None where none waits now."""
    last = a_request(_id())
    await backend.store.open(last, seconds=30, inbox="", book=None)
    assert desk.jobs is not None
    while (job := await soon(desk.jobs)).question_id != last.question_id:
        if job.kind == "end":
            return job
    return None


async def _reached(backend: Backend, desk: Heard) -> None:
    """Post cards until the desk hears of one: from then on it is reached."""
    before = len(desk.cards)

    async def is_reached() -> bool:
        await _shown(backend, _ELSEWHERE)
        return len(desk.cards) > before

    await until(is_reached)
