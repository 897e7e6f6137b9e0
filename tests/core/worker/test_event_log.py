"""What a worker logs of a request: a line each, with its id, and without what may not be there."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from support.chat_double import ChatDouble, press_on
from support.room import OPS, RUN, ChatRoom

from sayso import Outcome, RunRef, ToolCall
from sayso.cards.card import Ended
from sayso.chats.places import Place
from sayso.errors import DeliveryError
from sayso.stores.backend import Backend
from sayso.testing import a_request
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker

ALICE, MALLORY, PHONE = "slack:U0ALICE", "slack:U0MALLORY", Place("telegram", "42")
CALL = ToolCall("bash", {"command": "echo an-argument-of-this-test"})


@pytest.fixture
async def room(backend: Backend, caplog: pytest.LogCaptureFixture) -> AsyncIterator[ChatRoom]:
    caplog.set_level(logging.INFO, "sayso.requests")
    chat = ChatDouble()
    routes = Routes(
        [Route((OPS, PHONE), approvers=(ALICE,), tool="phoned"), Route((OPS,), approvers=(ALICE,))]
    )
    async with ChatRoom.open(backend, ApprovalWorker(backend, [chat], routes), chat=chat) as room:
        yield room
    assert "an-argument-of-this-test" not in caplog.text


def said(caplog: pytest.LogCaptureFixture, event: str = "") -> list[dict[str, Any]]:
    """The fields of the lines, those of one kind or all, with what happened."""
    records = [one for one in caplog.records if one.name == "sayso.requests"]
    fields = [{"event": vars(one)["event"], **vars(one)["fields"]} for one in records]
    return [one for one in fields if event in ("", one["event"])]


async def test_a_request_is_a_line_when_it_is_opened_shown_and_resolved(
    room: ChatRoom, caplog: pytest.LogCaptureFixture
) -> None:
    waiting, ref, card = await room.asked(CALL)
    await room.desk.press(press_on(ref, card, "allow"))
    verdict = await waiting
    await room.settled()

    opened, posted, resolved = said(caplog)
    about = {"agent": RUN.agent_id, "session": RUN.session_id, "tool": "bash"}
    assert opened == {"event": "request opened", "request_id": verdict.permission_id, **about}
    assert (posted["event"], posted["place"]) == ("card posted", "slack:C0OPS")
    assert 0 <= resolved.pop("seconds") < 30
    assert resolved == {
        "event": "request resolved",
        "request_id": verdict.permission_id,
        "outcome": "approved",
        "by": ALICE,
        "platform": "slack",
        **about,
    }


async def test_what_became_of_an_approval_is_not_another_end(
    room: ChatRoom, caplog: pytest.LogCaptureFixture
) -> None:
    waiting, ref, card = await room.asked(CALL)
    await room.desk.press(press_on(ref, card, "allow"))
    verdict = await waiting
    assert verdict.permission_id is not None

    until = datetime.now(UTC) + timedelta(minutes=1)
    await room.backend.store.consume_approval(verdict.permission_id, "run-1", until=until)
    await room.backend.store.report_outcome(verdict.permission_id, "succeeded")
    await room.chat.card_where(lambda card: isinstance(card.state, Ended) and "ran" in str(card))
    await room.settled()

    assert len(said(caplog, "request resolved")) == 1


async def test_a_click_that_is_refused_is_a_line_with_the_reason_however_often_it_comes(
    room: ChatRoom, caplog: pytest.LogCaptureFixture
) -> None:
    _, ref, card = await room.asked(CALL)

    for _ in range(3):
        await room.desk.press(press_on(ref, card, "allow", by=MALLORY))

    [refused] = said(caplog, "interaction refused")
    assert refused["request_id"] == said(caplog)[0]["request_id"]
    assert (refused["reason"], refused["by"]) == ("not_approver", MALLORY)
    assert (refused["place"], refused["choice"]) == ("slack:C0OPS", "allow")


async def test_clicks_of_one_person_on_cards_that_nobody_knows_are_a_line(
    room: ChatRoom, caplog: pytest.LogCaptureFixture
) -> None:
    _, ref, card = await room.asked(CALL)
    strange = replace(card, handle="nobody-knows-this")

    for _ in range(50):
        await room.desk.press(press_on(ref, strange, "allow", by=MALLORY))

    [refused] = said(caplog, "interaction refused")
    assert (refused["request_id"], refused["reason"]) == ("-", "unknown")
    assert (refused["by"], refused["place"]) == (MALLORY, "slack:C0OPS")
    assert "nobody-knows-this" not in caplog.text


async def test_a_rule_is_a_line_when_it_is_stored_and_when_it_is_revoked(
    room: ChatRoom, caplog: pytest.LogCaptureFixture
) -> None:
    waiting, ref, card = await room.asked(CALL)
    await room.desk.press(press_on(ref, card, "always"))
    verdict = await waiting
    await room.settled()
    await room.desk.press(press_on(ref, room.chat.cards[ref], "revoke"))
    await room.settled()

    [stored], [revoked] = said(caplog, "rule stored"), said(caplog, "rule revoked")
    assert stored["request_id"] == revoked["request_id"] == verdict.permission_id
    assert stored["rule_id"] == revoked["rule_id"] != ""
    assert (stored["by"], revoked["by"]) == (ALICE, ALICE)
    assert len(said(caplog, "request resolved")) == 1


async def test_a_card_that_cannot_be_posted_is_a_line_for_each_place(
    room: ChatRoom, caplog: pytest.LogCaptureFixture
) -> None:
    room.chat.fail("show", DeliveryError("slack", "channel_not_found", permanent=True))

    verdict = await room.gate.check(ToolCall("phoned"))
    await room.settled()

    assert verdict.outcome is Outcome.UNDELIVERABLE
    refused = said(caplog, "card not posted")
    assert {one["place"]: one["reason"] for one in refused} == {
        "slack:C0OPS": "slack:C0OPS: channel_not_found",
        "telegram:42": "telegram is not configured",
    }
    assert {one["request_id"] for one in refused} == {verdict.permission_id}
    [resolved] = said(caplog, "request resolved")
    assert (resolved["outcome"], "by" in resolved) == ("undeliverable", False)


async def test_what_an_agent_brings_stays_on_its_line(
    room: ChatRoom, caplog: pytest.LogCaptureFixture
) -> None:
    run = RunRef('deploy-bot" outcome=approved', "s-1\n2026-01-01 INFO sayso.requests: forged")
    request = a_request(tool="bash\r\x1b[2Kxoxb-123456789012-abcdefghijklmnop", run=run)
    await room.backend.store.open(request, seconds=30, inbox="", book=None)
    await room.chat.card_where()

    text = next(one for one in caplog.messages if "request opened" in one)
    assert text.isprintable()
    assert 'agent="deploy-bot\\" outcome=approved"' in text
    assert 'session="s-1⏎2026-01-01 INFO sayso.requests: forged"' in text
    assert "xoxb-123456789012" not in text
