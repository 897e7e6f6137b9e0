"""What the policy of the server says of an adapter's calls: terminal at once, or a card."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from support.aap_room import MINUTE, AapRoom, aap_room
from support.late_floors import late

from sayso import Rule
from sayso.policy.server_policy import Section, ServerPolicy
from sayso.policy.written import PlacedRule
from sayso.questions.permission import PermissionRequestEvent
from sayso.stores.memory import memory_backend
from sayso.testing import StoppedClock
from sayso.testing.floor_contract import a_floor


def policy(*, allow: tuple[Rule, ...] = (), deny: tuple[Rule, ...] = ()) -> ServerPolicy:
    """A policy with these rules, as the settings make it."""
    section = Section(
        allow=tuple(PlacedRule(rule, "here") for rule in allow),
        deny=tuple(PlacedRule(rule, "here") for rule in deny),
    )
    return ServerPolicy([section])


ALLOWS = policy(
    allow=(Rule("read"), Rule("pay", {"amount": "0.1"}), Rule("fs/read")),
    deny=(Rule("pay", {"amount": "0.2"}), Rule("rm")),
)


async def status(room: AapRoom, arguments: str, tool: str = "pay") -> str:
    """How a call stands once it is asked about."""
    body = f'{{"tool":"{tool}","timeout":"1m","arguments":{arguments}}}'
    answer = await room.call("POST", "/v1/requests", data=body.encode(), key=arguments + tool)
    assert answer.status == 201, answer.text
    found: str = answer.json["status"]
    return found


async def test_a_decision_by_policy_is_terminal_at_creation() -> None:
    async with aap_room(policy=ALLOWS) as room:
        allowed, denied = await room.ask(tool="read", key="a"), await room.ask(tool="rm", key="d")
        again = await room.ask(tool="read", key="a")
        used = await room.consume(allowed.json["id"])
        await room.afterwards()

    assert (allowed.status, allowed.json["status"]) == (201, "approved")
    assert (denied.status, denied.json["status"]) == (201, "denied")
    assert denied.json["decision"]["note"]
    assert allowed.json["decision"]["expires_at"] > allowed.json["decision"]["decided_at"]
    assert (again.status, again.json) == (200, allowed.json)
    assert used.status == 200
    assert sorted(room.notifier.ended_ids) == sorted((allowed.json["id"], denied.json["id"]))


async def test_what_a_policy_allows_fills_no_audit() -> None:
    async with aap_room(policy=ALLOWS) as room:
        for number in range(3):
            request = (await room.ask(tool="read", key=str(number))).json
            await room.consume(request["id"])
            await room.report(request["id"], status="succeeded")

        assert await room.backend.audit.read(10) == []


async def test_no_rule_allows_a_number_that_a_program_would_change() -> None:
    async with aap_room(policy=ALLOWS) as room:
        assert await status(room, '{"amount":0.1}') == "approved"
        assert await status(room, '{"amount":1e-1}') == "approved"
        assert await status(room, '{"amount":0.1000000000000000055}') == "pending"
        assert await status(room, '{"amount":"0.1"}') == "approved"


@pytest.mark.parametrize(
    ("written", "held"),
    [
        ("9007199254740993", "9007199254740992"),
        ("-9007199254740993", "-9007199254740992"),
        ("1" * 30, "1.111111111111111e+29"),
    ],
)
async def test_no_rule_allows_an_integer_that_javascript_would_change(
    written: str, held: str
) -> None:
    readings = [Rule("pay", {"amount": text}) for text in (written, held)]
    async with aap_room(policy=policy(allow=tuple(readings))) as room:
        assert await status(room, f'{{"amount":{written}}}') == "pending"
        assert await status(room, f'{{"amount":{held}}}') == "approved"
    for reading in readings:
        async with aap_room(policy=policy(deny=(reading,))) as room:
            assert await status(room, f'{{"amount":{written}}}') == "denied"


async def test_an_integer_that_no_double_comes_near_is_refused() -> None:
    async with aap_room() as room:
        body = f'{{"tool":"pay","timeout":"1m","arguments":{{"amount":{"9" * 400}}}}}'
        answer = await room.call("POST", "/v1/requests", data=body.encode(), key="k")

    assert answer.error == (400, "unsupported_arguments")


async def test_a_rule_denies_a_number_that_a_program_would_change_into_what_it_denies() -> None:
    async with aap_room(policy=ALLOWS) as room:
        assert await status(room, '{"amount":0.2}') == "denied"
        assert await status(room, '{"amount":0.2000000000000000055}') == "denied"


async def denied_for_always(room: AapRoom, request_id: str) -> None:
    """Somebody presses *Always deny* on the card of the request."""
    record = await room.backend.store.get(request_id)
    assert record is not None
    assert isinstance(record.request, PermissionRequestEvent)
    never = next(one for one in record.request.card().more if one.key == "deny-always")
    at, until = room.clock(), room.clock() + MINUTE
    rule = record.request.to_remember(never, by="slack:U0ALICE", at=at, until=until)
    denial = record.request.answer(never, by="slack:U0ALICE", at=at)
    await room.backend.store.settle(request_id, denial, remember=rule)


async def test_what_is_denied_for_always_by_now_cannot_be_approved() -> None:
    async with aap_room() as room:
        request = await room.asked(arguments={"command": "x"}, context={"session_id": "s"})
        other = await room.asked(arguments={"command": "x"}, context={"session_id": "s"})
        await denied_for_always(room, other["id"])

        assert await room.settled(request["id"]) == "denied"
        assert (await room.get(request["id"])).json["status"] == "denied"


async def test_an_approval_is_not_used_once_the_call_is_denied_for_always() -> None:
    async with aap_room() as room:
        asked: dict[str, Any] = {"arguments": {"command": "x"}, "context": {"session_id": "s"}}
        request = (await room.ask(key="r", **asked)).json
        other = await room.asked(**asked)
        assert await room.settled(request["id"]) == "approved"
        await denied_for_always(room, other["id"])

        used = await room.consume(request["id"])
        again = await room.ask(key="r", **asked)

        assert used.error == again.error == (409, "not_approved")
        record = await room.backend.store.get(request["id"])
        assert record is not None
        assert record.use is None
        # The protocol tells a decision once and for all.
        assert (await room.get(request["id"])).json["status"] == "approved"


async def test_an_approval_is_not_used_once_the_server_denies_the_call() -> None:
    rules = policy(allow=(Rule("read"),))
    async with aap_room(policy=rules) as room:
        allowed = (await room.ask(tool="read", key="a")).json
        rules.replace([Section(deny=(PlacedRule(Rule("read"), "here"),))])

        assert (await room.consume(allowed["id"])).error == (409, "not_approved")
        assert (await room.ask(tool="read", key="a")).error == (409, "not_approved")


async def test_an_approval_is_not_used_once_a_floor_denies_the_call() -> None:
    async with aap_room(policy=ALLOWS) as room:
        allowed = (await room.ask(tool="read", key="a")).json
        await room.backend.floors.lay(a_floor("read"))

        assert (await room.consume(allowed["id"])).error == (409, "not_approved")


async def test_what_a_policy_allows_is_recorded_on_the_rules_it_was_allowed_on() -> None:
    allows = ServerPolicy([Section(default="allow", audit=True)])
    for tool, status in (("read", "denied"), ("other", "approved")):
        clock = StoppedClock(datetime(2026, 11, 22, 12, tzinfo=UTC))
        async with memory_backend(clock=clock) as kept:
            backend, audit = late(kept, a_floor("read"))
            async with aap_room(policy=allows, backend=backend, clock=clock) as room:
                said = (await room.ask(tool=tool)).json

                assert said["status"] == status
                # What is allowed is told once, also where the rules have changed meanwhile.
                assert len(audit.notes) == (2 if status == "denied" else 1)


async def test_what_was_used_is_told_whatever_is_denied_by_now() -> None:
    async with aap_room(policy=ALLOWS) as room:
        allowed = (await room.ask(tool="read", key="a")).json
        used = await room.consume(allowed["id"], "k")
        await room.backend.floors.lay(a_floor("read"))

        again = await room.consume(allowed["id"], "k")

        assert (again.status, again.json) == (200, used.json)
        assert (await room.ask(tool="read", key="a")).json == used.json


@pytest.mark.parametrize(
    ("tool", "server", "name"),
    [
        ("read", None, "read"),
        ("read", "fs", "fs/read"),
        ("fs/read", None, "/fs/read"),
        ("b/c", "a", "a/b/c"),
        ("c", "a/b", "a%2Fb/c"),
        ("c", "a%2Fb", "a%252Fb/c"),
        ("/fs/read", None, "//fs/read"),
    ],
)
async def test_the_server_is_part_of_a_tools_name_and_no_two_tools_have_one(
    tool: str, server: str | None, name: str
) -> None:
    async with aap_room(policy=ALLOWS) as room:
        answer = await room.ask(tool=tool, server=server)
        record = await room.backend.store.get(answer.json["id"])

    assert record is not None
    assert record.request.subject == name
    assert (answer.json["status"] == "approved") == (name in ("read", "fs/read"))


async def session_of(room: AapRoom, context: str) -> str:
    """The session that a call with this context belongs to, without that of its instance."""
    body = f'{{"tool":"pay","timeout":"1m","arguments":{{}},"context":{context}}}'
    answer = await room.call("POST", "/v1/requests", data=body.encode(), key=context[:200])
    assert answer.status == 201, answer.text
    record = await room.backend.store.get(answer.json["id"])
    assert record is not None
    return record.request.run.session_id.removeprefix(f"aap:{room.instance_id}").lstrip(":")


async def test_sessions_that_begin_alike_are_two_however_long_their_names_are() -> None:
    async with aap_room() as room:
        long = "s" * 128
        sessions = [
            await session_of(room, f'{{"session_id":"{name}"}}')
            for name in (long, long + "a", long + "b")
        ]

    assert sessions[0] == long
    assert len(set(sessions)) == 3
    assert max(map(len, sessions)) <= 128


async def test_a_number_names_no_session_and_is_no_claim() -> None:
    async with aap_room() as room:
        assert await session_of(room, '{"session_id":5,"runtime":6}') == ""
        assert await session_of(room, '{"session_id":5,"resume":{"thread_id":"t"}}') == "t"
        pending = await room.backend.watch.pending()

    for record in pending:
        assert isinstance(record.request, PermissionRequestEvent)
        assert record.request.claims == ()
