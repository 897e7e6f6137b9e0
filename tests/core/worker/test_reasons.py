"""The reason of an ending, whoever wrote it, is read by many: no secret is among it."""

from __future__ import annotations

from datetime import UTC, datetime

from support.chat_double import ChatDouble
from support.room import OPS, RUN, ChatRoom

from sayso import ToolCall
from sayso.cards.card import Ended
from sayso.stores.memory import memory_backend
from sayso.testing import a_request
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker
from sayso_bots.cli.store import ended_text

SECRET = "ghp_" + "a1B2c3D4e5" * 4
HIDDEN = "[redacted: 44 characters]"


async def test_a_secret_in_the_reason_of_an_ending_is_neither_on_the_card_nor_in_the_audit() -> (
    None
):
    async with memory_backend() as backend:
        chat = ChatDouble()
        desk = ApprovalWorker(backend, [chat], Routes([Route((OPS,))]))
        async with ChatRoom.open(backend, desk, chat=chat) as room:
            waiting, _, _ = await room.asked(ToolCall("bash", {"command": "ls"}))
            [record] = await backend.store.list_requests()

            await room.gate.cancel(record.request.question_id, reason=f"{SECRET} is old")

            await waiting
            _, card = await chat.card_where(lambda card: isinstance(card.state, Ended))
            assert isinstance(card.state, Ended)
            assert card.state.reason == f"{HIDDEN} is old"
            [entry] = await backend.audit.read(1)
            assert (entry.kind, entry.reason) == ("cancelled", f"{HIDDEN} is old")


def test_a_secret_in_a_reason_is_not_printed() -> None:
    request = a_request(run=RUN)
    denial = request.deny(by="slack:U0BOB", at=datetime.now(UTC), reason=f"not {SECRET}")

    assert ended_text(denial).endswith(f": not {HIDDEN}")
