"""A rule for more than a session counts in every cell, and so does taking it back."""

from __future__ import annotations

import asyncio

import pytest
from redis.asyncio import Redis
from support.cells import in_cell, remember_in, servers

from sayso import Gate, ToolCall
from sayso.agent.options import GateOptions
from sayso.errors import StoreUnreachableError
from sayso.events import Outcome
from sayso.rules.rule import Scope
from sayso.stores.backend import Backend
from sayso.stores.cells.backend import CellsBackend
from sayso.stores.connect import open_store
from sayso.testing import a_request, a_response, a_rule, until

CELLS = ("00", "01", "02")
CALL = ToolCall("run_command")


async def used(backend: Backend) -> None:
    """All cells have been used, as in an installation that runs."""
    for name in CELLS:
        await backend.rules.book(in_cell(backend, name))


def gate_in(backend: Backend, cell: str, *, project: str = "/src/shop") -> Gate:
    run = in_cell(backend, cell, project=project, after=1_000)
    return Gate(backend, GateOptions(run))


@pytest.mark.parametrize("scope", ["agent", "project"])
async def test_what_one_session_was_told_always_counts_in_every_cell(
    backend: Backend, scope: Scope
) -> None:
    await used(backend)
    run = in_cell(backend, "00", project="/src/shop")
    await remember_in(backend, run, a_rule(scope=scope))

    verdicts = [await gate_in(backend, name).check(CALL, timeout=5) for name in CELLS]

    assert [verdict.approved for verdict in verdicts] == [True, True, True]


async def test_a_standing_denial_counts_in_every_cell_from_the_moment_it_is_stored(
    backend: Backend,
) -> None:
    await used(backend)
    run = in_cell(backend, "02")
    await remember_in(backend, run, a_rule(effect="deny", scope="agent"))

    verdicts = [await gate_in(backend, name).check(CALL, timeout=5) for name in CELLS]

    assert {verdict.outcome for verdict in verdicts} == {Outcome.DENIED}


async def test_a_rule_of_a_session_stays_in_its_cell(backend: Backend) -> None:
    await remember_in(backend, in_cell(backend, "00"), a_rule())

    assert isinstance(backend, CellsBackend)
    kept = [await cell.rules.all() for cell in backend.made_of.backends.values()]
    assert [len(some) for some in kept] == [1, 0, 0]


async def test_a_rule_in_all_cells_is_one_rule_with_the_uses_of_all(backend: Backend) -> None:
    rule = a_rule(scope="agent")
    await remember_in(backend, in_cell(backend, "00"), rule)
    for name in CELLS:
        assert await backend.rules.use(in_cell(backend, name), rule.rule_id)

    [kept] = await backend.rules.all()

    assert kept.remembered.uses == 3
    assert kept.question_id
    stored = [one for one in await backend.audit.read(100) if one.kind == "rule_stored"]
    assert len(stored) == 1


async def test_a_rule_that_is_taken_back_counts_nowhere_and_the_audit_says_so_once(
    backend: Backend,
) -> None:
    rule = a_rule(scope="agent")
    await remember_in(backend, in_cell(backend, "01"), rule)

    assert await backend.rules.revoke(rule.rule_id, by="slack:U0ALICE")

    assert not await backend.rules.revoke(rule.rule_id, by="slack:U0ALICE")
    assert await backend.rules.all() == []
    for name in CELLS:
        assert (await backend.rules.book(in_cell(backend, name))).remembered == ()
        assert not await backend.rules.use(in_cell(backend, name), rule.rule_id)
    told = [one for one in await backend.audit.read(100) if one.kind == "rule_revoked"]
    assert len(told) == 1


async def test_a_revoked_rule_is_planted_nowhere_again(backend: Backend) -> None:
    rule = a_rule(scope="agent")
    await remember_in(backend, in_cell(backend, "01"), rule)
    carried = await backend.rules.carried(rule.rule_id)
    await backend.rules.revoke(rule.rule_id, by="slack:U0ALICE")

    assert carried is not None
    assert carried != "revoked"
    assert not await backend.rules.plant(carried)

    assert await backend.rules.carried(rule.rule_id) == "revoked"
    assert await backend.rules.all() == []


async def test_a_cell_that_was_away_learns_what_was_stored_and_taken_back_meanwhile() -> None:
    kept, taken = a_rule("deploy", effect="deny", scope="agent"), a_rule(scope="agent")
    with servers() as both:
        async with open_store(both.address) as backend, backend.outbox.jobs("desk"):
            here, there = in_cell(backend, "00"), in_cell(backend, "01")
            await remember_in(backend, there, taken)
            both.kill(1)
            await remember_in(backend, here, kept)
            assert await backend.rules.revoke(taken.rule_id, by="slack:U0ALICE")
            await both.start(1)

            async def both_agree() -> bool:
                try:
                    book = await backend.rules.book(there)
                except Exception:
                    return False
                return [one.rule_id for one in book.remembered] == [kept.rule_id]

            await until(both_agree)


async def test_a_rule_whose_spreading_was_cut_short_is_spread_by_the_next_desk() -> None:
    rule = a_rule(effect="deny", scope="agent")
    with servers() as both:
        async with open_store(both.address) as backend:
            for name in ("00", "01"):
                await backend.rules.book(in_cell(backend, name))
            both.kill(1)
            await remember_in(backend, in_cell(backend, "00"), rule)
        await both.start(1)
        async with open_store(both.address) as backend, backend.outbox.jobs("desk"):

            async def counts_there() -> bool:
                book = await backend.rules.book(in_cell(backend, "01"))
                return rule in book.remembered

            await until(counts_there)


async def test_a_cell_that_is_new_gets_what_counts_everywhere_before_it_decides(
    store_url: str,
) -> None:
    urls = [f"{store_url}-{number}&cell=0{number}" for number in range(2)]
    rule = a_rule(effect="deny", scope="agent")
    async with open_store(f"{store_url}-0") as alone:
        request = a_request()
        await alone.store.open(request, seconds=30, inbox="", book=None)
        answer = a_response(request, approved=False)
        await alone.store.settle(request.question_id, answer, remember=rule)

    async with open_store(" ".join(urls)) as backend:
        book = await backend.rules.book(in_cell(backend, "01"))

    assert book.remembered == (rule,)


async def test_a_lone_store_becomes_no_cell_while_its_sessions_would_be_looked_for_elsewhere(
    store_url: str,
) -> None:
    urls = [f"{store_url}-{number}&cell=0{number}" for number in range(2)]
    async with open_store(" ".join(urls)) as backend:
        lost, stays = in_cell(backend, "01"), in_cell(backend, "00")
    async with open_store(f"{store_url}-0") as alone:
        await alone.store.open(a_request(run=stays), seconds=30, inbox="", book=None)
        request = a_request(run=lost)
        await alone.store.open(request, seconds=30, inbox="", book=None)

        async with open_store(" ".join(urls)) as backend:
            with pytest.raises(
                StoreUnreachableError, match=f"holds 1 sessions .*{lost.session_id}"
            ):
                await backend.rules.book(stays)
            rule = a_rule()
            await alone.store.settle(request.question_id, a_response(request), remember=rule)
            with pytest.raises(StoreUnreachableError, match="holds 1 sessions"):
                await backend.rules.book(stays)
            await alone.rules.revoke(rule.rule_id, by="slack:U0ALICE")

            assert (await backend.rules.book(stays)).remembered == ()


async def test_a_cell_that_lost_its_data_is_given_the_rules_again(store_url: str) -> None:
    urls = [f"{store_url}-{number}&cell=0{number}" for number in range(2)]
    rule = a_rule(effect="deny", scope="agent")
    async with open_store(" ".join(urls)) as backend:
        await remember_in(backend, in_cell(backend, "00"), rule)
        await backend.rules.book(in_cell(backend, "01"))
        async with Redis.from_url(store_url.partition("?")[0]) as server:
            pattern = f"sayso:{{{store_url.partition('namespace=')[2]}-1}}:*"
            async for key in server.scan_iter(pattern):
                await server.delete(key)
        async with backend.outbox.jobs("desk"):

            async def has_it() -> bool:
                book = await backend.rules.book(in_cell(backend, "01"))
                return rule in book.remembered

            await asyncio.wait_for(until(has_it), 20)
