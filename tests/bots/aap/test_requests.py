"""What an adapter asks becomes a card, and comes back exactly as it was submitted."""

from __future__ import annotations

import asyncio
import json
from datetime import datetime
from decimal import Decimal
from uuid import UUID, uuid4

import pytest
from support.aap_world import PROVISIONER, AapWorld, a_call, with_instance

from sayso import InvalidCallError, PermissionRequestEvent
from sayso.testing import a_request
from sayso.where import Where

pytestmark = pytest.mark.asyncio(loop_scope="module")

EXACT = (
    '{"n":0.1000000000000000055,"big":123456789012345678901234567890123456789012345678901234567890,'
    '"one":1.0,"e":1E+2,"tiny":5e-324,"not":-0.0,"true":true,"text":"\\u00e9\\n\\u2028"}'
)


async def test_a_request_is_asked_shown_allowed_and_used_once(aap: AapWorld) -> None:
    request = await aap.asked(agent_reasoning="the change was reviewed")
    assert request["status"] == "pending"
    assert UUID(request["id"])

    card = await aap.card("terraform apply")
    await aap.playground.slack.press(card, "Allow", by="alice")
    ended = (await aap.get(request["id"], wait="25s")).json
    used = await aap.consume(request["id"])
    reported = await aap.report(request["id"], status="succeeded")

    assert "the change was reviewed" in card.all_text
    assert ended["status"] == ended["decision"]["status"] == "approved"
    assert ended["decision"]["expires_at"] > ended["decision"]["decided_at"]
    assert "consumption" not in ended
    assert used.status == 200
    assert used.json["consumption"]["consumed_at"] >= ended["decision"]["decided_at"]
    assert reported.json["consumption"]["outcome"]["status"] == "succeeded"
    for name in ("id", "created_at", "deadline_at", "tool", "arguments", "timeout"):
        assert reported.json[name] == ended[name] == request[name]


async def test_what_was_submitted_comes_back_with_its_very_numbers(aap: AapWorld) -> None:
    context = '{"cwd":"/srv","n":[1.10,{"deep":1e5}]}'
    body = (
        f'{{"arguments":{EXACT},"tool":"pay","timeout":"90s","server":"bank",'
        f'"context":{context},"agent_reasoning":""}}'
    )

    answer = await aap.call("POST", "/v1/requests", data=body.encode(), key=str(uuid4()))
    later = await aap.get(answer.json["id"])

    assert answer.status == 201, answer.text
    for text in (answer.text, later.text):
        found = json.loads(text, parse_float=Decimal)
        assert found["arguments"] == json.loads(EXACT, parse_float=Decimal)
        assert '"n":0.1000000000000000055' in text
        assert '"big":123456789012345678901234567890123456789012345678901234567890' in text
        assert found["context"] == json.loads(context, parse_float=Decimal)
        assert (found["server"], found["agent_reasoning"]) == ("bank", "")
        assert found["arguments"]["text"] == "é\n\u2028"


async def test_a_number_that_a_program_would_change_is_shown_with_all_its_digits(
    aap: AapWorld,
) -> None:
    await aap.asked_raw('{"amount":0.1000000000000000055}')

    card = await aap.card("0.1000000000000000055")

    assert "Always" not in card.buttons


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ('{"n":1e400}', "too large"),
        ('{"n":' + "9" * 5_000 + "}", "digits"),
        ('{"n":' + json.dumps("x" * 300_000) + "}", "bytes"),
        ("[1]", "object"),
        ("null", "null"),
    ],
)
async def test_a_call_that_cannot_be_taken_is_refused_at_once(
    aap: AapWorld, arguments: str, why: str
) -> None:
    body = f'{{"tool":"pay","timeout":"90s","arguments":{arguments}}}'

    answer = await aap.call("POST", "/v1/requests", data=body.encode(), key=str(uuid4()))

    assert answer.error[0] == 400
    assert why in answer.text


async def test_the_same_key_and_values_are_the_same_request(aap: AapWorld) -> None:
    key = str(uuid4())
    first = await aap.ask(key=key, arguments={"a": 1, "b": "é"}, context={"x": [1.5]})
    other_spelling = (
        b'{ "context":{"x":[15e-1]}, "timeout":"10m",\n "tool":"run_\\u0063ommand",'
        b'"arguments":{"b":"\\u00e9","a":1.0} }'
    )

    again = await aap.call("POST", "/v1/requests", data=other_spelling, key=key)

    assert (first.status, again.status) == (201, 200)
    assert again.json == first.json


@pytest.mark.parametrize(
    "other",
    [
        {"arguments": {"a": True}},
        {"arguments": {"a": "1"}},
        {"arguments": {"a": 2}},
        {"timeout": "600s"},
        {"tool": "other"},
        {"server": "s"},
        {"context": {}},
        {"agent_reasoning": ""},
    ],
    ids=str,
)
async def test_the_same_key_with_other_values_is_refused(
    aap: AapWorld, other: dict[str, object]
) -> None:
    key = str(uuid4())
    await aap.ask(key=key, arguments={"a": 1})

    answer = await aap.ask(key=key, **{"arguments": {"a": 1}, **other})

    assert answer.error == (409, "idempotency_conflict")


async def test_fifty_calls_with_one_key_at_once_make_one_request(aap: AapWorld) -> None:
    key = str(uuid4())

    answers = await asyncio.gather(*(aap.ask(key=key) for _ in range(50)))

    assert sorted({one.status for one in answers}) == [200, 201]
    assert [one.status for one in answers].count(201) == 1
    assert len({one.json["id"] for one in answers}) == 1


async def test_keys_are_those_of_an_instance(aap: AapWorld) -> None:
    other, key = await with_instance(aap), str(uuid4())

    ids = {(await one.ask(key=key)).json["id"] for one in (aap, other)}

    assert len(ids) == 2


@pytest.mark.parametrize("key", [None, "", "with space", "x" * 300, "ü"])
async def test_a_request_needs_a_key(aap: AapWorld, key: str | None) -> None:
    headers = {} if key is None else {"Idempotency-Key": key}

    answer = await aap.call("POST", "/v1/requests", a_call(), headers=headers)

    code = "invalid_idempotency_key" if key else "missing_idempotency_key"
    assert answer.error == (400, code)


@pytest.mark.parametrize(
    ("timeout", "seconds"),
    [
        ("1s", 1),
        ("10m", 600),
        ("24h", 86_400),
        ("604800s", 604_800),
        ("9" * 4_000 + "h", 2_592_000),
    ],
    ids=lambda one: str(one)[:12],
)
async def test_a_timeout_of_any_length_is_taken_and_cut(
    aap: AapWorld, timeout: str, seconds: int
) -> None:
    if len(timeout) > 256:
        assert (await aap.ask(timeout=timeout)).error == (400, "invalid_request")
        timeout = "9" * 200 + "h"

    request = await aap.asked(timeout=timeout)

    assert request["timeout"] == timeout
    assert span(request) == seconds


def span(request: dict[str, str]) -> float:
    """How many seconds there are from the creation of a request to its deadline."""
    created, deadline = (
        datetime.fromisoformat(request[name]) for name in ("created_at", "deadline_at")
    )
    return (deadline - created).total_seconds()


@pytest.mark.parametrize("timeout", ["", "0s", "10", "1.5m", "-1s", "1d", "01s", "10M", "1s\n"])
async def test_what_is_not_a_duration_is_refused(aap: AapWorld, timeout: str) -> None:
    assert (await aap.ask(timeout=timeout)).error[0] == 400


async def test_all_times_are_of_one_precision(aap: AapWorld) -> None:
    request = await aap.approved()
    used = (await aap.consume(request["id"])).json

    moments = [
        used["created_at"],
        used["deadline_at"],
        *(used["decision"][name] for name in ("decided_at", "expires_at")),
        used["consumption"]["consumed_at"],
    ]

    assert {len(one) for one in moments} == {len("2026-11-22T12:00:00.000Z")}
    assert all(one.endswith("Z") for one in moments)


async def test_a_denial_tells_its_reason(aap: AapWorld) -> None:
    request = await aap.pressed("Deny")

    assert (request["status"], request["decision"]["status"]) == ("denied", "denied")
    assert "expires_at" not in request["decision"]


async def test_what_an_adapter_submitted_is_never_changed(aap: AapWorld) -> None:
    await aap.asked(arguments={"command": "never-changed"})
    record = next(
        one
        for one in await aap.backend.watch.pending()
        if "never-changed" in str(getattr(one.request, "arguments", ""))
        and one.request.run.agent_id == aap.agent
    )

    body = record.request.card()

    keys = [choice.key for choice in (*body.choices, *body.more)]
    assert "edit" not in keys
    assert {"allow", "deny", "changes", "deny-reason"} <= set(keys)
    asked = record.request
    assert isinstance(asked, PermissionRequestEvent)
    with pytest.raises(InvalidCallError, match="cannot be changed"):
        asked.approve(by="slack:U0ALICE", modified_arguments={"command": "another"})


async def test_asking_for_changes_is_a_denial_with_a_note(aap: AapWorld) -> None:
    request = await aap.asked()
    record = await aap.backend.store.get(request["id"])
    assert record is not None
    changes = next(one for one in record.request.card().more if one.key == "changes")
    answer = record.request.answer(
        changes, by="slack:U0ALICE", at=record.request.expires_at, inputs={"reason": "use plan"}
    )
    await aap.backend.store.settle(request["id"], answer)

    ended = (await aap.get(request["id"])).json

    assert ended["status"] == "denied"
    assert ended["decision"]["note"] == "Changes were asked for: use plan"


async def test_a_withdrawn_request_ends_polls_and_its_card(aap: AapWorld) -> None:
    request = await aap.asked(arguments={"command": "to-be-withdrawn"})
    await aap.card("to-be-withdrawn")
    polling = asyncio.ensure_future(aap.get(request["id"], wait="25s"))

    first = await aap.call("DELETE", f"/v1/requests/{request['id']}")
    again = await aap.call("DELETE", f"/v1/requests/{request['id']}")

    assert (first.status, again.status) == (200, 200)
    assert first.json == again.json
    assert first.json["status"] == (await polling).json["status"] == "cancelled"
    await aap.playground.slack.message_where(
        lambda card: aap.agent in card.all_text and "the adapter withdrew it" in card.all_text
    )


async def test_what_has_ended_otherwise_cannot_be_withdrawn(aap: AapWorld) -> None:
    request = await aap.approved()

    answer = await aap.call("DELETE", f"/v1/requests/{request['id']}")

    assert answer.error == (409, "already_terminal")


async def test_another_instances_request_is_not_there(aap: AapWorld) -> None:
    request, other = await aap.approved(), await with_instance(aap)
    path = f"/v1/requests/{request['id']}"

    answers = [
        await other.call("GET", path),
        await other.call("GET", f"{path}?wait=1s"),
        await other.call("DELETE", path),
        await other.consume(request["id"]),
        await other.report(request["id"], status="failed"),
    ]

    assert [one.error for one in answers] == [(404, "request_not_found")] * 5
    assert "consumption" not in (await aap.get(request["id"])).json


@pytest.mark.parametrize("given", [str(uuid4()), "x", "..%2f..", "0" * 4_000, "%00"], ids=range(5))
async def test_an_unknown_request_is_not_there(aap: AapWorld, given: str) -> None:
    assert (await aap.get(given)).error[0] == 404


async def test_a_request_of_another_door_is_not_there(aap: AapWorld) -> None:
    request = a_request(str(uuid4()))
    await aap.backend.store.open(request, seconds=30, inbox="", book=None)

    assert (await aap.get(request.question_id)).error == (404, "request_not_found")
    assert (await aap.consume(request.question_id)).error == (404, "request_not_found")


async def test_sessions_that_are_claimed_are_of_the_instance_and_shown_as_claims(
    aap: AapWorld,
) -> None:
    mark = uuid4().hex
    request = await aap.asked(
        arguments={"command": mark},
        context={
            "session_id": "s-42",
            "cwd": "/srv/app",
            "runtime": "codex",
            "call_id": "c",
            "project": "/srv/app",
        },
    )
    record = await aap.backend.store.get(request["id"])
    card = await aap.card(mark)

    assert record is not None
    assert record.request.run.agent_id == aap.agent
    assert record.request.run.session_id == f"aap:{aap.instance_id}:s-42"
    assert record.request.run.project == "/srv/app"
    assert record.request.askers == (f"aap:{aap.instance_id}",)
    assert record.request.where == Where(folder="/srv/app")
    # Of a folder that is the project's own nothing more is to be said.
    assert card.all_text.count("/srv/app") == 1


async def test_where_an_adapter_claims_to_work_is_said_as_any_agent_says_it(aap: AapWorld) -> None:
    place = {"host": "ci-7", "repository": "git.example.com/shop", "branch": "feature/x"}
    context = {"cwd": "/srv/app/web", "project": "/srv/app", "runtime": "codex", **place}
    mark = uuid4().hex
    request = await aap.asked(arguments={"command": mark}, context=context)
    odd = await aap.asked(
        context={"session_id": "s-2", "cwd": "/srv\n/app", "host": 7, "branch": "b" * 301}
    )
    record = await aap.backend.store.get(request["id"])
    other = await aap.backend.store.get(odd["id"])
    card = await aap.card(mark)

    assert record is not None
    assert other is not None
    assert record.request.where == Where(
        "ci-7", "/srv/app/web", "git.example.com/shop", "feature/x", root="/srv/app"
    )
    assert "ci-7 · web · git.example.com/shop · feature/x" in card.all_text
    assert "Claims cwd" not in card.all_text
    assert "Claims runtime" in card.all_text
    assert other.request.where is None


async def test_nobody_is_asked_twice_for_what_always_allows(aap: AapWorld) -> None:
    context = {"resume": {"thread_id": "t-1"}}
    mark = uuid4().hex
    first = await aap.asked(arguments={"command": mark}, context=context)
    await aap.playground.slack.press(await aap.card(mark), "Always", by="alice")
    assert (await aap.get(first["id"], wait="25s")).json["status"] == "approved"

    second = await aap.ask(arguments={"command": mark}, context=context)
    elsewhere = await aap.ask(arguments={"command": mark}, context={"session_id": "t-2"})

    assert second.status == 201
    assert second.json["status"] == "approved"
    assert elsewhere.json["status"] == "pending"


async def test_a_token_may_not_be_in_the_answer_of_a_request(aap: AapWorld) -> None:
    answer = await aap.ask()

    assert aap.token not in answer.text
    assert PROVISIONER not in answer.text
