"""What every store promises of requests that are asked once, under a key."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

from sayso.calls import RunRef
from sayso.events import Outcome, Resolution
from sayso.questions.permission import PermissionRequestEvent
from sayso.stores.backend import Backend
from sayso.stores.protocols import LONGEST_KEY, BookChanged, Hold, Joined, Opened, Record
from sayso.stores.topics import branch_topic
from sayso.testing.builders import a_copy, a_request, a_response, soon

RUN = RunRef("deploy-bot", "s-42", run_id="run-1")
ODD_KEYS = [
    "a:b:c",
    "thread-1/call\n2\t",
    "quotes ' \" ` and \\ backslashes",
    "{braces} [brackets] %s * ?",
    "ключ-鍵-🔑",
    "🔑" * LONGEST_KEY,
    " ",
]


async def _open(
    backend: Backend, key: str = "k", *, inbox: str = "mine", **how: Any
) -> tuple[PermissionRequestEvent, Opened | BookChanged | Joined]:
    """A new request that is opened under a key."""
    request = a_request(**how)
    opened = await backend.store.open(request, seconds=30, inbox=inbox, book=None, key=key)
    return request, opened


async def _found(backend: Backend, run: RunRef = RUN, key: str = "k") -> str | None:
    record = await backend.store.get_by_key(run, key)
    return None if record is None else record.request.question_id


def _withdrawal(request: PermissionRequestEvent) -> Resolution:
    return request.cancelled(at=datetime.now(UTC), reason="nobody waits")


@asynccontextmanager
async def _listening(backend: Backend, *inboxes: str) -> AsyncIterator[None]:
    """Processes that hear their inboxes while the block runs."""
    async with AsyncExitStack() as stack:
        for inbox in inboxes:
            await stack.enter_async_context(backend.bus.rings(inbox))
        yield


async def _record(backend: Backend, request: PermissionRequestEvent) -> Record:
    record = await backend.store.get(request.question_id)
    assert record is not None
    return record


class KeyedContract:
    """The promises of ``Keyed`` and of keys in ``Store``. Subclasses provide ``backend``."""

    async def test_of_many_who_open_under_one_key_one_opens_and_the_others_join(
        self, backend: Backend
    ) -> None:
        opened = await asyncio.gather(*(_open(backend) for _ in range(50)))

        [first] = [request for request, said in opened if isinstance(said, Opened)]
        joined = [said.record for _, said in opened if isinstance(said, Joined)]
        assert len(joined) == 49
        assert {record.request.question_id for record in joined} == {first.question_id}
        pending = await backend.store.list_requests()
        assert [record.request.question_id for record in pending] == [first.question_id]

    async def test_what_was_joined_is_told_with_how_it_ended(self, backend: Backend) -> None:
        first, _ = await _open(backend)
        answer = a_response(first)
        await backend.store.settle(first.question_id, answer)

        _, said = await _open(backend)

        assert isinstance(said, Joined)
        assert said.record.ending == answer
        assert said.record.request.digest_of_arguments == first.arguments_digest

    async def test_whoever_joins_joins_whatever_the_rules_are(self, backend: Backend) -> None:
        await _open(backend)

        said = await backend.store.open(
            a_request(), seconds=30, inbox="mine", book="another version", key="k"
        )

        assert isinstance(said, Joined)

    async def test_repeating_an_open_under_a_key_changes_nothing(self, backend: Backend) -> None:
        request, _ = await _open(backend)

        again = await backend.store.open(request, seconds=30, inbox="mine", book=None, key="k")

        assert isinstance(again, Opened)
        assert await _found(backend) == request.question_id

    async def test_what_was_not_opened_leaves_its_key_free(self, backend: Backend) -> None:
        said = await backend.store.open(
            a_request(), seconds=30, inbox="mine", book="another version", key="k"
        )

        assert isinstance(said, BookChanged)
        assert await _found(backend) is None

    @pytest.mark.parametrize("key", ODD_KEYS, ids=range(len(ODD_KEYS)))
    async def test_any_text_is_a_key(self, backend: Backend, key: str) -> None:
        request, _ = await _open(backend, key)

        assert await _found(backend, key=key) == request.question_id
        assert await _found(backend, key=key + "x") is None

    async def test_a_key_is_one_of_its_session(self, backend: Backend) -> None:
        mine, _ = await _open(backend)
        strangers = [
            RunRef("deploy-bot", "s-43"),
            RunRef("other-bot", "s-42"),
            RunRef("deploy-bots-42", ""),
            RunRef("deploy-bot", "s-42:k"),
        ]

        for run in strangers:
            assert await _found(backend, run) is None
            _, said = await _open(backend, run=run)
            assert isinstance(said, Opened)

        other_branch = RunRef("deploy-bot", "s-42", "experiment")
        assert await _found(backend, other_branch) == mine.question_id

    async def test_a_request_without_a_key_is_under_none(self, backend: Backend) -> None:
        await _open(backend, "")
        _, said = await _open(backend, "")

        assert isinstance(said, Opened)
        assert await _found(backend, key="") is None

    async def test_the_last_who_leaves_withdraws_and_the_key_is_free_again(
        self, backend: Backend
    ) -> None:
        async with _listening(backend, "mine", "yours"):
            first, _ = await _open(backend, inbox="mine")
            second, _ = await _open(backend, inbox="yours")
            ending = _withdrawal(first)
            leave = backend.store.release_hold

            assert not await leave(first.question_id, first.question_id, ending=ending)
            assert (await _record(backend, first)).ending is None
            assert await leave(first.question_id, second.question_id, ending=ending)

        assert (await _record(backend, first)).ending == ending
        assert await _found(backend) is None
        assert isinstance((await _open(backend))[1], Opened)

    async def test_leaving_again_changes_nothing(self, backend: Backend) -> None:
        async with _listening(backend, "mine", "yours"):
            first, _ = await _open(backend, inbox="mine")
            second, _ = await _open(backend, inbox="yours")
            ending = _withdrawal(first)
            leave = backend.store.release_hold

            for _ in range(2):
                assert not await leave(first.question_id, first.question_id, ending=ending)
            for _ in range(2):
                assert await leave(first.question_id, second.question_id, ending=ending)

    async def test_a_stranger_withdraws_nothing(self, backend: Backend) -> None:
        request, _ = await _open(backend)
        ending = _withdrawal(request)

        assert not await backend.store.release_hold(request.question_id, "somebody", ending=ending)
        assert not await backend.store.release_hold("nothing", "somebody", ending=ending)

        assert (await _record(backend, request)).ending is None

    async def test_a_hold_of_a_process_that_is_gone_does_not_count(self, backend: Backend) -> None:
        async with _listening(backend, "mine"):
            first, _ = await _open(backend, inbox="gone")
            second, _ = await _open(backend, inbox="mine")

            ending = _withdrawal(first)
            left = await backend.store.release_hold(
                first.question_id, second.question_id, ending=ending
            )

        assert left

    async def test_what_is_held_for_good_is_not_withdrawn(self, backend: Backend) -> None:
        submitted, _ = await _open(backend, "submitted", inbox="")
        joined, _ = await _open(backend, "joined")
        await _open(backend, "joined", inbox="")
        await backend.store.get_by_key(RUN, "joined", hold=Hold())
        found, _ = await _open(backend, "found")
        await backend.store.get_by_key(RUN, "found", hold=Hold())
        waiter, _ = await _open(backend, "submitted")

        for request, waiting in [(submitted, waiter), (joined, joined), (found, found)]:
            ending = _withdrawal(request)
            left = await backend.store.release_hold(
                request.question_id, waiting.question_id, ending=ending
            )
            assert not left
            assert (await _record(backend, request)).ending is None

    async def test_who_joins_for_good_holds_nothing_before_it_is_found_to_be_the_same(
        self, backend: Backend
    ) -> None:
        first, _ = await _open(backend)
        _, joined = await _open(backend, inbox="")

        left = await backend.store.release_hold(
            first.question_id, first.question_id, ending=_withdrawal(first)
        )

        assert isinstance(joined, Joined)
        assert left

    async def test_looking_holds_nothing_and_finding_with_a_hold_does(
        self, backend: Backend
    ) -> None:
        async with _listening(backend, "mine", "yours"):
            first, _ = await _open(backend, inbox="mine")
            await backend.store.get_by_key(RUN, "k", hold=Hold("second", "yours"))
            await backend.store.get_by_key(RUN, "k")
            ending = _withdrawal(first)
            leave = backend.store.release_hold

            assert not await leave(first.question_id, first.question_id, ending=ending)
            assert await leave(first.question_id, "second", ending=ending)

    async def test_a_hold_can_be_given_up_without_withdrawing(self, backend: Backend) -> None:
        async with _listening(backend, "mine"):
            request, _ = await _open(backend)

            assert not await backend.store.release_hold(request.question_id, request.question_id)

        assert (await _record(backend, request)).ending is None
        assert await _found(backend) == request.question_id

    async def test_an_answer_stays_and_so_does_its_key(self, backend: Backend) -> None:
        request, _ = await _open(backend)
        answer = a_response(request, approved=False)
        await backend.store.settle(request.question_id, answer)

        left = await backend.store.release_hold(
            request.question_id, request.question_id, ending=_withdrawal(request)
        )

        assert not left
        assert (await _record(backend, request)).ending == answer
        assert await _found(backend) == request.question_id

    async def test_a_withdrawal_is_told_as_any_other(self, backend: Backend) -> None:
        async with (
            backend.bus.rings("mine") as rings,
            backend.bus.subscribe(branch_topic(RUN)) as events,
            backend.outbox.jobs("test") as jobs,
        ):
            request, _ = await _open(backend, inbox="mine")
            ending = _withdrawal(request)
            await backend.store.release_hold(
                request.question_id, request.question_id, ending=ending
            )

            ring = await soon(rings)
            assert ring.ending == ending
            assert [await soon(events), await soon(events)][1] == ending
            assert [(await soon(jobs)).kind for _ in range(2)] == ["ask", "end"]
        assert [entry.kind for entry in await backend.audit.read(5)] == ["asked", "cancelled"]
        settled = await backend.store.settle(request.question_id, a_response(request))
        assert settled.ending.outcome is Outcome.CANCELLED

    async def test_a_key_lives_as_long_as_its_request_is_shown(self, backend: Backend) -> None:
        request, _ = await _open(backend)

        await backend.copies.issue(a_copy(request.question_id))

        assert await _found(backend) == request.question_id
