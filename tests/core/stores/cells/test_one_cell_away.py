"""One cell away leaves the others working; what goes to it fails closed, with its name."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta

import pytest
from redis.asyncio import Redis
from support.cells import Servers, asked_in, in_cell, remember_in, servers
from support.chat_double import ChatDouble, press_on
from support.room import OPS

from sayso import Gate, Outcome, ToolCall
from sayso.agent.options import GateOptions
from sayso.cards.card import Card
from sayso.chats.budgets import Budget, Rate
from sayso.chats.places import Answered, Place
from sayso.desk.desk import Desk
from sayso.desk.routes import Route, Routes
from sayso.errors import CellAwayError, StoreUnreachableError
from sayso.stores.backend import Backend
from sayso.stores.connect import open_store
from sayso.stores.handles import cell_in
from sayso.stores.topics import LOG_TOPIC
from sayso.tasks import Background
from sayso.testing import a_copy, a_response, a_rule, soon, until
from sayso.testing.floor_contract import a_floor

CALL = ToolCall("bash", {"command": "terraform apply"})
LONE = ToolCall("run_command")
ROUTES = Routes([Route((OPS,), approvers=("slack:U0ALICE",))], {})


@pytest.fixture
def both() -> Iterator[Servers]:
    with servers() as made:
        yield made


async def warm(backend: Backend) -> None:
    """Both cells have been used, as in an installation that runs."""
    for name in ("00", "01"):
        await backend.rules.book(in_cell(backend, name))


def gate_in(backend: Backend, name: str, *, patience: float = 0.2) -> Gate:
    options = GateOptions(in_cell(backend, name), patience=timedelta(seconds=patience))
    return Gate(backend, options)


def _shows(call: ToolCall) -> Callable[[Card], bool]:
    return lambda card: str(call.arguments["command"]) in card.content


async def test_a_question_is_asked_and_decided_on_a_card_while_another_cell_is_away(
    both: Servers,
) -> None:
    chat = ChatDouble()
    async with open_store(both.address) as backend, open_store(both.address) as bots:
        await warm(backend)
        desk = Desk(bots, [chat], ROUTES)
        async with Background("a desk").during(desk.run()):
            both.kill(1)
            for number in range(3):
                call = ToolCall("bash", {"command": f"deploy {number}"})
                check = asyncio.create_task(gate_in(backend, "00").check(call, timeout=20))
                ref, card = await chat.card_where(_shows(call))
                answer = await desk.press(press_on(ref, card, "allow"))
                verdict = await asyncio.wait_for(check, 10)
                assert answer.kind is Answered.RECORDED
                assert verdict.approved


async def test_a_press_for_a_cell_that_is_not_served_is_refused_with_a_clear_word(
    both: Servers,
) -> None:
    chat = ChatDouble()
    async with open_store(both.address) as backend:
        desk = Desk(backend, [chat], ROUTES)
        async with Background("a desk").during(desk.run()):
            request = await asked_in(backend, "01")
            ref, card = await chat.card_where()
            assert cell_in(card.handle) == "01"
            elsewhere = replace(card, handle="07" + card.handle[2:])

            answer = await desk.press(press_on(ref, elsewhere, "allow"))
            record = await backend.store.get(request.question_id)

    assert answer.kind is Answered.UNKNOWN
    assert "a part of the store that these bots do not serve" in answer.text
    assert record is not None
    assert record.ending is None


async def test_a_question_to_the_cell_that_is_away_is_a_no_that_names_the_cell(
    both: Servers,
) -> None:
    async with open_store(both.address) as backend:
        await warm(backend)
        both.kill(1)

        with pytest.raises(StoreUnreachableError, match=str(both.servers[1].port)):
            await gate_in(backend, "01").check(CALL, timeout=5)


async def test_a_run_that_waits_goes_on_when_its_cell_is_back(both: Servers) -> None:
    async with open_store(both.address) as backend, open_store(both.address) as bots:
        await warm(backend)
        check = asyncio.create_task(gate_in(backend, "01").check(CALL, timeout=25))
        run = in_cell(backend, "01")
        await until(lambda: backend.watch.pending(run))
        [record] = await bots.watch.pending(run)
        both.kill(1)
        await both.start(1)

        answer = a_response(record.request)  # type: ignore[arg-type]  # it is a permission

        async def settled() -> bool:
            try:
                await bots.store.settle(record.request.question_id, answer)
            except StoreUnreachableError:
                return False
            return True

        await until(settled)
        assert (await asyncio.wait_for(check, 10)).approved


async def test_a_run_goes_on_whose_subscription_was_lost_while_others_wait_in_a_cell_that_is_away(
    both: Servers,
) -> None:
    async with open_store(both.address) as backend, open_store(both.address) as bots:
        await warm(backend)
        checks = {
            name: asyncio.create_task(gate_in(backend, name).check(CALL, timeout=25))
            for name in ("00", "01")
        }
        run = in_cell(backend, "00")
        await until(lambda: backend.watch.pending(in_cell(backend, "01")))
        await until(lambda: backend.watch.pending(run))
        [record] = await bots.watch.pending(run)
        both.kill(1)
        async with Redis.from_url(both.servers[0].url) as admin:
            await admin.client_kill_filter(_type="pubsub")

        answer = a_response(record.request)  # type: ignore[arg-type]  # it is a permission
        await bots.store.settle(record.request.question_id, answer)
        verdict = await asyncio.wait_for(checks["00"], 10)
        checks["01"].cancel()
        await asyncio.gather(checks["01"], return_exceptions=True)

    assert verdict.approved


async def test_what_is_asked_for_by_an_id_is_not_called_unknown_while_a_cell_is_away(
    both: Servers,
) -> None:
    async with open_store(both.address) as backend, open_store(both.address) as other:
        await warm(backend)
        there = await asked_in(backend, "01")
        here = await asked_in(backend, "00")
        both.kill(1)

        assert await other.store.get(here.question_id) is not None
        with pytest.raises(StoreUnreachableError, match="cell 01"):
            await other.store.get(there.question_id)


async def test_lists_show_what_answers_and_the_log_names_the_rest(
    both: Servers, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_store(both.address) as backend:
        await warm(backend)
        here, _ = await asked_in(backend, "00"), await asked_in(backend, "01")
        await remember_in(backend, in_cell(backend, "00"), a_rule())
        both.kill(1)

        [waiting] = await backend.watch.pending()
        kept = await backend.rules.all()
        entries = await backend.audit.read(100)

    assert waiting.request.question_id == here.question_id
    assert len(kept) == 1
    assert entries
    for what in ("what waits", "what is remembered", "the audit"):
        assert f"{what} of cell 01 is missing" in caplog.text


async def test_no_cell_at_all_is_an_error_and_no_empty_list(both: Servers) -> None:
    async with open_store(both.address) as backend:
        await warm(backend)
        both.kill(0)
        both.kill(1)

        for look in (backend.watch.pending, backend.rules.all, backend.leases.ping):
            with pytest.raises(StoreUnreachableError):
                await look()
        with pytest.raises(StoreUnreachableError):
            await backend.audit.read(5)


async def test_late_requests_expire_while_another_cell_is_away(both: Servers) -> None:
    async with open_store(both.address) as backend:
        await warm(backend)
        both.kill(0)
        gate = gate_in(backend, "01", patience=9)
        check = asyncio.create_task(gate.check(CALL, timeout=0.3))

        assert (await asyncio.wait_for(check, 10)).outcome is Outcome.EXPIRED
        request = await asked_in(backend, "01")
        await backend.watch.shorten(request.question_id, 0.05)
        await asyncio.sleep(0.1)
        with pytest.raises(CellAwayError, match="cell 00"):
            await backend.watch.expire()
        record = await backend.store.get(request.question_id)

    assert record is not None
    assert record.ending is not None
    assert record.ending.outcome is Outcome.EXPIRED


async def test_a_press_for_the_cell_that_is_away_is_not_acknowledged(both: Servers) -> None:
    async with open_store(both.address) as backend, open_store(both.address) as other:
        await warm(backend)
        request = await asked_in(backend, "01")
        handle = await backend.copies.new_handle(request.question_id)
        await backend.copies.issue(a_copy(request.question_id))
        both.kill(1)

        with pytest.raises(StoreUnreachableError):
            await other.copies.find(handle)


async def test_a_lease_outlives_a_cell_and_has_one_owner_when_that_is_back(both: Servers) -> None:
    async with open_store(both.address) as one, open_store(both.address) as other:
        await warm(one)
        assert await one.leases.hold("polling", "one", seconds=30)
        both.kill(0)
        assert not await other.leases.hold("polling", "other", seconds=30)
        assert await one.leases.hold("polling", "one", seconds=30)
        await both.start(0)

        assert not await other.leases.hold("polling", "other", seconds=30)


async def test_budgets_hold_over_all_cells_and_outlive_one(both: Servers) -> None:
    budget = Budget("slack:C0OPS", Rate(1, 30.0))
    async with open_store(both.address) as one, open_store(both.address) as other:
        await warm(one)
        assert await one.budgets.reserve([budget]) == 0
        assert await other.budgets.reserve([budget]) > 20
        both.kill(0)

        assert await one.budgets.reserve([budget]) == 0
        assert await other.budgets.reserve([budget]) > 20


async def test_a_floor_is_laid_where_it_can_be_and_the_rest_is_told(both: Servers) -> None:
    async with open_store(both.address) as backend:
        await warm(backend)
        both.kill(1)

        with pytest.raises(CellAwayError, match="cell 01"):
            await backend.floors.lay(a_floor())

        book = await backend.rules.book(in_cell(backend, "00"))
        assert book.floor.denial(LONE) is not None


async def test_a_chat_that_moved_is_noted_where_it_can_be_and_the_rest_is_told(
    both: Servers,
) -> None:
    old, new = Place("telegram", "-1"), Place("telegram", "-2")
    async with open_store(both.address) as backend:
        await warm(backend)
        await backend.leases.move(old, new)
        both.kill(0)

        assert await backend.leases.moved(old) == new
        with pytest.raises(CellAwayError):
            await backend.leases.move(old, new)


async def test_who_follows_all_logs_goes_on_and_is_told_when_a_cell_is_back(both: Servers) -> None:
    async with open_store(both.address) as backend:
        await warm(backend)
        both.kill(1)
        async with backend.bus.subscribe(LOG_TOPIC) as bells:
            request = await asked_in(backend, "00")
            await backend.log.append(request.run, request.question_id, "request", request)
            assert (await soon(bells)).session_id == request.run.session_id  # type: ignore[attr-defined]
            await both.start(1)

            with pytest.raises(Exception, match=re.escape("a cell of the store is back")):
                await soon(bells)


async def test_the_checkup_names_the_cell_that_is_wrong(both: Servers) -> None:
    async with open_store(both.address) as backend:
        await warm(backend)
        both.kill(1)

        ailments = await backend.checkup.look()

    assert [one.is_serious for one in ailments if one.text.startswith("cell 01: ")] == [True]
