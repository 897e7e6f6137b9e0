"""The adapter against servers that answer what Telegram's double never would."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from sayso.cards.card import Card, Ended
from sayso.chats.places import Place
from sayso.clock import utc_now
from sayso.errors import DeliveryError
from sayso.platforms.bot import NotLooked
from sayso.stores.memory.key_value import MemoryKeyValue
from sayso_telegram import TelegramAdapter, TelegramConfig
from sayso_telegram.client import Client
from sayso_telegram.webhook import show_webhook

ENDED = Ended("approved", datetime(2026, 11, 21, 12, tzinfo=UTC), by="alice")
CardMaker = Callable[..., Card]


def an_adapter(api_url: str) -> TelegramAdapter:
    config = TelegramConfig("4000000000:PLAYGROUND-token", ("secret",), api_url)
    return TelegramAdapter(config, MemoryKeyValue(utc_now))


Reply = Callable[[Mapping[str, Any]], dict[str, Any]]


def always(status: int, data: Any) -> Reply:
    return lambda _: {"status": status, "data": data}


async def scripted(
    replies: Mapping[str, Reply], otherwise: Mapping[str, Any] | None = None
) -> tuple[TestServer, list[Any]]:
    """A Bot API that answers by the book of a test, and to all else ``otherwise``."""
    calls: list[Any] = []

    async def answer(request: web.Request) -> web.Response:
        form = dict(await request.post())
        calls.append((request.match_info["method"], form))
        if otherwise is not None:
            return web.Response(**otherwise)
        return web.json_response(**replies[request.match_info["method"]](form))

    app = web.Application()
    app.add_routes([web.post("/bot{token}/{method}", answer)])
    server = TestServer(app)
    await server.start_server()
    return server, calls


@pytest.mark.parametrize("body", [{}, [], {"parameters": {}}, {"parameters": {"retry_after": "x"}}])
async def test_a_rate_limit_that_does_not_say_how_long_is_waited_out(
    a_card: CardMaker, body: Any
) -> None:
    server, _ = await scripted({"sendMessage": always(429, body)})
    async with (
        server,
        an_adapter(str(server.make_url(""))) as adapter,
    ):
        with pytest.raises(DeliveryError) as raised:
            await adapter.show([a_card()], Place("telegram", "-1"))

    assert (raised.value.retry_after, raised.value.permanent) == (3, False)


@pytest.mark.parametrize(
    ("said", "waited"),
    [
        ("-5", 1),
        ("0", 1),
        ("7.5", 7.5),
        ("NaN", 3),
        ("Infinity", 3600),
        ("-Infinity", 1),
        ("1e9", 3600),
        ("1" + "0" * 400, 3),
    ],
)
async def test_a_rate_limit_is_waited_out_for_a_second_at_least_and_an_hour_at_most(
    said: str, waited: float
) -> None:
    body = f'{{"ok": false, "parameters": {{"retry_after": {said}}}}}'
    app = web.Application()

    async def limited(_: web.Request) -> web.Response:
        return web.Response(status=429, text=body)

    app.add_routes([web.post("/bot{token}/{method}", limited)])
    async with TestServer(app) as server, an_adapter(str(server.make_url(""))) as adapter:
        with pytest.raises(DeliveryError) as raised:
            await adapter.updates(0, 0)

    assert raised.value.retry_after == waited


SENT = {"ok": True, "result": {"message_id": 7, "date": 0, "chat": {"id": -1, "type": "group"}}}


async def test_when_telegram_refuses_the_entities_the_card_comes_without_but_with_its_buttons(
    a_card: CardMaker, caplog: pytest.LogCaptureFixture
) -> None:
    refused = {"ok": False, "description": "Bad Request: can't parse entities: odd"}

    def send(form: Mapping[str, Any]) -> dict[str, Any]:
        if "entities" in form:
            return {"data": refused, "status": 400}
        return {"data": SENT}

    server, calls = await scripted({"sendMessage": send, "editMessageText": send})
    async with (
        server,
        an_adapter(str(server.make_url(""))) as adapter,
    ):
        ref = await adapter.show([a_card(description="@all")], Place("telegram", "-1"))
        await adapter.update(ref, [a_card(state=ENDED)])

    assert [method for method, _ in calls] == ["sendMessage"] * 2 + ["editMessageText"] * 2
    (_, first), (_, second), *_ = calls
    assert first["reply_markup"] == second["reply_markup"]
    assert "＠all" in second["text"]
    assert "is shown without" in caplog.text


@pytest.mark.parametrize(
    ("kind", "member", "words"),
    [
        ("supergroup", {"status": "left"}, "add it"),
        ("supergroup", {"status": "kicked", "until_date": 0}, "add it"),
        ("supergroup", {"status": "member"}, None),
        ("supergroup", {"status": "restricted", "is_member": True}, "may not write"),
        (
            "supergroup",
            {"status": "restricted", "is_member": False, "can_send_messages": True},
            "may not write",
        ),
        (
            "supergroup",
            {"status": "restricted", "is_member": True, "can_send_messages": True},
            None,
        ),
        ("channel", {"status": "member"}, "may not write"),
        ("channel", {"status": "administrator", "can_post_messages": True}, None),
        ("channel", {"status": "administrator", "can_post_messages": False}, "may not write"),
        ("channel", None, NotLooked("Internal Server Error (500)")),
        ("supergroup", None, NotLooked("Internal Server Error (500)")),
        ("private", None, None),
        ("private", {"status": "member"}, None),
        ("private", "odd", None),
    ],
)
async def test_can_post_knows_what_the_bot_may_do(
    kind: str, member: Any, words: str | NotLooked | None
) -> None:
    told = always(200, {"ok": True, "result": member}) if member else always(500, {"ok": False})
    chat = {"ok": True, "result": {"id": -1, "type": kind}}
    server, _ = await scripted({"getChat": always(200, chat), "getChatMember": told})
    async with (
        server,
        an_adapter(str(server.make_url(""))) as adapter,
    ):
        problem = await adapter.can_post(Place("telegram", "-1"))

    if isinstance(problem, str) and isinstance(words, str):
        assert words in problem
    else:
        assert problem == words


@pytest.mark.parametrize(
    "result",
    [
        {"message_id": 7, "date": 0, "chat": {"id": -1, "type": "group"}, "sticker": {"x": 1}},
        {"message_id": 7},
    ],
)
async def test_of_an_answer_nothing_is_read_but_the_number_of_the_message(
    a_card: CardMaker, result: Any
) -> None:
    server, _ = await scripted({"sendMessage": always(200, {"ok": True, "result": result})})
    async with server, an_adapter(str(server.make_url(""))) as adapter:
        ref = await adapter.show([a_card()], Place("telegram", "-1"))

    assert ref.message_id == "7"


@pytest.mark.parametrize(
    "result",
    [
        [],
        True,
        None,
        {"date": 0},
        *({"message_id": odd} for odd in ([7], "42", 4.0, True, None)),
    ],
)
async def test_an_answer_that_cannot_be_read_is_an_error_and_not_tried_again(
    a_card: CardMaker, result: Any
) -> None:
    server, calls = await scripted({"sendMessage": always(200, {"ok": True, "result": result})})
    async with server, an_adapter(str(server.make_url(""))) as adapter:
        with pytest.raises(DeliveryError, match="could not be read") as raised:
            await adapter.show([a_card()], Place("telegram", "-1"))

    assert raised.value.permanent
    assert len(calls) == 1


@pytest.mark.parametrize("answer", [{"ok": True}, {"ok": False, "error_code": 429}, [], 5])
async def test_an_answer_to_a_toast_that_cannot_be_read_is_no_error(
    answer: Any, caplog: pytest.LogCaptureFixture
) -> None:
    server, _ = await scripted({"answerCallbackQuery": always(200, answer)})
    async with server, an_adapter(str(server.make_url(""))) as adapter:
        await adapter.toast("q", "Approved.", alert=False)

    assert "a press was not answered: " in caplog.text


@pytest.mark.parametrize("at", [10**20, -1e30, "x"])
async def test_a_moment_of_the_webhook_that_is_none_is_an_error_in_our_words(at: Any) -> None:
    info = {"url": "", "has_custom_certificate": False, "pending_update_count": 0}
    told = {"ok": True, "result": {**info, "last_error_date": at}}
    server, _ = await scripted({"getWebhookInfo": always(200, told)})
    async with server:
        config = TelegramConfig("4000000000:PLAYGROUND-token", ("s",), str(server.make_url("")))
        with pytest.raises(DeliveryError, match="could not be read"):
            await show_webhook(config)


@pytest.mark.parametrize(
    "foreign",
    [
        "<html>body-secret" + "A" * 300_000,
        "<p>cannot reach /bot4000000000%3APLAYGROUND-token/sendMessage body-secret",
        '["body-secret"]',
        '{"parameters": ["body-secret"], "description": 5}',
        '{"parameters": {"x": "body-secret"}}',
    ],
)
async def test_nothing_of_a_foreign_page_is_in_an_error_or_a_log(
    foreign: str, a_card: CardMaker, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server, _ = await scripted({}, {"status": 502, "text": foreign})
    async with server, an_adapter(str(server.make_url(""))) as adapter:
        await adapter.toast("q", "Approved.", alert=False)
        with pytest.raises(DeliveryError) as raised:
            await adapter.show([a_card()], Place("telegram", "-1"))

    lines = [line.getMessage() for line in caplog.records if line.name != "aiohttp.access"]
    told = "".join([*lines, *traceback.format_exception(raised.value)])
    assert "body-secret" not in told
    assert "PLAYGROUND-token" not in told
    assert "Bad Gateway (502)" in raised.value.reason


async def test_of_a_refusal_200_characters_are_told_without_any_part_of_the_token(
    a_card: CardMaker,
) -> None:
    description = f"Bad: 4000000000&#58;PLAYGROUND-token {'w' * 500}"
    server, _ = await scripted({"sendMessage": always(400, {"description": description})})
    async with server, an_adapter(str(server.make_url(""))) as adapter:
        with pytest.raises(DeliveryError) as raised:
            await adapter.show([a_card()], Place("telegram", "-1"))

    assert raised.value.permanent
    assert raised.value.reason.startswith("Bad: 4000000000&#58;[bot token] www")
    assert len(raised.value.reason) == 200


async def test_a_text_that_cannot_be_sent_is_not_quoted_and_not_tried_again() -> None:
    client = Client(TelegramConfig("4000000000:PLAYGROUND-token", ("s",), "http://127.0.0.1:1"))
    async with client.opened():
        text = "".join(("text-", "secret", "\ud800"))
        with pytest.raises(DeliveryError, match="cannot be sent") as raised, client.errors():
            await client.bot.send_message(1, text)

    assert raised.value.permanent
    assert "text-secret" not in "".join(traceback.format_exception(raised.value))


async def test_a_mistake_of_ours_is_no_answer_of_telegrams() -> None:
    client = Client(TelegramConfig("4000000000:PLAYGROUND-token", ("s",)))
    with pytest.raises(KeyError), client.errors():
        raise KeyError("k")
    send: Any = client.bot.send_message
    with pytest.raises(TypeError), client.errors():
        await send(chat_id=1, txt="a misspelt name")
