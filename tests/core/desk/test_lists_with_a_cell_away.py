"""What a person sees and takes back in chat while one cell of the store is away."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest
from support.caller_double import calling_room
from support.cells import in_cell, remember_in, servers

from sayso.calling.manners import Calling
from sayso.chats.places import Answered, Place
from sayso.errors import StoreUnreachableError
from sayso.stores.connect import open_store
from sayso.testing import StoppedClock, a_request, a_rule, until

ALICE, HOME = "slack:U0ALICE", Place("slack", "home")


async def test_lists_in_chat_go_on_and_call_nothing_over_that_may_be_there() -> None:
    with servers() as both:
        async with (
            open_store(both.address) as backend,
            open_store(both.address) as theirs,
            calling_room(backend, StoppedClock(datetime.now(UTC)), Calling()) as room,
        ):
            there, wide = a_rule(), a_rule("deploy", effect="deny", scope="agent")
            for rule in (there, wide):
                await remember_in(theirs, in_cell(theirs, "01"), rule)
            waits = a_request(run=in_cell(theirs, "00"))
            await theirs.store.open(waits, seconds=60, inbox="", book=None)
            assert not (await room.desk.overview(ALICE, HOME)).is_partial
            both.kill(1)

            for whole in (True, False):
                overview = await room.desk.overview(ALICE, HOME, whole=whole)
                assert len(overview.waiting) == 1
                assert overview.is_partial
            with pytest.raises(StoreUnreachableError, match="cell 01"):
                await room.desk.revoke(ALICE, there.rule_id, HOME)
            await both.start(1)

            async def is_revoked() -> bool:
                try:
                    answer = await room.desk.revoke(ALICE, there.rule_id, HOME)
                except StoreUnreachableError:
                    return False
                return answer.kind is Answered.RECORDED

            await asyncio.wait_for(until(is_revoked), 20)
            assert not (await room.desk.overview(ALICE, HOME)).is_partial
