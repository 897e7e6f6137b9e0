"""Hostile and odd callbacks at the HTTP edge: refused before slack_bolt sees them."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

import pytest
from support.clock import Clock
from support.desk_double import DeskDouble
from support.slack_kit import (
    APP,
    FORM,
    JSON,
    SECRET,
    TEAM,
    Client,
    a_config,
    a_press,
    an_action,
    callback,
    fixture,
    on_the_wire,
    post,
    signed,
)

from sayso_slack import SlackAdapter, SlackConfig, SlackListener

BODY = on_the_wire(a_press())[1]
TIMESTAMP, SIGNATURE = "X-Slack-Request-Timestamp", "X-Slack-Signature"

# docs.slack.dev, verifying requests from Slack: the published example.
DOCS_SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
DOCS_TIME = 1531420618
DOCS_SIGNATURE = "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"
DOCS_BODY = (
    b"token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow"
    b"&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner"
    b"&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands"
    b"%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN"
    b"&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
)


async def send(client: Client, body: bytes, headers: Mapping[str, str | bytes]) -> int:
    """The status of what is answered to these very bytes, which no HTTP library would send."""
    head = b"POST /slack/events HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    sent = {"Content-Length": str(len(body)), **headers}
    for name, value in sent.items():
        head += name.encode() + b": " + (value if isinstance(value, bytes) else value.encode())
        head += b"\r\n"
    reader, writer = await asyncio.open_connection(client.host, client.port)
    writer.write(head + b"\r\n" + body)
    status = await reader.readline()
    writer.close()
    return int(status.split()[1])


def assert_quiet(caplog: pytest.LogCaptureFixture) -> None:
    assert not [one for one in caplog.records if one.exc_info or one.levelno > logging.WARNING]


def good_signature(clock: Clock) -> str:
    return signed(BODY, clock.seconds())[SIGNATURE]


STAMPS: list[str | bytes] = ["", "abc", "nan", "1" * 13, "9" * 400, "9" * 5_000]
STAMPS += ["-5", "1e9", "1_8", "١٨٠٠", b"\xff"]


@pytest.mark.parametrize("timestamp", STAMPS)
async def test_a_strange_timestamp_is_refused_and_not_an_accident(
    timestamp: str | bytes,
    client: Client,
    desk: DeskDouble,
    clock: Clock,
    caplog: pytest.LogCaptureFixture,
) -> None:
    headers = {**signed(BODY, clock.seconds()), TIMESTAMP: timestamp}

    assert await send(client, BODY, headers) in (400, 401)
    assert not desk.presses
    assert_quiet(caplog)


@pytest.mark.parametrize(
    "signature",
    ["", "v0=", "v0=é", "v0=" + "é" * 64, b"v0=\xff" + b"0" * 63, "upper", "short", "long", "v1"],
)
async def test_a_strange_signature_is_refused_and_not_an_accident(
    signature: str | bytes,
    client: Client,
    desk: DeskDouble,
    clock: Clock,
    caplog: pytest.LogCaptureFixture,
) -> None:
    good = good_signature(clock)
    spoilt = {
        "upper": good.upper(),
        "short": good[:-1],
        "long": good + "0",
        "v1": good.replace("v0", "v1"),
    }
    value = spoilt.get(signature, signature) if isinstance(signature, str) else signature

    status = await send(client, BODY, {**signed(BODY, clock.seconds()), SIGNATURE: value})

    assert status in (400, 401)
    assert not desk.presses
    assert_quiet(caplog)


@pytest.mark.parametrize("missing", [SIGNATURE, TIMESTAMP])
async def test_a_missing_header_is_refused(missing: str, client: Client, clock: Clock) -> None:
    headers = signed(BODY, clock.seconds())
    del headers[missing]

    status, text = await post(client, headers, BODY)

    assert status == 401
    assert missing in text


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        (JSON, b'{"a":'),
        (JSON, b"[1]"),
        (JSON, b'{"team":5}'),
        (JSON, b'{"a":' * 100_000),
        (FORM, b"payload=%7B"),
        (FORM, b"payload=\xff\xfe"),
        (f"{JSON}; charset=bogus", b"payload=1"),
        (FORM, b"ssl_check=1&token=x"),
        (FORM, BODY),
    ],
)
async def test_nothing_unsigned_is_parsed(
    content_type: str, body: bytes, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    assert await send(client, body, {"Content-Type": content_type}) == 401
    assert_quiet(caplog)


async def test_one_changed_byte_is_noticed(client: Client, clock: Clock) -> None:
    assert (await post(client, signed(BODY, clock.seconds()), BODY + b"&"))[0] == 401


async def test_headers_are_found_in_any_spelling(client: Client, clock: Clock) -> None:
    headers = {name.upper(): value for name, value in signed(BODY, clock.seconds()).items()}

    assert (await post(client, headers, BODY))[0] == 200


async def test_the_example_in_slacks_documentation_is_genuine(desk: DeskDouble) -> None:
    config = a_config(signing_secrets=(DOCS_SECRET,), team_id="T1DC2JH3J", app_id="")
    headers = {"Content-Type": FORM, TIMESTAMP: str(DOCS_TIME), SIGNATURE: DOCS_SIGNATURE}

    status = await answer(config, desk, headers, DOCS_BODY, at=DOCS_TIME)

    assert status == 200
    assert desk.looks == [("slack:U2CERLKJA", False)]


async def answer(
    config: SlackConfig, desk: DeskDouble, headers: Mapping[str, str], body: bytes, *, at: float
) -> int:
    def clock() -> datetime:
        return datetime.fromtimestamp(at, UTC)

    async with SlackListener(config, SlackAdapter(config), desk, clock=clock) as listener:
        return (await listener.answer(headers, body)).status


@pytest.mark.parametrize("secrets", [(SECRET, "the-old-one"), ("the-old-one", SECRET)])
async def test_any_of_several_secrets_may_have_signed(
    secrets: tuple[str, ...], desk: DeskDouble, clock: Clock
) -> None:
    headers = signed(BODY, clock.seconds(), secret="the-old-one")
    config = a_config(signing_secrets=secrets)

    assert await answer(config, desk, headers, BODY, at=clock.seconds()) == 200


@pytest.mark.parametrize("secrets", [(), ("",), ("", " "), ("another",)])
async def test_without_the_right_secret_nobody_gets_in(
    secrets: tuple[str, ...], desk: DeskDouble, clock: Clock
) -> None:
    config = a_config(mode="socket", app_token="xapp-1", signing_secrets=secrets)
    for made_with in (SECRET, "", " "):
        headers = signed(BODY, clock.seconds(), secret=made_with)
        assert await answer(config, desk, headers, BODY, at=clock.seconds()) == 401

    assert not desk.presses


@pytest.mark.parametrize("kind", ["", "text/plain", "multipart/form-data", "application/jsonx"])
async def test_other_content_types_are_unreadable(
    kind: str, client: Client, desk: DeskDouble, clock: Clock
) -> None:
    status, text = await post(client, signed(BODY, clock.seconds(), content_type=kind), BODY)

    assert (status, "neither a form nor JSON" in text) == (400, True)
    assert not desk.presses


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (FORM, b""),
        (JSON, b""),
        (JSON, b"{"),
        (JSON, b"{]"),
        (JSON, b"[1]"),
        (JSON, b'"text"'),
        (JSON, b"null"),
        (JSON, b"[" * 100_000),
        (JSON, b'{"n": ' + b"9" * 10_000 + b"}"),
        (JSON, b'{"a": "\xff"}'),
        (JSON, b'{"a": {"b": ["\\ud800"]}}'),
        (JSON, b'{"\\uDC00": 1}'),
        (JSON, b'\xef\xbb\xbf{"a": 1}'),
        (FORM, b"payload=%7B%22a%22%3A%22%5Cud83d%22%7D"),
        (FORM, b"payload="),
        (FORM, b"payload"),
        (FORM, b"payload=%7B"),
        (FORM, b"payload=%5B%5D"),
        (FORM, b"payload=%FF%FE"),
        (FORM, b"payload=%7B%22a%22%3A%22%FF%22%7D"),
        (FORM, b"payload=%7B%22a%22%3A%22%ED%A0%80%22%7D"),
        (FORM, b"payload=\xff"),
        (FORM, b"payload=%7B%7D&payload=%7B%7D"),
        (FORM, b"payload=%7B%7D&x=1"),
        (FORM, b"&".join(b"a=1" for _ in range(1_000))),
    ],
)
async def test_signed_garbage_is_refused_and_quotes_nothing(
    kind: str, body: bytes, client: Client, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    status, text = await post(client, signed(body, clock.seconds(), content_type=kind), body)

    assert status in (400, 404)
    assert len(text) < 160
    assert_quiet(caplog)


@pytest.mark.parametrize(
    "document",
    [
        a_press(actions=[]),
        a_press(actions=None),
        a_press(actions=[None]),
        a_press(actions="x"),
        a_press(actions=[an_action(), an_action()]),
        a_press(actions=[{"type": "button", "action_id": "else", "value": "x"}]),
        a_press(user={"id": "U1", "team_id": TEAM, "name": "\ud800"}),
        {"type": "block_actions", "team": {"id": TEAM}, "user": {"id": "U1"}, "api_app_id": []},
        {"type": "view_submission", "view": 5},
        {"type": "view_submission", "team": "x", "user": [], "view": 5},
        {"type": "event_callback", "event": {"type": ["x"]}, "authorizations": {"a": 1}},
        {"type": {"a": 1}},
        {"response_urls": 5},
        {},
    ],
)
@pytest.mark.parametrize("transport", ["json", "form-payload"])
async def test_a_signed_callback_of_an_unknown_shape_is_refused_and_no_accident(
    document: dict[str, Any],
    transport: str,
    client: Client,
    desk: DeskDouble,
    clock: Clock,
    caplog: pytest.LogCaptureFixture,
) -> None:
    status, _ = await post(client, *callback(document, clock.seconds(), transport))

    assert status in (400, 403, 404)
    assert not desk.presses
    assert_quiet(caplog)


@pytest.mark.parametrize("authorizations", [[5], [], {"a": 1}, "x"])
async def test_an_event_with_odd_authorizations_is_no_accident(
    authorizations: object, client: Client, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    event = {"type": "event_callback", "event": "x", "authorizations": authorizations}

    assert (await post(client, *callback(event, clock.seconds(), "json")))[0] < 500
    assert_quiet(caplog)


async def test_of_a_key_that_comes_twice_the_last_one_counts(
    client: Client, desk: DeskDouble, clock: Clock
) -> None:
    text = json.dumps(a_press())[:-1] + ',"team":{"id":"T0OTHER"}}'
    body = urlencode({"payload": text}).encode()

    assert (await post(client, signed(body, clock.seconds()), body))[0] == 403
    assert not desk.presses


@pytest.mark.parametrize("kind", [f"{JSON}; charset=utf-8", "Application/JSON", f" {JSON} ;x=y"])
async def test_parameters_and_case_of_the_content_type_do_not_matter(
    kind: str, client: Client, desk: DeskDouble, clock: Clock
) -> None:
    body = json.dumps(a_press()).encode()

    assert (await post(client, signed(body, clock.seconds(), content_type=kind), body))[0] == 200
    assert desk.presses


@pytest.mark.parametrize("text", ["list", "payload", "deploy the payload=now"])
async def test_a_slash_command_may_say_payload(
    text: str, client: Client, desk: DeskDouble, clock: Clock
) -> None:
    home = {"team_id": TEAM, "api_app_id": APP, "enterprise_id": ""}
    command = {**fixture("slash_command_enterprise.json"), **home, "text": text}

    assert (await post(client, *callback(command, clock.seconds(), "form-fields")))[0] == 200
    assert desk.looks


async def test_bolts_own_headers_from_outside_change_nothing(
    client: Client, desk: DeskDouble, clock: Clock
) -> None:
    headers, body = callback(a_press(), clock.seconds())
    lazy = {"x-slack-bolt-lazy-only": "1", "x-slack-bolt-lazy-function-name": "_handle_action"}

    assert (await post(client, {**headers, **lazy}, body))[0] == 200
    assert len(desk.presses) == 1


@pytest.mark.parametrize("inputs", ["\ufffd", "\U0001f600", "a b+c&d=%25"])
async def test_what_a_person_wrote_arrives_as_it_was_written(
    inputs: str, client: Client, desk: DeskDouble, clock: Clock
) -> None:
    press = a_press(trigger_id=inputs)
    for escaped in (False, True):
        body = urlencode({"payload": json.dumps(press, ensure_ascii=escaped)}).encode()
        at = clock.seconds() + escaped
        assert (await post(client, signed(body, at), body))[0] == 200

    assert [one.ticket for one in desk.presses] == [inputs, inputs]


async def test_a_callback_of_any_depth_is_answered(client: Client, clock: Clock) -> None:
    statuses = set()
    for depth in range(850, 1_000):
        deep = "[" * depth + r'"\ud83d\ude00"' + "]" * depth
        document = json.dumps(a_press())[:-1] + f', "deep": {deep}}}'
        body = document.encode()
        headers = signed(body, clock.seconds(), content_type=JSON)
        statuses.add((await post(client, headers, body))[0])

    assert statuses <= {200, 400}
