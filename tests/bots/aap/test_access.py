"""Who may call what, and how every call is answered, also one that makes no sense."""

from __future__ import annotations

import asyncio
import json
import logging
import random
from uuid import UUID, uuid4

import pytest
from support.aap_room import aap_room, settings
from support.aap_world import PROVISIONER, STRANGER, AapWorld, with_instance

from sayso_bots.settings.aap import AapLimits

pytestmark = pytest.mark.asyncio(loop_scope="module")

NOBODY = "sayso_" + "n" * 43
ENDPOINTS = [
    ("POST", "/v1/requests", "instance"),
    ("GET", "/v1/requests/{id}", "instance"),
    ("DELETE", "/v1/requests/{id}", "instance"),
    ("POST", "/v1/requests/{id}/consume", "instance"),
    ("POST", "/v1/requests/{id}/outcome", "instance"),
    ("POST", "/v1/instances", "provisioner"),
    ("GET", "/v1/instances/{id}", "provisioner"),
    ("PATCH", "/v1/instances/{id}", "provisioner"),
    ("DELETE", "/v1/instances/{id}", "provisioner"),
]


@pytest.mark.parametrize(("method", "path", "kind"), ENDPOINTS)
async def test_each_call_needs_a_token_of_its_kind(method: str, path: str, kind: str) -> None:
    async with aap_room() as room:
        path = path.format(id=uuid4())
        other = PROVISIONER if kind == "instance" else room.token

        none = await room.call(method, path, token="", key="k")
        strange = await room.call(method, path, token=NOBODY, key="k")
        wrong = await room.call(method, path, token=other, key="k")

    assert none.error == (401, "missing_token")
    assert strange.error == (401, "invalid_token")
    assert wrong.error == (403, "wrong_token")


@pytest.mark.parametrize("token", ["x", "sayso_", "ü" * 49, "sayso_" + "=" * 43, "a" * 5_000])
async def test_what_is_no_token_is_refused(aap: AapWorld, token: str) -> None:
    headers = {"Authorization": f"Bearer {token}".encode().decode("latin-1")}

    answer = await aap.call("GET", f"/v1/requests/{uuid4()}", token="", headers=headers)

    assert answer.status in (401, 429)


async def test_a_token_with_another_instances_id_is_refused(aap: AapWorld) -> None:
    other = await with_instance(aap)
    mixed = other.token[:28] + aap.token[28:]

    answer = await aap.call("GET", f"/v1/requests/{uuid4()}", token=mixed)

    assert answer.status in (401, 429)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "", 404),
        ("GET", "/", 404),
        ("GET", "/v2/requests", 404),
        ("POST", "/v1/requests/x/y/z", 404),
        ("GET", "/v1/requests", 405),
        ("PUT", "/v1/instances", 405),
    ],
)
async def test_every_answer_has_an_id_also_of_paths_that_are_not_there(
    aap: AapWorld, method: str, path: str, status: int
) -> None:
    answer = await aap.call(method, path)

    assert answer.error[0] == status
    assert UUID(answer.headers["X-Request-ID"])


async def test_ids_of_answers_are_all_different(aap: AapWorld) -> None:
    answers = await asyncio.gather(*(aap.call("GET", "/") for _ in range(20)))

    assert len({one.headers["X-Request-ID"] for one in answers}) == 20


GOOD = b'{"tool":"t","arguments":{"a":1},"timeout":"1m"}'
ODD = [
    b"",
    b"null",
    b"[]",
    b'"x"',
    b"1",
    b"{",
    b"\xff\xfe",
    b"\xef\xbb\xbf" + GOOD,
    GOOD.decode().encode("utf-16"),
    GOOD + GOOD,
    b"[" * 3_000 + b"]" * 3_000,
    b'{"a":' * 3_000 + b"1" + b"}" * 3_000,
    b'{"tool":"t","timeout":"1m","arguments":{"a":' + b"[" * 90 + b"]" * 90 + b"}}",
    b"9" * 5_000,
    b'{"tool":"t","timeout":"1m","arguments":{"a":' + b"9" * 5_000 + b"}}",
    b'{"tool":"t","timeout":"1m","arguments":{"a":1e99999999999999999999}}',
    b'{"tool":"t","timeout":"1m","arguments":{"a":-1e400}}',
    b'{"tool":"t","timeout":"1m","arguments":{"a":NaN}}',
    b'{"tool":"t","timeout":"1m","arguments":{"a":Infinity}}',
    b'{"tool":"t","timeout":"1m","arguments":{"a":"\\ud800"}}',
    b'{"tool":"t","timeout":"1m","arguments":{"\\udfff":1}}',
    b'{"tool":"\\ud800","timeout":"1m","arguments":{}}',
    b'{"tool":"t","timeout":"1m","arguments":{},"context":{"a":"\\ud800"}}',
    b'{"tool":"t","timeout":"1m","arguments":{"a":1,"a":2}}',
    b'{"tool":"t","timeout":"1m","arguments":{"a":1,"\\u0061":2}}',
    b'{"tool":"t","tool":"t","timeout":"1m","arguments":{}}',
    b'{"tool":"t","timeout":"1m","arguments":{},"context":{"a":1,"a":1}}',
    b'{"tool":"t","timeout":"1m","arguments":{},"context":null}',
    b'{"tool":"t","timeout":"1m","arguments":{},"server":""}',
    b'{"tool":"","timeout":"1m","arguments":{}}',
    b'{"tool":1,"timeout":"1m","arguments":{}}',
    b'{"tool":"t","timeout":60,"arguments":{}}',
    b'{"tool":"t","timeout":"1m","arguments":[]}',
    b'{"tool":"t","timeout":"1m"}',
    b'{"tool":"t","timeout":"1m","arguments":{},"more":1}',
    b'{"tool":"' + b"t" * 300 + b'","timeout":"1m","arguments":{}}',
    b'{"tool":"t","timeout":"1m","arguments":{"a":"' + b"x" * 300_000 + b'"}}',
    b'{"tool":"t","timeout":"1m","arguments":{},"context":{"a":"' + b"x" * 70_000 + b'"}}',
    b'{"tool":"t","timeout":"1m","arguments":{},"agent_reasoning":"' + b"x" * 21_000 + b'"}',
    b" " * (1024 * 1024 + 1),
]


def bodies() -> list[bytes]:
    """Two hundred bodies that are no submission."""
    luck, found = random.Random(42), list(ODD)
    while len(found) < 200:
        broken = bytearray(GOOD)
        for _ in range(luck.randrange(1, 4)):
            broken[luck.randrange(len(broken))] = luck.choice(b'\x00"{}[],:\\\xff9-')
        if bytes(broken) != GOOD and not _may_be_good(bytes(broken)):
            found.append(bytes(broken))
    return found


def _may_be_good(body: bytes) -> bool:
    try:
        given = json.loads(body)
    except ValueError:
        return False
    return isinstance(given, dict)


async def test_two_hundred_malformed_bodies_are_the_callers_fault(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with aap_room() as room:
        instance = f"/v1/instances/{room.instance_id}"
        for number, body in enumerate(bodies()):
            calls = [
                ("POST", "/v1/requests", room.token),
                ("POST", f"/v1/requests/{uuid4()}/outcome", room.token),
                ("POST", "/v1/instances", PROVISIONER),
                ("PATCH", instance, PROVISIONER),
            ]
            for method, path, token in calls:
                answer = await room.call(method, path, token=token, key=str(number), data=body)
                status, _ = answer.error
                assert 400 <= status < 500, (path, body[:80], answer.text)
        assert await room.backend.watch.pending() == []
        shown = await room.call("GET", instance, token=PROVISIONER)
        assert "name" not in shown.json

    assert [one for one in caplog.records if one.levelno >= logging.ERROR] == []


async def test_a_call_without_a_body_does_nothing_when_it_has_one() -> None:
    async with aap_room() as room:
        request = await room.asked()
        await room.settled(request["id"])
        path, instance = f"/v1/requests/{request['id']}", f"/v1/instances/{room.instance_id}"
        calls = [
            ("POST", f"{path}/consume", room.token),
            ("DELETE", path, room.token),
            ("DELETE", instance, PROVISIONER),
        ]
        for number, body in enumerate(one for one in ODD if one):
            for method, where, token in calls:
                answer = await room.call(method, where, token=token, key=str(number), data=body)
                assert 400 <= answer.error[0] < 500, (where, body[:80], answer.text)

        assert "consumption" not in (await room.get(request["id"])).json
        assert (await room.call("GET", instance, token=PROVISIONER)).status == 200


async def test_every_endpoint_is_among_those_that_are_tried_here() -> None:
    async with aap_room() as room:
        assert room.provider is not None
        routes = room.provider.routes()

    there = {(one.method, one.path) for one in routes if one.method != "*"}
    assert there == {(method, f"/aap{path}") for method, path, _ in ENDPOINTS}


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Encoding": "gzip"},
        {"Content-Encoding": "br"},
        {"Content-Encoding": "nonsense"},
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/json; charset=utf-7"},
        {"Content-Type": "ü"},
    ],
    ids=str,
)
async def test_a_body_that_says_it_is_something_else_is_refused(
    aap: AapWorld, headers: dict[str, str]
) -> None:
    body = b'{"tool":"t","timeout":"1m","arguments":{}}'

    answer = await aap.call("POST", "/v1/requests", key="k", data=body, headers=headers)

    assert answer.error[0] == 400


async def test_a_body_with_broken_chunks_is_the_callers_fault(aap: AapWorld) -> None:
    host, _, port = aap.url.removeprefix("http://").rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(
        b"POST /aap/v1/requests HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "
        + aap.token.encode()
        + b"\r\nContent-Type: application/json\r\nIdempotency-Key: k\r\n"
        b"Transfer-Encoding: chunked\r\n\r\nzz\r\nnonsense\r\n0\r\n\r\n"
    )

    async with asyncio.timeout(20):
        head = await reader.readuntil(b"\r\n\r\n")
    writer.close()

    assert head.split()[1] == b"400"
    assert b"x-request-id: " in head.lower()


async def test_whoever_calls_too_often_is_told_when_to_come_back() -> None:
    limits = AapLimits(per_second=2, requests_per_second=1, provisioner_per_second=1)
    async with aap_room(settings(limits)) as room:
        asked = [await room.ask() for _ in range(4)]
        made = [
            await room.call("POST", "/v1/instances", {}, token=PROVISIONER, key=str(n))
            for n in range(4)
        ]

    for answers in (asked, made):
        refused = [one for one in answers if one.status == 429]
        assert refused
        assert {one.error for one in refused} == {(429, "too_many_calls")}
        assert all(int(one.headers["Retry-After"]) >= 1 for one in refused)


async def test_one_instance_does_not_use_up_the_calls_of_another() -> None:
    limits = AapLimits(per_second=1, requests_per_second=100, provisioner_per_second=1_000)
    async with aap_room(settings(limits)) as room:
        other = await with_instance(room)
        for _ in range(5):
            await room.get(str(uuid4()))

        assert (await other.get(str(uuid4()))).status == 404


async def test_no_token_is_in_the_log(aap: AapWorld, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        await aap.asked()
        await aap.call("GET", "/", token=NOBODY)
        await aap.call("GET", f"/v1/requests/{uuid4()}", token=NOBODY)
        await aap.call("POST", "/v1/instances", {}, token=STRANGER, key="k")

    for token in (aap.token, NOBODY, STRANGER, PROVISIONER):
        assert token not in caplog.text
