"""The webhook over real HTTP: who gets in, what is answered, and what Telegram does about it."""

from __future__ import annotations

import asyncio
import io
import json
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from support.desk_double import DeskDouble
from support.telegram_webhook import HEADER, SECRET, TOKEN, World

from sayso.chats.places import Answer, Answered, Place, Press
from sayso.errors import ReplayedCallbackError, StoreUnreachableError
from sayso_playground import DeliverTwice

OLD_SECRET = "the-one-before_it"
DATA = "p1:HANDLEHANDLEHANDLE1234:allow"
FIXTURES = Path(__file__).parent / "fixtures"


class StuckDesk(DeskDouble):
    """Never answers."""

    async def press(self, press: Press) -> Answer:
        await asyncio.Event().wait()
        raise AssertionError


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with AsyncExitStack() as stack:
        world = World()
        await world.open(stack, (SECRET, OLD_SECRET))
        yield world


@pytest.mark.parametrize(
    "secret", [None, "", "wrong", SECRET + "x", SECRET[:-1], SECRET.upper(), "sécret", "💩", "?"]
)
async def test_nobody_gets_in_without_the_secret(
    world: World, press_update: Any, secret: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)

    answer = await world.post(press_update(), secret)

    assert answer.status == 401
    assert world.desk.presses == []
    assert world.telegram.calls == []
    for word in (SECRET, TOKEN, DATA, "johndoe"):
        assert word not in caplog.text
        assert word not in await answer.text()


async def test_a_secret_of_raw_bytes_is_refused(world: World) -> None:
    host, port = world.url.split("/")[2].split(":")
    reader, writer = await asyncio.open_connection(host, int(port))

    writer.write(
        b"POST /telegram/webhook HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        b"X-Telegram-Bot-Api-Secret-Token: \xff\xfe\x80\r\nContent-Length: 2\r\n\r\n{}"
    )
    status = await reader.readline()
    writer.close()
    await writer.wait_closed()

    assert status.split()[1] in (b"401", b"400")
    assert world.desk.presses == []


async def test_while_secrets_are_rotated_both_get_in(world: World, press_update: Any) -> None:
    statuses = [(await world.post(press_update(), s)).status for s in (SECRET, OLD_SECRET)]

    assert statuses == [200, 200]
    assert len(world.desk.presses) == 2


@pytest.mark.parametrize("secret", [None, ""])
async def test_without_any_secret_nobody_gets_in(press_update: Any, secret: str | None) -> None:
    async with AsyncExitStack() as stack:
        world = World()
        await world.open(stack, ())

        assert (await world.post(press_update(), secret)).status == 401
        assert world.desk.presses == []


async def test_a_press_is_acknowledged_and_its_presser_answered_by_a_call(
    world: World, press_update: Any
) -> None:
    answer = await world.post(press_update())
    await world.listener.close()

    assert (answer.status, answer.headers["Content-Length"]) == (200, "0")
    (press,) = world.desk.presses
    assert (press.actor, press.choice, press.delivery) == ("telegram:12345", "allow", "")
    (call,) = world.telegram.calls
    assert call.method == "answerCallbackQuery"
    assert call.arguments["callback_query_id"] == "4382bfdwdsb323b2d9"
    assert call.arguments["text"] == "Approved."


@pytest.mark.parametrize(
    ("kind", "alert"),
    [
        (Answered.RECORDED, False),
        (Answered.CONFIRM, False),
        (Answered.SHOWN, False),
        (Answered.LATE, True),
        (Answered.REFUSED, True),
        (Answered.UNKNOWN, True),
    ],
)
@pytest.mark.parametrize("text", ["Words.", "", "w" * 500])
async def test_the_presser_is_always_answered(
    world: World, kind: Answered, alert: bool, text: str
) -> None:
    world.desk.answers = [Answer(kind, text)]
    world.telegram.deliver_to(world.url, secret_token=SECRET)

    delivery = await world.telegram.press_data(world.card(), DATA, by="alice")

    assert delivery.error is None
    assert (delivery.status, delivery.answered, delivery.alert) == (200, True, alert)
    assert delivery.toast == {"Words.": "Words.", "": None}.get(text, "w" * 199 + "…")


async def test_a_foreign_button_is_not_pressed_and_still_answered(world: World) -> None:
    world.telegram.deliver_to(world.url, secret_token=SECRET)

    delivery = await world.telegram.press_data(world.card(), "settings", by="alice")

    assert (delivery.answered, delivery.toast) == (True, "This button does nothing here.")
    assert world.desk.presses == []


@pytest.mark.parametrize("error", [StoreUnreachableError("the store is away"), TimeoutError()])
async def test_what_is_not_stored_is_not_acknowledged_and_comes_again(
    world: World, error: Exception
) -> None:
    world.desk.answers = [error, error]
    world.telegram.deliver_to(world.url, secret_token=SECRET)

    delivery = await world.telegram.press_data(world.card(), DATA, by="alice")
    await world.telegram.until(lambda: not world.telegram.updates.pending)

    assert delivery.error is None
    assert world.slept == [2, 2]
    assert (len(world.desk.presses), len(world.desk.taken)) == (3, 1)


async def test_a_press_at_which_the_desk_fails_is_refused_in_its_own_words_and_does_not_come_again(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.desk.answers = [RuntimeError("a bug")]
    world.telegram.deliver_to(world.url, secret_token=SECRET)

    delivery = await world.telegram.press_data(world.card(), DATA, by="alice")
    await world.telegram.until(lambda: not world.telegram.updates.pending)

    assert (delivery.status, delivery.alert) == (200, True)
    assert delivery.toast == "Not recorded: something went wrong here."
    assert (len(world.desk.presses), world.slept) == (1, [])
    assert "Traceback" in caplog.text


async def test_a_move_at_which_the_desk_fails_does_not_come_again(world: World) -> None:
    world.desk.error = RuntimeError("a bug")
    world.telegram.deliver_to(world.url, secret_token=SECRET)

    world.telegram.migrate_group(-300)
    await world.telegram.until(lambda: not world.telegram.updates.pending)

    assert world.slept == []


async def test_a_press_at_a_message_with_half_a_surrogate_pair_is_taken(
    world: World, press_update: Any
) -> None:
    update = press_update()
    update["callback_query"]["message"]["text"] = "\ud800"

    assert (await world.post(update)).status == 200
    assert len(world.desk.presses) == 1


async def test_of_too_many_answers_to_presses_the_rest_is_not_sent_and_that_is_said(
    press_update: Any, caplog: pytest.LogCaptureFixture
) -> None:
    go_on = asyncio.Event()

    async def hold(_: web.Request) -> web.Response:
        await go_on.wait()
        return web.json_response({"ok": True, "result": True})

    api = web.Application()
    api.add_routes([web.post("/bot{token}/answerCallbackQuery", hold)])
    async with AsyncExitStack() as stack:
        there = await stack.enter_async_context(TestServer(api))
        world = World()
        await world.open(stack, (SECRET,), api_url=str(there.make_url("")))
        stack.callback(go_on.set)
        answers = [await world.post(press_update()) for _ in range(1_005)]

    assert {answer.status for answer in answers} == {200}
    assert len(world.desk.taken) == 1_005
    assert caplog.text.count("a presser is not answered: too many to answer") == 1


async def test_while_the_store_is_away_the_presser_is_told(world: World, press_update: Any) -> None:
    world.desk.answers = [StoreUnreachableError("the store is away")]

    answer = await world.post(press_update())
    await world.listener.close()

    assert (answer.status, answer.headers["Retry-After"]) == (503, "2")
    (call,) = world.telegram.calls
    assert call.arguments["text"].startswith("Not recorded")
    assert "query is too old" in (call.error or "")


async def test_a_desk_that_takes_too_long_is_given_up(press_update: Any) -> None:
    async with AsyncExitStack() as stack:
        world = World()
        world.desk = StuckDesk()
        await world.open(stack, (SECRET,), desk_seconds=0.01)

        assert (await world.post(press_update())).status == 503
        await world.listener.close()
        assert world.telegram.calls[0].arguments["text"].startswith("Not recorded")


async def test_a_callback_that_was_seen_before_is_not_asked_for_again(
    world: World, press_update: Any
) -> None:
    world.desk.answers = [ReplayedCallbackError("again")]

    answer = await world.post(press_update())

    await world.listener.close()

    assert answer.status == 200
    assert world.telegram.calls[0].arguments["text"] == "This press was taken before."


async def test_the_same_press_delivered_twice_reaches_the_desk_without_a_delivery_id(
    world: World,
) -> None:
    world.telegram.deliver_to(world.url, secret_token=SECRET)
    card = world.card()
    await world.telegram.until(lambda: not world.telegram.updates.pending)
    world.telegram.misbehave("callback", DeliverTwice())

    await world.telegram.press_data(card, DATA, by="alice")

    assert len(world.desk.presses) == 2
    assert {press.delivery for press in world.desk.presses} == {""}


async def test_a_migration_is_handed_on_and_comes_again_until_it_is_noted(world: World) -> None:
    world.desk.answers = [StoreUnreachableError("the store is away")]
    world.telegram.deliver_to(world.url, secret_token=SECRET)

    new = world.telegram.migrate_group(-300)
    await world.telegram.until(lambda: not world.telegram.updates.pending)

    move = (Place("telegram", "-300"), Place("telegram", str(new)))
    assert world.desk.moves == [move, move]
    assert world.slept == [2]


async def test_a_migration_that_is_not_acted_on_is_not_asked_for_again(world: World) -> None:
    world.desk.error = ReplayedCallbackError("it was here before")
    world.telegram.deliver_to(world.url, secret_token=SECRET)

    world.telegram.migrate_group(-300)
    await world.telegram.until(lambda: not world.telegram.updates.pending)

    assert world.slept == []
    assert world.desk.moves == []


async def test_being_blocked_is_noted_in_the_log(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.telegram.deliver_to(world.url, secret_token=SECRET)

    world.telegram.block("alice")
    await world.telegram.until(lambda: not world.telegram.updates.pending)

    assert "the bot was blocked or removed: no cards there (from telegram:4242)" in caplog.text


@pytest.mark.parametrize(
    "name", sorted(str(path.relative_to(FIXTURES)) for path in FIXTURES.rglob("*.json"))
)
async def test_no_fixture_is_pressed_or_asked_for_again(world: World, name: str) -> None:
    answer = await world.post((FIXTURES / name).read_bytes())
    await world.listener.close()

    assert answer.status == 200
    assert world.desk.presses == []
    asks_for_an_answer = "callback_query" in json.loads((FIXTURES / name).read_bytes())
    assert [call.method for call in world.telegram.calls] == (
        ["answerCallbackQuery"] if asks_for_an_answer else []
    )


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff\xfe{}",
        "{}".encode("utf-16"),
        b'{"update_id": "\xc3\x28"}',
        b"[" * 100_000,
        b'{"update_id": ' + b"9" * 5_000 + b"}",
        b"[]",
        b"null",
        b'"text"',
        b"{}",
        b'{"update_id": 5, "callback_query": null}',
        b'{"update_id": 5, "callback_query": []}',
        b'{"update_id": 5, "callback_query": {"id": 5}}',
        b'{"update_id": 5, "message": "text"}',
        b'{"update_id": NaN, "my_chat_member": {"chat": 5}}',
    ],
)
async def test_a_poison_update_does_nothing_and_is_not_asked_for_again(
    world: World, body: bytes
) -> None:
    answer = await world.post(body)

    assert answer.status == 200
    await world.listener.close()
    assert (world.desk.presses, world.desk.moves, world.telegram.calls) == ([], [], [])


async def test_of_a_poison_update_only_its_number_is_logged(
    world: World, press_update: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "sayso_telegram")

    await world.post(press_update(data="do-not-log-this", **{"from": None}))

    assert "update 123456790: no_person" in caplog.text
    assert "an update is not acted on: no_person" in caplog.text
    for word in (SECRET, TOKEN, "do-not-log-this", "johndoe", "4382bfdwdsb323b2d9"):
        assert word not in caplog.text


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize(("size", "status"), [(1024 * 1024, 200), (1024 * 1024 + 1, 413)])
async def test_a_body_has_at_most_one_mebibyte(
    world: World, size: int, status: int, chunked: bool
) -> None:
    body = b'{"update_id": 5}'.ljust(size)

    async def parts() -> AsyncIterator[bytes]:
        for start in range(0, size, 100_000):
            yield body[start : start + 100_000]

    headers = {HEADER: SECRET, "Content-Type": "application/json"}
    data = parts() if chunked else io.BytesIO(body)
    async with world.http.post(world.url, data=data, headers=headers) as answer:
        assert answer.status == status


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("text/plain", 415),
        ("application/x-www-form-urlencoded", 415),
        ("", 415),
        ("application/json; charset=utf-8", 200),
    ],
)
async def test_only_json_is_taken(world: World, press_update: Any, kind: str, status: int) -> None:
    assert (await world.post(press_update(), **{"Content-Type": kind})).status == status
    assert bool(world.desk.presses) == (status == 200)
