"""A cell moves to another server as a whole, as docs/scale.md says, and no session moves."""

from __future__ import annotations

import pytest
from redis.asyncio import Redis
from support.cells import asked_in, in_cell, remember_in, servers
from support.valkey_server import Valkey

from sayso.errors import OtherCellsError
from sayso.stores.addresses import MARK, read_cells
from sayso.stores.connect import open_store
from sayso.stores.redis.keys import Keys
from sayso.testing import a_response, a_rule, until


async def test_a_cell_moves_to_another_server_with_all_that_is_in_it() -> None:
    with servers(3) as three:
        one, old, new = three.servers
        both, moved = (
            f"{one.url}?cell=00 {there.url}?cell=01&socket_timeout=5" for there in (old, new)
        )
        async with open_store(both) as backend:
            request, rule = await asked_in(backend, "01"), a_rule(effect="deny", scope="session")
            await remember_in(backend, in_cell(backend, "01", after=50), rule)

        await replicated(old, new)
        async with open_store(moved) as backend:
            [waiting] = await backend.watch.pending()
            settled = await backend.store.settle(request.question_id, a_response(request))
            book = await backend.rules.book(in_cell(backend, "01", after=50))

        async with open_store(both) as left_behind:
            await left_behind.rules.book(in_cell(left_behind, "00"))
            with pytest.raises(OtherCellsError, match="belongs to the cells redis-c"):
                await left_behind.rules.book(in_cell(left_behind, "01"))

    assert waiting.request.question_id == request.question_id
    assert settled.first
    assert book.remembered == (rule,)


async def replicated(old: Valkey, new: Valkey) -> None:
    """The commands of the page, in its order."""
    async with Redis.from_url(old.url) as at:
        await at.config_set("repl-diskless-sync-delay", 0)  # no time is lost in a test
    async with Redis.from_url(new.url, decode_responses=True) as at:
        await at.config_set("masterauth", old.password)
        await at.replicaof("127.0.0.1", old.port)

        async def is_there() -> bool:
            return (await at.info("replication")).get("master_link_status") == "up"

        await until(is_there)
        await at.replicaof("NO", "ONE")
    [cell] = read_cells(f"{old.url}?cell=01")
    mark = Keys(cell.url.partition("namespace=")[2]).document(MARK)
    async with Redis.from_url(old.url) as at:
        await at.set(mark, "01 of redis-c")
