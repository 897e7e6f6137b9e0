"""What the web server says, and logs, of calls that are no HTTP or that it cannot read."""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
from urllib.parse import urlsplit

import pytest
from support.api_world import (
    CI,
    REVIEWER,
    World,
    a_body,
)

from sayso.testing.builders import PATIENCE_SECONDS

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def sent(world: World, data: bytes) -> tuple[int, dict[str, str], str]:
    """What is answered to these bytes: status, headers and body."""
    host, port = urlsplit(world.url).hostname, urlsplit(world.url).port
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(data)
    answer = await answered(reader)
    writer.close()
    await writer.wait_closed()
    return answer


async def answered(reader: asyncio.StreamReader) -> tuple[int, dict[str, str], str]:
    async with asyncio.timeout(PATIENCE_SECONDS):
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        lines = head.split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines[1:] if line)
        body = (await reader.readexactly(int(headers.get("content-length", "0")))).decode()
    return int(lines[0].split()[1]), headers, body


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer SECRET\x01\x00\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer SECRET" + b"x" * 9_000 + b"\r\n\r\n",
        b"GET /agents/a/sessions/b/branches/c/events?ticket=SECRET\x01 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /events?ticket=SECRET" + b"x" * 9_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        b"SECRET\r\n\r\n",
        b"GET http://SECRET:x:y/ HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: SECRET\r\n\r\n",
    ],
)
async def test_what_the_parser_refuses_is_quoted_nowhere(
    world: World, caplog: pytest.LogCaptureFixture, data: bytes
) -> None:
    with caplog.at_level(logging.DEBUG):
        status, headers, body = await sent(world, data)

    assert status == 400
    assert headers["content-type"] == "application/problem+json"
    assert json.loads(body)["code"] == "InvalidHttp"
    assert json.loads(body)["status"] == 400
    for told in (body, caplog.text, *(str(record.exc_info) for record in caplog.records)):
        assert "SECRET" not in told
    assert len(caplog.records) <= 3


@pytest.mark.parametrize("expected", [b"SECRET\xff", b"SECRET", b"", b"100-continue, SECRET"])
@pytest.mark.parametrize("path", [b"/slack/events", b"/nowhere", b"/openapi.json"])
async def test_an_expectation_that_nobody_knows_is_refused_and_not_quoted(
    world: World, caplog: pytest.LogCaptureFixture, path: bytes, expected: bytes
) -> None:
    data = b"POST " + path + b" HTTP/1.1\r\nHost: x\r\nExpect: " + expected + b"\r\n\r\n"
    with caplog.at_level(logging.DEBUG):
        status, headers, body = await sent(world, data)

    assert status == 417
    assert headers["content-type"] == "application/problem+json"
    assert "SECRET" not in body + caplog.text
    assert "Traceback" not in caplog.text


def post(world: World, headers: str, body: bytes) -> bytes:
    head = (
        f"POST {world.branch}/requests HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {CI}\r\n"
        f"Content-Type: application/json\r\n{headers}\r\n"
    )
    return head.encode() + body


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        (b'{"type": "PERMISSION_REQUEST", "functionName": "pay", "arguments": %b}', "/arguments/x"),
        (
            b'{"type": "STRUCTURED_INPUT_REQUEST", "text": "?", "jsonSchema": %b}',
            "/jsonSchema/x",
        ),
        (
            b'{"type": "PERMISSION_REQUEST", "functionName": "pay", "timeout": 1e400, "a": %b}',
            "/a/x",
        ),
    ],
)
async def test_a_number_that_nobody_can_keep_is_pointed_at(
    world: World, body: bytes, pointer: str
) -> None:
    data = body.replace(b"%b", b'{"x": 1e400}')

    reply = await world.call("POST", f"{world.branch}/requests", data=data)

    assert pointer in reply.pointers


async def test_a_body_that_is_packed_is_refused(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    good = json.dumps(a_body()).encode()
    answers = []
    for coding, body in (
        ("gzip", gzip.compress(good)),
        ("gzip", good),
        ("deflate", b"x"),
        ("br", b"x"),
        ("made-up", good),
    ):
        headers = f"Content-Encoding: {coding}\r\nContent-Length: {len(body)}\r\n"
        answers.append(await sent(world, post(world, headers, body)))
    plain = f"Content-Encoding: identity\r\nContent-Length: {len(good)}\r\n"
    status, _, _ = await sent(world, post(world, plain, good))

    for refused, _, text in answers:
        assert (refused, json.loads(text)["code"]) == (415, "UnsupportedMediaType")
    assert status == 201
    assert "Traceback" not in caplog.text


async def test_a_body_whose_chunks_are_none_is_refused(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    data = post(world, "Transfer-Encoding: chunked\r\n", b"ZZ\r\n{}\r\n0\r\n\r\n")

    status, headers, body = await sent(world, data)

    assert status == 400
    assert headers["content-type"] == "application/problem+json"
    assert json.loads(body)["code"] in {"InvalidBody", "InvalidHttp"}
    assert "Traceback" not in caplog.text


async def test_a_webhook_whose_body_cannot_be_read_is_the_callers_fault(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    head = "POST /slack/events HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    status, headers, body = await sent(world, head.encode() + b"SECRET\r\n{}\r\n0\r\n\r\n")

    assert status == 400
    assert headers["content-type"] == "application/problem+json"
    assert json.loads(body)["code"] == "InvalidHttp"
    assert "SECRET" not in caplog.text
    assert "Traceback" not in caplog.text


async def test_head_opens_no_stream(world: World) -> None:
    allowed = {
        f"{world.branch}/events": "GET, OPTIONS",
        f"{world.branch}/requests/x": "GET, DELETE, OPTIONS",
        "/openapi.json": "GET, OPTIONS",
    }

    for path, methods in allowed.items():
        reply = await world.call("HEAD", path)
        assert (reply.status, reply.headers["Allow"]) == (405, methods)


async def test_a_request_is_found_where_its_location_says(world: World) -> None:
    branch = "/agents/deploy-b%C3%B6t%2F%7B1%7D/sessions/s%20:%23%3F/branches/%F0%9F%92%A5"
    reply = await world.ask(branch=branch)
    request_id = reply.json["request"]["permissionId"]
    location = reply.headers["Location"]

    raw = f"GET {location} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {REVIEWER}\r\n\r\n"
    status, _, body = await sent(world, raw.encode())

    assert location == f"{branch}/requests/{request_id}"
    assert status == 200
    assert json.loads(body)["request"] == reply.json["request"]


@pytest.mark.parametrize("name", [".", "..", "%2e", "%2E%2e", "%FF", "%C3", "a%ED%A0%80"])
@pytest.mark.parametrize("place", range(4))
async def test_names_that_mean_something_else_elsewhere_are_no_names(
    world: World, name: str, place: int
) -> None:
    names = ["deploy-bot", "s", "main", "x"]
    names[place] = name
    agent, session, branch, request_id = names
    path = f"/agents/{agent}/sessions/{session}/branches/{branch}/requests/{request_id}"
    raw = f"GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {REVIEWER}\r\n\r\n"

    status, _, body = await sent(world, raw.encode())

    assert (status, json.loads(body)["code"]) == (400, "InvalidAddress")
