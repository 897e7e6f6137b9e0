from collections.abc import Awaitable
from typing import Any

import aiohttp
import pytest
from telegram import Bot, InlineKeyboardButton, InlineKeyboardMarkup, MessageEntity
from telegram.error import BadRequest, ChatMigrated, Forbidden, InvalidToken, TelegramError

from sayso_playground import Member, Playground, PlaygroundConfig

OPS = -1001234567890
FORUM = -1002222222222
OLD = -300


def keys(*labels: str, data: str = "d") -> InlineKeyboardMarkup:
    return InlineKeyboardMarkup([[InlineKeyboardButton(x, callback_data=data) for x in labels]])


async def refusal(call: Awaitable[Any]) -> str:
    with pytest.raises(TelegramError) as caught:
        await call
    return str(caught.value)


async def test_the_bot_learns_who_it_is(telegram: Bot) -> None:
    me = await telegram.get_me()

    assert (me.id, me.username, me.is_bot) == (4000000000, "sayso_bot", True)


async def test_another_token_is_unauthorized(playground: Playground) -> None:
    other = Bot("5000000000:OTHER", base_url=f"{playground.telegram_api_url}/bot")

    with pytest.raises(InvalidToken):
        await other.initialize()
    await other.shutdown()


async def test_a_message_is_stored_as_it_is_shown(playground: Playground, telegram: Bot) -> None:
    sent = await telegram.send_message(
        OPS, "<b>May I?</b>", parse_mode="HTML", reply_markup=keys("Allow", "Deny")
    )

    (message,) = playground.telegram.messages(OPS)
    assert message.id == sent.message_id
    assert message.text == "May I?"
    assert list(message.buttons) == ["Allow", "Deny"]
    assert [e.type for e in sent.entities] == [MessageEntity.BOLD]


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("", "Message text is empty"),
        (" \n ", "Message text is empty"),
        ("x" * 4097, "Message is too long"),
        ("😀" * 2049, "Message is too long"),
    ],
)
async def test_text_that_is_empty_or_too_long_is_refused(
    telegram: Bot, text: str, refused: str
) -> None:
    assert await refusal(telegram.send_message(OPS, text)) == refused


async def test_4096_characters_after_parsing_are_taken(telegram: Bot) -> None:
    sent = await telegram.send_message(OPS, "<b>" + "&lt;" * 4096 + "</b>", parse_mode="HTML")

    assert sent.text == "<" * 4096


async def test_broken_html_and_entities_are_refused(telegram: Bot) -> None:
    html = await refusal(telegram.send_message(OPS, "1 < 2", parse_mode="HTML"))
    outside = [MessageEntity("code", 0, 9)]
    entities = await refusal(telegram.send_message(OPS, "short", entities=outside))

    assert html.startswith("Can't parse entities: ")
    assert entities.startswith("Can't parse entities: ")


@pytest.mark.parametrize("data", ["x" * 65, "é" * 33])
async def test_a_button_with_65_bytes_of_data_is_refused(telegram: Bot, data: str) -> None:
    call = telegram.send_message(OPS, "x", reply_markup=keys("Allow", data=data))

    assert (await refusal(call)).lower() == "button_data_invalid"


async def test_a_button_with_64_bytes_of_data_is_taken(telegram: Bot) -> None:
    await telegram.send_message(OPS, "x", reply_markup=keys("Allow", data="x" * 64))


async def test_a_keyboard_that_is_too_big_is_refused(telegram: Bot) -> None:
    wide = telegram.send_message(OPS, "x", reply_markup=keys(*"123456789"))
    rows = [[InlineKeyboardButton("x", callback_data="d")]] * 101
    tall = telegram.send_message(OPS, "x", reply_markup=InlineKeyboardMarkup(rows))

    assert await refusal(wide) == "Reply markup is too long"
    assert await refusal(tall) == "Reply markup is too long"


async def test_an_unknown_button_style_is_refused(telegram: Bot) -> None:
    odd = InlineKeyboardButton("x", callback_data="d", api_kwargs={"style": "purple"})
    call = telegram.send_message(OPS, "x", reply_markup=InlineKeyboardMarkup([[odd]]))

    assert "invalid button style" in await refusal(call)


async def test_chats_that_cannot_be_written_to_are_refused() -> None:
    shy = Member("Shy", "U0SHY", 7777, telegram_started=False)
    blocker = Member("Blocker", "U0BLOCKER", 8888)
    async with Playground(PlaygroundConfig(members=(shy, blocker))) as playground:
        playground.telegram.block("blocker")
        playground.telegram.kick(OPS)
        url = f"{playground.telegram_api_url}/bot"
        async with Bot(playground.config.telegram_bot_token, base_url=url) as bot:
            assert await refusal(bot.send_message(1, "x")) == "Chat not found"
            with pytest.raises(Forbidden, match="can't initiate conversation with a user"):
                await bot.send_message(7777, "x")
            with pytest.raises(Forbidden, match="bot was blocked by the user"):
                await bot.send_message(8888, "x")
            with pytest.raises(Forbidden, match="bot was kicked from the supergroup chat"):
                await bot.send_message(OPS, "x")


async def test_a_topic_must_exist(playground: Playground, telegram: Bot) -> None:
    sent = await telegram.send_message(FORUM, "x", message_thread_id=17)

    assert (sent.message_thread_id, sent.is_topic_message) == (17, True)
    for chat, thread in ((FORUM, 18), (FORUM, 1), (OPS, 17)):
        call = telegram.send_message(chat, "x", message_thread_id=thread)
        assert await refusal(call) == "Message thread not found"


async def test_a_group_that_moved_says_where_to(playground: Playground, telegram: Bot) -> None:
    sent = await telegram.send_message(OLD, "before")
    new = playground.telegram.migrate_group(OLD)

    with pytest.raises(ChatMigrated) as caught:
        await telegram.send_message(OLD, "after")

    assert caught.value.new_chat_id == new
    assert (await telegram.get_chat(new)).type == "supergroup"
    gone = telegram.edit_message_text("x", chat_id=new, message_id=sent.message_id)
    assert await refusal(gone) == "Message to edit not found"


async def test_an_edit_that_changes_nothing_is_refused(telegram: Bot) -> None:
    sent = await telegram.send_message(OPS, "x", reply_markup=keys("Allow"))
    place: dict[str, Any] = {"chat_id": OPS, "message_id": sent.message_id}

    same = telegram.edit_message_text("x ", reply_markup=keys("Allow"), **place)
    assert (await refusal(same)).startswith("Message is not modified: ")
    same_keys = telegram.edit_message_reply_markup(reply_markup=keys("Allow"), **place)
    assert (await refusal(same_keys)).startswith("Message is not modified: ")


async def test_an_edit_without_a_keyboard_removes_it(playground: Playground, telegram: Bot) -> None:
    sent = await telegram.send_message(OPS, "May I?", reply_markup=keys("Allow"))

    await telegram.edit_message_text("Allowed", chat_id=OPS, message_id=sent.message_id)

    (message,) = playground.telegram.messages(OPS)
    assert (message.text, message.rows) == ("Allowed", [])


async def test_an_edit_of_nothing_or_of_a_person_is_refused(
    playground: Playground, telegram: Bot
) -> None:
    theirs = playground.telegram.say(OPS, "mine", by="alice")

    missing = telegram.edit_message_text("x", chat_id=OPS, message_id=1)
    assert await refusal(missing) == "Message to edit not found"
    foreign = telegram.edit_message_text("x", chat_id=OPS, message_id=theirs.id)
    assert await refusal(foreign) == "Message can't be edited"


async def test_a_document_comes_with_its_bytes(playground: Playground, telegram: Bot) -> None:
    sent = await telegram.send_document(OPS, b"{}", filename="arguments.json", caption="All")

    (message,) = playground.telegram.messages(OPS)
    assert message.document
    assert (message.document.name, message.document.content) == ("arguments.json", b"{}")
    assert sent.document
    assert (sent.document.file_size, sent.caption) == (2, "All")


async def test_a_caption_of_1025_characters_is_refused(telegram: Bot) -> None:
    call = telegram.send_document(OPS, b"x", filename="x.txt", caption="x" * 1025)

    assert await refusal(call) == "Message caption is too long"


async def test_a_reply_needs_its_message(telegram: Bot) -> None:
    first = await telegram.send_message(OPS, "one")
    reply = await telegram.send_message(OPS, "two", reply_to_message_id=first.message_id)

    assert reply.reply_to_message
    assert reply.reply_to_message.message_id == first.message_id
    call = telegram.send_message(OPS, "three", reply_to_message_id=1)
    assert await refusal(call) == "Message to be replied not found"


async def test_an_answer_to_an_unknown_query_is_refused(telegram: Bot) -> None:
    with pytest.raises(BadRequest, match="Query is too old and response timeout expired"):
        await telegram.answer_callback_query("12345")


async def test_json_bodies_and_any_case_of_a_method_are_taken(playground: Playground) -> None:
    base = f"{playground.telegram_api_url}/bot{playground.config.telegram_bot_token}"
    async with aiohttp.ClientSession() as client:
        async with client.post(f"{base}/SENDMESSAGE", json={"chat_id": OPS, "text": "x"}) as sent:
            assert (await sent.json())["ok"] is True
        async with client.post(f"{base}/sendMessage", json={"text": "x"}) as refused:
            body = await refused.json()
        async with client.post(f"{base}/shout") as unknown:
            assert unknown.status == 404

    assert (refused.status, body["error_code"]) == (400, 400)
    assert body["description"] == "Bad Request: chat_id is empty"
