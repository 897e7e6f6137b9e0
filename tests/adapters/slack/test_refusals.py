import json
from collections.abc import AsyncIterator, Callable

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from support.clock import Clock
from support.desk_double import DeskDouble
from support.slack_kit import (
    FORM,
    JSON,
    SECRET,
    Client,
    a_press,
    callback,
    on_the_wire,
    post,
    signed,
)

from sayso_slack import SlackListener
from sayso_slack.listener import BODY_BYTES

SECRETS_OF_A_PRESS = ("PLACEHOLDER_TRIGGER", "PLACEHOLDER_SECRET", "PLACEHOLDER_VERIFICATION")


def _signed_press(clock: Clock, **changes: str) -> tuple[dict[str, str], bytes]:
    headers, body = callback(a_press(), clock.seconds())
    return {**headers, **changes}, body


def _raw(content_type: str, body: bytes) -> Callable[[Clock], tuple[dict[str, str], bytes]]:
    return lambda clock: (signed(body, clock.seconds(), content_type=content_type), body)


REFUSALS: dict[str, tuple[int, Callable[[Clock], tuple[dict[str, str], bytes]]]] = {
    "unsigned": (401, lambda _: ({"Content-Type": FORM}, on_the_wire(a_press())[1])),
    "signed by somebody else": (
        401,
        lambda c: (
            signed(on_the_wire(a_press())[1], c.seconds(), secret="guess"),
            on_the_wire(a_press())[1],
        ),
    ),
    "too old": (401, lambda c: callback(a_press(), c.seconds() - 301)),
    "from the future": (401, lambda c: callback(a_press(), c.seconds() + 301)),
    "malformed JSON": (400, _raw(JSON, b'{"type": "block_actions"')),
    "another workspace": (403, lambda c: callback(a_press(team={"id": "T0OTHER"}), c.seconds())),
    "another app": (403, lambda c: callback(a_press(api_app_id="A0OTHER"), c.seconds())),
    "the other side of Slack Connect": (
        403,
        lambda c: callback(a_press(user={"id": "U1", "team_id": "T0OTHER"}), c.seconds()),
    ),
    "nobody": (400, lambda c: callback(a_press(user=None), c.seconds())),
    "too large": (413, _raw(FORM, b"payload=" + b"x" * 1024 * 1024)),
}


@pytest.mark.parametrize("name", REFUSALS)
async def test_what_is_not_a_press_of_ours_is_refused_and_not_written_down(
    name: str, client: Client, desk: DeskDouble, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG", logger="sayso_slack")
    status, make = REFUSALS[name]
    headers, body = make(clock)

    found, text = await post(client, headers, body)

    assert found == status
    assert json.loads(text)["status"] == status
    assert not desk.presses
    for told in (caplog.text, text):
        assert SECRET not in told
        assert headers.get("X-Slack-Signature") in (None, "") or (
            headers["X-Slack-Signature"] not in told
        )
        assert body.decode("latin-1")[:40] not in told or not body
        assert not any(secret in told for secret in SECRETS_OF_A_PRESS)


async def test_a_body_without_a_length_is_bounded_too(client: Client, desk: DeskDouble) -> None:
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(17):
            yield b"x" * 65_536

    async with client.post("/slack/events", data=endless()) as answer:
        assert answer.status == 413
    assert not desk.presses


async def test_a_chunked_press_is_a_press(client: Client, desk: DeskDouble, clock: Clock) -> None:
    headers, body = callback(a_press(), clock.seconds())

    async def pieces() -> AsyncIterator[bytes]:
        yield body[:100]
        yield body[100:]

    async with client.post("/slack/events", data=pieces(), headers=headers) as answer:
        assert answer.status == 200
    assert desk.presses


async def test_only_post_is_understood(client: Client) -> None:
    async with client.get("/slack/events") as answer:
        assert answer.status == 405


async def test_a_body_is_bounded_whatever_the_application_allows(
    listener: SlackListener, desk: DeskDouble, clock: Clock
) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while sent < 50 * BODY_BYTES:
            sent += 65_536
            yield b"x" * 65_536

    app = web.Application(client_max_size=60 * BODY_BYTES)
    app.add_routes(listener.routes())
    body = on_the_wire(a_press(state={"values": "x" * BODY_BYTES}))[1]
    async with TestClient(TestServer(app)) as client:
        assert (await post(client, signed(body, clock.seconds()), body))[0] == 413
        async with client.post("/slack/events", data=endless()) as answer:
            assert answer.status == 413
            assert "1 MiB" in await answer.text()
    assert sent < 20 * BODY_BYTES
    assert (await listener.answer(signed(body, clock.seconds()), body)).status == 413
    assert not desk.presses
