"""What every store promises about requests and their endings."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from sayso.calls import RunRef
from sayso.errors import IdempotencyConflictError, RequestNotFoundError
from sayso.events import Outcome
from sayso.rules.rule import RememberedRule
from sayso.stores.backend import Backend
from sayso.stores.protocols import BookChanged, Opened
from sayso.testing.builders import a_request, a_response, a_rule, soon, until

ODD_IDS = [
    "a:b:c",
    "with spaces and\nnewlines\t",
    "quotes ' \" ` and \\ backslashes",
    "{braces} [brackets] %s * ?",
    "ключ-鍵-🔑",
    "🔑" * 500,
    "x" * 500,
    " ",
]


class StoreContract:
    """The promises of ``Store``. Subclasses provide the ``backend`` fixture."""

    async def test_an_opened_request_is_found(self, backend: Backend) -> None:
        request = a_request()

        opened = await backend.store.open(request, seconds=30, inbox="", book=None)
        record = await backend.store.get(request.question_id)

        assert isinstance(opened, Opened)
        assert 29 < opened.seconds <= 30
        assert record is not None
        assert record.ending is None
        assert record.copies == ()
        assert record.request.model_copy(update={"expires_at": request.expires_at}) == request

    async def test_the_request_expires_by_the_clock_of_the_store(self, backend: Backend) -> None:
        request = a_request().model_copy(update={"expires_at": datetime(2001, 1, 1, tzinfo=UTC)})

        await backend.store.open(request, seconds=30, inbox="", book=None)
        record = await backend.store.get(request.question_id)

        assert record is not None
        assert 20 < (record.request.expires_at - datetime.now(UTC)).total_seconds() <= 31

    @pytest.mark.parametrize("question_id", ODD_IDS, ids=range(len(ODD_IDS)))
    async def test_ids_and_source_names_pass_unchanged(
        self, backend: Backend, question_id: str
    ) -> None:
        request = a_request(question_id, source_name=f"source {question_id}")
        response = a_response(request)

        await backend.store.open(request, seconds=30, inbox="", book=None)
        await backend.store.settle(question_id, response)
        record = await backend.store.get(question_id)

        assert record is not None
        assert record.request.question_id == question_id
        assert record.request.source_name == f"source {question_id}"
        assert record.ending == response

    async def test_nothing_is_known_of_a_request_that_was_not_opened(
        self, backend: Backend
    ) -> None:
        assert await backend.store.get("nobody") is None

    async def test_repeating_the_same_request_changes_nothing(self, backend: Backend) -> None:
        request = a_request()
        await backend.store.open(request, seconds=30, inbox="", book=None)

        again = await backend.store.open(request, seconds=600, inbox="", book="some other book")

        assert isinstance(again, Opened)
        assert again.seconds <= 30
        assert len(await backend.store.list_requests()) == 1

    async def test_another_request_under_the_same_id_is_refused(self, backend: Backend) -> None:
        request = a_request("q-1", tool="read")
        await backend.store.open(request, seconds=30, inbox="", book=None)

        with pytest.raises(IdempotencyConflictError, match="q-1"):
            await backend.store.open(
                a_request("q-1", tool="write"), seconds=30, inbox="", book=None
            )

        record = await backend.store.get("q-1")
        assert record is not None
        assert record.request.subject == "read"

    async def test_the_first_ending_wins(self, backend: Backend) -> None:
        request = a_request()
        yes, no = a_response(request), a_response(request, approved=False, by="telegram:1")
        await backend.store.open(request, seconds=30, inbox="", book=None)

        won = await backend.store.settle(request.question_id, yes)
        lost = await backend.store.settle(request.question_id, no)
        record = await backend.store.get(request.question_id)

        assert (won.ending, won.first) == (yes, True)
        assert (lost.ending, lost.first) == (yes, False)
        assert record is not None
        assert record.ending == yes

    async def test_the_same_ending_offered_twice_is_first_once(self, backend: Backend) -> None:
        request = a_request()
        response = a_response(request)
        await backend.store.open(request, seconds=30, inbox="", book=None)

        results = [await backend.store.settle(request.question_id, response) for _ in range(2)]

        assert [result.first for result in results] == [True, False]
        assert [result.ending for result in results] == [response, response]

    async def test_of_many_at_once_exactly_one_is_first(self, backend: Backend) -> None:
        request = a_request()
        await backend.store.open(request, seconds=30, inbox="", book=None)

        results = await asyncio.gather(
            *(
                backend.store.settle(
                    request.question_id, a_response(request, by=f"slack:U{number}")
                )
                for number in range(20)
            )
        )

        assert sum(result.first for result in results) == 1
        assert all(result.ending == results[0].ending for result in results)

    async def test_settling_an_unknown_request_is_an_error(self, backend: Backend) -> None:
        with pytest.raises(RequestNotFoundError, match="nobody"):
            await backend.store.settle("nobody", a_response(a_request("nobody")))

    async def test_after_the_expiry_only_the_expiry_is_recorded(self, backend: Backend) -> None:
        request = a_request(source_name="researcher")
        await backend.store.open(request, seconds=0, inbox="", book=None)

        settled = await backend.store.settle(
            request.question_id, a_response(request), remember=a_rule()
        )
        record = await backend.store.get(request.question_id)

        assert settled.ending.outcome is Outcome.EXPIRED
        assert settled.ending.source_name == "researcher"
        assert not settled.first
        assert record is not None
        assert record.ending == settled.ending
        assert (await backend.rules.book(request.run)).remembered == ()

    async def test_before_the_expiry_an_expiry_is_not_recorded(self, backend: Backend) -> None:
        request = a_request()
        await backend.store.open(request, seconds=30, inbox="", book=None)

        with pytest.raises(ValueError, match="not expired yet"):
            await backend.store.settle(request.question_id, request.expired(at=datetime.now(UTC)))

        record = await backend.store.get(request.question_id)
        assert record is not None
        assert record.ending is None

    async def test_an_expiry_after_its_time_is_recorded(self, backend: Backend) -> None:
        request = a_request()
        expired = request.expired(at=datetime.now(UTC))
        await backend.store.open(request, seconds=0, inbox="", book=None)

        settled = await backend.store.settle(request.question_id, expired)

        assert (settled.ending, settled.first) == (expired, True)

    async def test_the_ending_rings_the_inbox_and_is_recorded_by_then(
        self, backend: Backend
    ) -> None:
        request = a_request()
        response = a_response(request)
        await backend.store.open(request, seconds=30, inbox="mine", book=None)

        async with backend.bus.subscribe("inbox:mine") as rings:
            settled = await backend.store.settle(request.question_id, response)

            assert await soon(rings) == response
        assert settled.heard == 1

    async def test_an_ending_that_nobody_waits_for_is_heard_by_nobody(
        self, backend: Backend
    ) -> None:
        request = a_request()
        await backend.store.open(request, seconds=30, inbox="mine", book=None)

        settled = await backend.store.settle(request.question_id, a_response(request))

        assert settled.first
        assert settled.heard == 0

    async def test_an_empty_inbox_is_not_rung(self, backend: Backend) -> None:
        request = a_request()
        await backend.store.open(request, seconds=30, inbox="", book=None)

        async with backend.bus.subscribe("inbox:"):
            settled = await backend.store.settle(request.question_id, a_response(request))

        assert settled.heard == 0

    async def test_opening_again_after_the_end_rings_at_once(self, backend: Backend) -> None:
        request = a_request()
        response = a_response(request)
        await backend.store.open(request, seconds=30, inbox="", book=None)
        await backend.store.settle(request.question_id, response)

        async with backend.bus.subscribe("inbox:mine") as rings:
            await backend.store.open(request, seconds=30, inbox="mine", book=None)

            assert await soon(rings) == response

    async def test_a_rule_is_remembered_together_with_the_ending(self, backend: Backend) -> None:
        request, rule = a_request(), a_rule()
        await backend.store.open(request, seconds=30, inbox="", book=None)
        before = await backend.rules.book(request.run)

        await backend.store.settle(request.question_id, a_response(request), remember=rule)
        after = await backend.rules.book(request.run)

        assert before.remembered == ()
        assert after.remembered == (rule,)
        assert after.version != before.version

    async def test_the_rule_of_a_later_ending_is_not_remembered(self, backend: Backend) -> None:
        request = a_request()
        await backend.store.open(request, seconds=30, inbox="", book=None)
        await backend.store.settle(request.question_id, a_response(request, approved=False))

        await backend.store.settle(request.question_id, a_response(request), remember=a_rule())

        assert (await backend.rules.book(request.run)).remembered == ()

    async def test_an_asker_who_knows_other_rules_opens_nothing(self, backend: Backend) -> None:
        run = RunRef("deploy-bot", "s-1")
        known = (await backend.rules.book(run)).version
        first, second = a_request(run=run), a_request(run=run)
        await backend.store.open(first, seconds=30, inbox="", book=known)
        await backend.store.settle(first.question_id, a_response(first), remember=a_rule())

        refused = await backend.store.open(second, seconds=30, inbox="", book=known)

        assert refused == BookChanged()
        assert await backend.store.get(second.question_id) is None
        assert await backend.store.list_requests() == []

    async def test_an_asker_who_knows_the_rules_opens(self, backend: Backend) -> None:
        first, second = a_request(), a_request()
        await backend.store.open(first, seconds=30, inbox="", book=None)
        await backend.store.settle(first.question_id, a_response(first), remember=a_rule())
        known = (await backend.rules.book(second.run)).version

        opened = await backend.store.open(second, seconds=30, inbox="", book=known)

        assert isinstance(opened, Opened)

    async def test_an_asker_who_does_not_care_opens_whatever_the_rules(
        self, backend: Backend
    ) -> None:
        first, second = a_request(), a_request()
        await backend.store.open(first, seconds=30, inbox="", book=None)
        await backend.store.settle(first.question_id, a_response(first), remember=a_rule())

        opened = await backend.store.open(second, seconds=30, inbox="", book=None)

        assert isinstance(opened, Opened)

    async def test_a_foreseen_denial_ends_the_request_when_its_time_comes(
        self, backend: Backend
    ) -> None:
        request = a_request()
        denial = a_response(request, approved=False)
        await backend.store.open(request, seconds=30, inbox="", book=None)

        open_still = await backend.store.settle_later(request.question_id, denial, seconds=0.02)
        await until(lambda: _swept(backend, request.question_id))
        record = await backend.store.get(request.question_id)

        assert open_still is None
        assert record is not None
        assert record.ending == denial
        assert [entry.kind for entry in await backend.audit.read(9)] == ["asked", "denied"]

    @pytest.mark.parametrize("rule", [None, a_rule()])
    async def test_no_approval_comes_before_a_foreseen_denial(
        self, backend: Backend, rule: RememberedRule | None
    ) -> None:
        request = a_request()
        denial = a_response(request, approved=False)
        await backend.store.open(request, seconds=30, inbox="", book=None)
        await backend.store.settle_later(request.question_id, denial, seconds=20)

        settled = await backend.store.settle(
            request.question_id, a_response(request), remember=rule
        )
        record = await backend.store.get(request.question_id)

        assert (settled.ending, settled.first) == (denial, False)
        assert record is not None
        assert record.ending == denial
        assert (await backend.rules.book(request.run)).remembered == ()

    async def test_another_denial_takes_the_place_of_a_foreseen_one(self, backend: Backend) -> None:
        request = a_request()
        await backend.store.open(request, seconds=30, inbox="", book=None)
        foreseen = request.deny(by="slack:U0ALICE", at=datetime.now(UTC))
        with_reason = request.deny(by="slack:U0ALICE", at=datetime.now(UTC), reason="too late")
        await backend.store.settle_later(request.question_id, foreseen, seconds=20)

        settled = await backend.store.settle(request.question_id, with_reason)

        assert (settled.ending, settled.first) == (with_reason, True)

    async def test_the_first_foreseen_ending_counts(self, backend: Backend) -> None:
        request = a_request()
        await backend.store.open(request, seconds=30, inbox="", book=None)
        first, second = (
            request.deny(by=who, at=datetime.now(UTC)) for who in ("slack:U0ALICE", "slack:U0BOB")
        )
        for denial in (first, second):
            await backend.store.settle_later(request.question_id, denial, seconds=20)

        settled = await backend.store.settle(request.question_id, a_response(request))

        assert settled.ending == first

    async def test_what_was_foreseen_counts_when_the_requests_own_time_is_over_first(
        self, backend: Backend
    ) -> None:
        request = a_request()
        denial = a_response(request, approved=False)
        await backend.store.open(request, seconds=0.02, inbox="", book=None)

        await backend.store.settle_later(request.question_id, denial, seconds=20)
        await until(lambda: _swept(backend, request.question_id))
        record = await backend.store.get(request.question_id)

        assert record is not None
        assert record.ending == denial

    async def test_a_shortened_life_does_not_put_off_what_is_foreseen(
        self, backend: Backend
    ) -> None:
        request = a_request()
        await backend.store.open(request, seconds=30, inbox="", book=None)
        await backend.store.settle_later(
            request.question_id, a_response(request, approved=False), seconds=0.02
        )

        await backend.store.shorten_deadline(request.question_id, 20)
        await until(lambda: _swept(backend, request.question_id))

    async def test_nothing_is_foreseen_for_what_has_ended_or_is_unknown(
        self, backend: Backend
    ) -> None:
        request = a_request()
        response = a_response(request)
        await backend.store.open(request, seconds=30, inbox="", book=None)
        await backend.store.settle(request.question_id, response)
        denial = a_response(request, approved=False)

        ended = await backend.store.settle_later(request.question_id, denial, seconds=20)

        assert ended == response
        with pytest.raises(RequestNotFoundError, match="nobody"):
            await backend.store.settle_later("nobody", denial, seconds=20)


async def _swept(backend: Backend, question_id: str) -> bool:
    await backend.store.expire_due()
    record = await backend.store.get(question_id)
    return record is not None and record.ending is not None
