"""What every store promises about handles of cards."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sayso.cards.called import Call, Called
from sayso.chats.places import MessageRef, Place
from sayso.errors import ReplayedCallbackError, RequestNotFoundError
from sayso.questions.permission import PermissionRequestEvent
from sayso.stores.backend import Backend
from sayso.stores.protocols import Marked
from sayso.testing.builders import a_copy, a_request, a_response


async def _opened(backend: Backend, question_id: str | None = None) -> PermissionRequestEvent:
    request = a_request(question_id)
    await backend.store.open(request, seconds=30, inbox="", book=None)
    return request


class CopiesContract:
    """The promises of ``Copies``. Subclasses provide the ``backend`` fixture."""

    async def test_a_handle_is_found_with_its_request(self, backend: Backend) -> None:
        request = await _opened(backend, 'q:"1"\n🔑')
        copy = a_copy(request.question_id, place="telegram:-100123/7")
        await backend.copies.issue(copy)

        found = await backend.copies.find(copy.handle)
        record = await backend.store.get(request.question_id)

        assert found is not None
        assert record is not None
        assert (found.copy, found.request, found.ending) == (copy, record.request, None)
        assert record.copies == (copy,)

    async def test_a_handle_finds_how_its_request_ended(self, backend: Backend) -> None:
        request = await _opened(backend)
        copy, response = a_copy(request.question_id), a_response(request)
        await backend.copies.issue(copy)
        await backend.store.settle(request.question_id, response)

        found = await backend.copies.find(copy.handle)

        assert found is not None
        assert found.ending == response

    async def test_each_handle_finds_its_own_copy(self, backend: Backend) -> None:
        request = await _opened(backend)
        slack = a_copy(request.question_id, place="slack:C1")
        telegram = a_copy(request.question_id, place="telegram:1")
        for copy in (slack, telegram):
            await backend.copies.issue(copy)

        found = [await backend.copies.find(copy.handle) for copy in (telegram, slack)]
        record = await backend.store.get(request.question_id)

        assert [one.copy for one in found if one is not None] == [telegram, slack]
        assert record is not None
        assert set(record.copies) == {slack, telegram}

    async def test_cards_on_one_message_know_each_other(self, backend: Backend) -> None:
        handles = ("h-1", "h-\u00fc", "h-3")
        requests = [await _opened(backend) for _ in handles]
        copies = [
            replace(a_copy(request.question_id), handle=handle, bundle=handles)
            for handle, request in zip(handles, requests, strict=True)
        ]
        for copy in copies:
            await backend.copies.issue(copy)
        shown = replace(copies[2], message_id="1", revealed=True)
        await backend.copies.mark(shown)

        found = [await backend.copies.find(handle) for handle in handles]
        record = await backend.store.get(requests[2].question_id)

        assert [one.copy.bundle for one in found if one is not None] == [handles] * 3
        assert record is not None
        assert record.copies == (shown,)

    async def test_whom_a_message_called_is_known_as_long_as_the_message(
        self, backend: Backend
    ) -> None:
        request = await _opened(backend)
        people = (Called("slack:U0ALICE", "Ali\u00e7e"), Called("slack:S0GROUP"))
        called = replace(a_copy(request.question_id), call=Call(people, "For"))
        quiet = replace(a_copy(request.question_id), call=Call(quietly=True, note="until 07:00"))
        for copy in (called, quiet):
            await backend.copies.issue(copy)
        shown = replace(called, message_id="1")
        await backend.copies.mark(shown)

        found = await backend.copies.find(called.handle)
        record = await backend.store.get(request.question_id)

        assert found is not None
        assert found.copy == shown
        assert record is not None
        assert set(record.copies) == {shown, quiet}

    async def test_what_was_shown_in_full_stays_so_when_its_message_is_noted_later(
        self, backend: Backend
    ) -> None:
        """Somebody may press *Show all* before whoever posted the card has noted its message."""
        request = await _opened(backend)
        copy = a_copy(request.question_id)
        await backend.copies.issue(copy)
        seen = replace(copy, message_id="1", revealed=True)
        await backend.copies.mark(seen)

        await backend.copies.mark(replace(copy, message_id="1"))

        found = await backend.copies.find(copy.handle)
        assert found is not None
        assert found.copy == seen

    async def test_a_card_that_stands_alone_is_in_no_bundle(self, backend: Backend) -> None:
        request = await _opened(backend)
        alone = a_copy(request.question_id)
        bundled = replace(a_copy(request.question_id), bundle=("a", "b"))
        for copy in (alone, bundled):
            await backend.copies.issue(copy)

        record = await backend.store.get(request.question_id)

        assert record is not None
        assert set(record.copies) == {alone, bundled}

    async def test_an_unknown_handle_finds_nothing(self, backend: Backend) -> None:
        await _opened(backend)

        assert await backend.copies.find("nobody") is None

    async def test_a_handle_of_an_unknown_request_is_not_issued(self, backend: Backend) -> None:
        copy = a_copy("nobody")

        with pytest.raises(RequestNotFoundError, match="nobody"):
            await backend.copies.issue(copy)

        assert await backend.copies.find(copy.handle) is None

    async def test_a_delivery_seen_before_is_refused(self, backend: Backend) -> None:
        request = await _opened(backend)
        copy = a_copy(request.question_id)
        await backend.copies.issue(copy)
        await backend.copies.find(copy.handle, delivery="slack:T1:1")

        with pytest.raises(ReplayedCallbackError):
            await backend.copies.find(copy.handle, delivery="slack:T1:1")

    async def test_a_delivery_of_an_unknown_handle_counts_as_seen(self, backend: Backend) -> None:
        await backend.copies.find("nobody", delivery="slack:T1:1")

        with pytest.raises(ReplayedCallbackError):
            await backend.copies.find("nobody", delivery="slack:T1:1")

    async def test_other_deliveries_and_those_without_a_name_pass(self, backend: Backend) -> None:
        request = await _opened(backend)
        copy = a_copy(request.question_id)
        await backend.copies.issue(copy)

        found = [
            await backend.copies.find(copy.handle, delivery=delivery)
            for delivery in ("slack:T1:1", "slack:T1:2", "", "")
        ]

        assert None not in found

    async def test_the_message_of_a_copy_is_noted(self, backend: Backend) -> None:
        request = await _opened(backend)
        copy = a_copy(request.question_id)
        await backend.copies.issue(copy)
        shown = replace(copy, message_id="1700000000.000100", revealed=True)

        marked = await backend.copies.mark(shown)
        found = await backend.copies.find(copy.handle)

        assert marked == Marked()
        assert found is not None
        assert found.copy == shown

    async def test_noting_a_message_tells_how_the_request_ended_meanwhile(
        self, backend: Backend
    ) -> None:
        request = await _opened(backend)
        copy, response = a_copy(request.question_id), a_response(request)
        await backend.copies.issue(copy)
        await backend.store.settle(request.question_id, response)

        assert (await backend.copies.mark(replace(copy, message_id="1"))).ending == response

    async def test_a_copy_of_an_unknown_request_is_not_noted(self, backend: Backend) -> None:
        with pytest.raises(RequestNotFoundError, match="nobody"):
            await backend.copies.mark(a_copy("nobody"))

        assert await backend.store.get("nobody") is None

    async def test_a_message_that_is_noted_stands(self, backend: Backend) -> None:
        request = await _opened(backend)
        copy = a_copy(request.question_id)
        await backend.copies.issue(copy)
        assert not copy.stands

        for _ in range(2):
            assert await backend.copies.mark(replace(copy, message_id="1")) == Marked()

        found = await backend.copies.find(copy.handle)
        assert found is not None
        assert found.copy.stands

    async def test_the_second_message_of_a_request_in_one_place_is_closed(
        self, backend: Backend
    ) -> None:
        request = await _opened(backend)
        first, second = a_copy(request.question_id), a_copy(request.question_id)
        for copy in (first, second):
            await backend.copies.issue(copy)
        await backend.copies.mark(replace(second, message_id="2"))

        marked = await backend.copies.mark(replace(first, message_id="1"))
        again = await backend.copies.mark(replace(first, message_id="1", revealed=True))
        found = [await backend.copies.find(copy.handle) for copy in (first, second)]
        record = await backend.store.get(request.question_id)

        assert marked.ending is None
        assert marked.closed_at is not None
        assert again == marked
        assert [one.copy.closed_at for one in found if one] == [marked.closed_at, None]
        assert record is not None
        assert [copy.stands for copy in record.copies].count(True) == 1

    async def test_messages_in_other_places_or_for_other_requests_all_stand(
        self, backend: Backend
    ) -> None:
        request, other = await _opened(backend), await _opened(backend)
        copies = [
            a_copy(request.question_id, place="slack:C1"),
            a_copy(request.question_id, place="slack:C1/7"),
            a_copy(request.question_id, place="telegram:-1"),
            a_copy(other.question_id, place="slack:C1"),
        ]
        for copy in copies:
            await backend.copies.issue(copy)
            assert await backend.copies.mark(replace(copy, message_id="1")) == Marked()

    async def test_a_copy_is_known_by_the_place_it_was_sent_to(self, backend: Backend) -> None:
        request = await _opened(backend)
        first = a_copy(request.question_id, place="slack:U0ALICE")
        second = a_copy(request.question_id, place="slack:U0ALICE")
        other = a_copy(request.question_id, place="slack:U0BOB")
        for copy in (first, second, other):
            await backend.copies.issue(copy)
        there = MessageRef(Place("slack", "D1"), "1")

        marked = [await backend.copies.mark(copy.at(there)) for copy in (first, other, second)]
        found = await backend.copies.find(second.handle)

        assert [one.closed_at is None for one in marked] == [True, True, False]
        assert found is not None
        assert (found.copy.place, found.copy.target) == (there.place, first.place)

    async def test_after_the_end_no_message_is_closed_as_a_second_one(
        self, backend: Backend
    ) -> None:
        request = await _opened(backend)
        response = a_response(request)
        first, second = a_copy(request.question_id), a_copy(request.question_id)
        for copy in (first, second):
            await backend.copies.issue(copy)
        await backend.copies.mark(replace(first, message_id="1"))
        await backend.store.settle(request.question_id, response)

        marked = await backend.copies.mark(replace(second, message_id="2"))

        assert marked == Marked(response, None)

    async def test_an_intention_that_is_dropped_is_unknown(self, backend: Backend) -> None:
        request = await _opened(backend)
        kept, dropped = a_copy(request.question_id), a_copy(request.question_id)
        for copy in (kept, dropped):
            await backend.copies.issue(copy)

        for _ in range(2):
            await backend.copies.drop(dropped)

        record = await backend.store.get(request.question_id)
        assert record is not None
        assert record.copies == (kept,)
        assert await backend.copies.find(dropped.handle) is None
