"""What one person may know of all questions, rules and decisions."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest
from support.caller_double import CallingRoom, calling_room
from support.room import OPS, RUN

from sayso import ToolCall
from sayso.calling.manners import Calling
from sayso.chats.places import Answered, Place
from sayso.rules.rule import RememberedRule, literal_rule
from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend
from sayso.testing import StoppedClock
from sayso.worker.app_home import MOST_WAITING

ALICE, MALLORY = "slack:U0ALICE", "slack:U0MALLORY"
HOME = Place("slack", "home")
SECRET = "AKIAIOSFODNN7EXAMPLE"


@pytest.fixture
def clock() -> StoppedClock:
    return StoppedClock(datetime(2026, 1, 10, 12, tzinfo=UTC))


@pytest.fixture
async def backend(clock: StoppedClock) -> AsyncIterator[Backend]:
    async with memory_backend(clock=clock) as backend:
        yield backend


@pytest.fixture
async def room(backend: Backend, clock: StoppedClock) -> AsyncIterator[CallingRoom]:
    async with calling_room(backend, clock, Calling()) as room:
        yield room


async def remembered(room: CallingRoom, **arguments: object) -> RememberedRule:
    """A rule that alice stored with a press."""
    request = await room.ask("deploy")
    rule = RememberedRule(
        rule=literal_rule(ToolCall("deploy", arguments)),
        effect="allow",
        stored_by=ALICE,
        stored_at=room.clock(),
        expires_at=room.clock() + timedelta(hours=1),
    )
    answer = request.approve(by=ALICE, at=room.clock())
    await room.backend.store.settle(request.question_id, answer, remember=rule)
    await room.settled()
    return rule


async def test_what_waits_is_listed_with_links_the_oldest_first(room: CallingRoom) -> None:
    for tool in ("first", "second", "third"):
        await room.ask(tool)
        room.clock.advance(timedelta(seconds=1))
    await room.end(room.asked[1])

    found = await room.desk.overview(ALICE, HOME, whole=False)

    assert [one.title for one in found.waiting] == ["first", "third"]
    assert all(one.link.startswith("https://chat.test/C0OPS/") for one in found.waiting)
    assert (found.more_waiting, found.rules, found.decisions) == (0, (), ())


async def test_the_list_has_an_end_and_says_how_many_more_wait(room: CallingRoom) -> None:
    for number in range(MOST_WAITING + 2):
        await room.ask(f"tool-{number}")
        room.clock.advance(timedelta(seconds=1))

    found = await room.desk.overview(ALICE, HOME)

    assert (len(found.waiting), found.more_waiting) == (MOST_WAITING, 2)
    assert found.waiting[0].title == "tool-0"


async def test_whoever_may_not_decide_sees_nothing(room: CallingRoom) -> None:
    await room.ask()
    await remembered(room, service="shop")

    found = await room.desk.overview(MALLORY, HOME)

    assert (found.waiting, found.rules, found.decisions) == ((), (), ())


async def test_what_somebody_asked_does_not_wait_for_them(room: CallingRoom) -> None:
    await room.ask(requested_by="alice")

    assert not (await room.desk.overview(ALICE, HOME)).waiting
    assert (await room.desk.overview("slack:U0BOB", HOME)).waiting


async def test_rules_say_what_they_mean_and_no_secret(room: CallingRoom) -> None:
    await remembered(room, service="shop", key=SECRET)

    (rule,) = (await room.desk.overview(ALICE, HOME)).rules

    assert (rule.tool, rule.agent, rule.allows, rule.stored_by) == (
        "deploy",
        "deploy-bot",
        True,
        "alice",
    )
    assert "service: shop" in rule.what
    assert SECRET not in rule.what


async def test_a_rule_is_revoked_by_whoever_may_approve(room: CallingRoom) -> None:
    rule = await remembered(room, service="shop")

    answer = await room.desk.revoke(ALICE, rule.rule_id, HOME)

    assert answer.kind is Answered.RECORDED
    assert not await room.backend.rules.all()
    entries = await room.backend.audit.read(9)
    assert [(one.kind, one.by) for one in entries if one.kind == "rule_revoked"] == [
        ("rule_revoked", ALICE)
    ]


async def test_a_revocation_that_is_refused_is_in_the_audit_and_in_the_log_once(
    room: CallingRoom, caplog: pytest.LogCaptureFixture
) -> None:
    rule = await remembered(room, service="shop")
    caplog.set_level(logging.INFO, "sayso.requests")

    answers = [await room.desk.revoke(MALLORY, rule.rule_id, HOME) for _ in range(3)]

    assert {answer.kind for answer in answers} == {Answered.REFUSED}
    assert len(await room.backend.rules.all()) == 1
    (entry,) = [one for one in await room.backend.audit.read(99) if one.kind == "press_refused"]
    assert (entry.by, entry.refusal, entry.rule_id, entry.place, entry.choice) == (
        MALLORY,
        "not_approver",
        rule.rule_id,
        "slack:home",
        "revoke",
    )
    (line,) = [line for line in caplog.messages if "refused" in line]
    assert f"reason=not_approver by={MALLORY} place=slack:home choice=revoke" in line
    assert line.endswith(f"rule_id={rule.rule_id}")


async def test_the_last_decisions_are_told_the_newest_first(room: CallingRoom) -> None:
    for tool in ("first", "second"):
        await room.end(await room.ask(tool))
        room.clock.advance(timedelta(seconds=1))

    decisions = (await room.desk.overview(ALICE, HOME)).decisions

    assert [(one.subject, one.outcome, one.by) for one in decisions] == [
        ("second", "denied", "alice"),
        ("first", "denied", "alice"),
    ]


async def test_what_stands_only_on_another_platform_has_no_link(
    backend: Backend, clock: StoppedClock
) -> None:
    async with calling_room(
        backend, clock, Calling(), approvers=("alice", "telegram:4242"), places=(OPS,)
    ) as room:
        await room.ask(run=RUN)
        (one,) = (await room.desk.overview("telegram:4242", HOME)).waiting

    assert (one.title, one.link, one.card) == ("deploy", "", None)
