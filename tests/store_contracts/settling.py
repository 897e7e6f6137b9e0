"""What every store promises of how endings ring, and of what observers are told."""

from __future__ import annotations

import time

from sayso.stores.backend import Backend
from sayso.stores.protocols import Opened
from sayso.stores.topics import branch_topic
from sayso.testing.builders import a_request, a_response, a_rule, soon


class SettlingContract:
    """More promises of ``Store`` and ``Bus``. Subclasses provide the ``backend`` fixture."""

    async def test_a_ring_says_the_version_of_the_rules_and_the_moment(
        self, backend: Backend
    ) -> None:
        first, second = a_request(), a_request()
        for request in (first, second):
            await backend.store.open(request, seconds=30, inbox="mine", book=None)
        before = await backend.rules.book(first.run)

        async with backend.bus.rings("mine") as rings:
            await backend.store.settle(first.question_id, a_response(first, approved=False))
            unchanged = await soon(rings)
            await backend.store.settle(second.question_id, a_response(second), remember=a_rule())
            changed = await soon(rings)

        after = await backend.rules.book(first.run)
        assert unchanged.ending.question_id == first.question_id
        assert unchanged.book == before.version
        assert changed.book == after.version != before.version
        assert abs(changed.at - time.time()) < 5

    async def test_a_ring_says_that_a_rule_was_revoked_meanwhile(self, backend: Backend) -> None:
        for scope in ("session", "agent"):
            first, second = a_request(), a_request()
            rule = a_rule(scope="agent" if scope == "agent" else "session")
            for request in (first, second):
                await backend.store.open(request, seconds=30, inbox="mine", book=None)

            async with backend.bus.rings("mine") as rings:
                await backend.store.settle(first.question_id, a_response(first), remember=rule)
                stored = await soon(rings)
                await backend.rules.revoke(rule.rule_id, by="slack:U0ALICE")
                await backend.store.settle(second.question_id, a_response(second))
                revoked = await soon(rings)

            assert stored.book != revoked.book == (await backend.rules.book(first.run)).version

    async def test_who_opens_again_after_the_end_hears_the_version_too(
        self, backend: Backend
    ) -> None:
        request = a_request()
        await backend.store.open(request, seconds=30, inbox="", book=None)
        await backend.store.settle(request.question_id, a_response(request), remember=a_rule())

        async with backend.bus.rings("mine") as rings:
            await backend.store.open(request, seconds=30, inbox="mine", book=None)
            ring = await soon(rings)

        assert ring.book == (await backend.rules.book(request.run)).version

    async def test_whoever_follows_the_branch_is_told_of_the_request_and_of_its_ending_once(
        self, backend: Backend
    ) -> None:
        request, last = a_request(), a_request()
        response = a_response(request, approved=False)

        async with backend.bus.subscribe(branch_topic(request.run)) as events:
            for _ in range(2):
                await backend.store.open(request, seconds=30, inbox="mine", book=None)
            for ending in (response, a_response(request), response):
                await backend.store.settle(request.question_id, ending)
            await backend.store.open(last, seconds=30, inbox="", book=None)

            assert [await soon(events) for _ in range(3)] == [request, response, last]

    async def test_opening_says_what_the_clock_of_the_store_shows(self, backend: Backend) -> None:
        request = a_request()

        told = [
            await backend.store.open(request, seconds=30, inbox="", book=None) for _ in range(2)
        ]

        for opened in told:
            assert isinstance(opened, Opened)
            assert abs(opened.at - time.time()) < 5
