import os
from collections.abc import AsyncIterator
from html import escape
from typing import Any

import pytest
from aiohttp import web
from playground.listener import Listener, a_button, a_modal, some_blocks
from playwright.async_api import Page, expect
from slack_sdk.web.async_client import AsyncWebClient
from support.browser import NO_CHROMIUM, browser, chromium
from telegram import (
    Bot,
    ForceReply,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    MessageEntity,
    User,
)

from sayso_playground import Playground

OPS = -1001234567890
HOSTILE = '<img src=x onerror="document.title=1"> <!channel> *x*'

if chromium() is None and not os.environ.get("CI"):
    pytest.skip(NO_CHROMIUM, allow_module_level=True)


@pytest.fixture
async def page(playground: Playground) -> AsyncIterator[Page]:
    async with browser() as opened:
        page = await opened.new_page(viewport={"width": 390, "height": 844})
        await page.goto(playground.url)
        await expect(page.locator("[data-connection=live]")).to_be_visible()
        yield page


async def test_a_confirmed_press_in_slack_reaches_the_bot(
    playground: Playground, listener: Listener, slack: AsyncWebClient, page: Page
) -> None:
    words = {"title": "Always?", "text": HOSTILE, "confirm": "Yes", "deny": "Back"}
    confirm = {name: {"type": "plain_text", "text": text} for name, text in words.items()}
    blocks = some_blocks(a_button("Always", confirm=confirm))
    await slack.chat_postMessage(channel="C0OPS", text=HOSTILE, blocks=blocks)
    dialog = page.locator("[data-dialog=confirm]")

    await page.locator("[data-platform=slack] [data-button=Always]").click()
    await expect(dialog).to_contain_text("<img src=x")
    await dialog.locator("[data-confirm=no]").click()
    await page.locator("[data-member=Bob]").click()
    await page.locator("[data-platform=slack] [data-button=Always]").click()
    await dialog.locator("[data-confirm=yes]").click()
    await playground.slack.until(lambda: len(playground.slack.deliveries) == 1)

    assert listener.heard[0].payload["user"]["id"] == "U0BOB"
    assert await page.title() == "Playground"


async def test_a_modal_is_filled_in_and_its_errors_are_shown(
    listener: Listener, slack: AsyncWebClient, page: Page
) -> None:
    async def answer(payload: dict[str, Any]) -> web.Response:
        if payload["type"] == "view_submission":
            return web.json_response({"response_action": "errors", "errors": {"why": "longer"}})
        await slack.views_open(trigger_id=payload["trigger_id"], view=a_modal())
        return web.Response()

    listener.answer = answer
    await slack.chat_postMessage(channel="C0OPS", text="x", blocks=some_blocks(a_button("Deny")))
    modal = page.locator("[data-dialog=modal]")

    await page.locator("[data-platform=slack] [data-button=Deny]").click()
    await modal.locator("[data-input=reason]").fill("no")
    await modal.locator("[data-submit]").click()
    await expect(modal.locator("[data-error=why]")).to_have_text("longer")
    await modal.locator("[data-close]").click()
    await expect(modal).to_be_hidden()

    values = listener.heard[1].payload["view"]["state"]["values"]
    assert values["why"]["reason"]["value"] == "no"


async def test_an_ephemeral_is_drawn_for_its_person_only(slack: AsyncWebClient, page: Page) -> None:
    await slack.chat_postEphemeral(channel="C0OPS", user="U0BOB", text=escape(HOSTILE, quote=False))
    whisper = page.locator("[data-ephemeral]")

    await expect(page.locator("[data-chat='slack:C0OPS']").first).to_be_visible()
    await expect(whisper).to_have_count(0)
    await page.locator("[data-member=Bob]").click()
    await expect(whisper).to_contain_text("Only visible to you")
    await expect(whisper).to_contain_text("<img src=x")


async def test_a_press_in_telegram_shows_its_answer(
    listener: Listener, telegram: Bot, page: Page
) -> None:
    async def answer(update: dict[str, Any]) -> web.Response:
        query = update["callback_query"]
        alert = query["from"]["id"] == 6666
        await telegram.answer_callback_query(query["id"], "Noted", show_alert=alert)
        return web.Response()

    listener.answer = answer
    await telegram.set_webhook(listener.url)
    button = InlineKeyboardButton("Allow", callback_data="d", api_kwargs={"style": "success"})
    await telegram.send_message(OPS, HOSTILE, reply_markup=InlineKeyboardMarkup([[button]]))
    key = page.locator("[data-platform=telegram] [data-button=Allow]")

    await expect(key).to_have_attribute("data-style", "success")
    await key.click()
    await expect(page.locator("[data-toast]")).to_have_text("Noted")
    await page.locator("[data-member=Mallory]").click()
    await key.click()
    await expect(page.locator("[data-dialog=alert]")).to_contain_text("Noted")


async def test_a_question_is_answered_with_a_reply(
    playground: Playground, telegram: Bot, page: Page
) -> None:
    question = await telegram.send_message(OPS, "Why?", reply_markup=ForceReply())

    await expect(page.locator(".replying-to")).to_contain_text("Why?")
    await page.locator("[data-composer] input").fill("because")
    await page.locator("[data-send]").click()
    said = await playground.telegram.message_where(lambda m: m.text == "because")

    assert (said.sender, said.reply_to) == (4242, question.message_id)


async def test_the_page_fits_a_phone(slack: AsyncWebClient, telegram: Bot, page: Page) -> None:
    await slack.chat_postMessage(channel="C0OPS", text="x" * 500, blocks=some_blocks())
    await telegram.send_message(OPS, "x" * 500)
    await expect(page.locator("article[data-message]")).to_have_count(2)

    assert await page.evaluate("document.documentElement.scrollWidth") <= 390


async def test_a_fault_is_planned_from_the_page(playground: Playground, page: Page) -> None:
    await page.locator("[data-open-misbehave]").click()
    await page.locator("[data-misbehave]").click()
    await expect(page.locator(".planned li")).to_have_count(1)
    await page.locator("[data-behave]").click()
    await expect(page.locator(".planned li")).to_have_count(0)


async def test_a_form_is_filled_in_by_the_person_it_asks(
    playground: Playground, telegram: Bot, page: Page
) -> None:
    mention = MessageEntity("text_mention", 0, 3, user=User(4343, "Bob", is_bot=False))
    markup = ForceReply(selective=True, input_field_placeholder="The reason")
    await telegram.send_message(OPS, "Bob, why?", entities=[mention], reply_markup=markup)
    entry = page.locator("[data-composer] input")

    await expect(page.locator("[data-platform=telegram] .bubble")).to_contain_text("Bob, why?")
    await expect(page.locator(".replying")).to_be_hidden()
    await page.locator("[data-member=Bob]").click()
    await expect(page.locator(".replying-to")).to_contain_text("Bob, why?")
    await expect(entry).to_have_attribute("placeholder", "The reason")
    await entry.fill("because")
    await page.locator("[data-send]").click()
    said = await playground.telegram.message_where(lambda m: m.text == "because")
    await page.locator(f"[data-edit='{said.id}']").click()
    await expect(entry).to_have_value("because")
    await entry.fill("no reason")
    await page.locator("[data-send]").click()
    edited = await playground.telegram.message_where(lambda m: m.text == "no reason")

    assert (edited.id, edited.sender) == (said.id, 4343)
    await page.locator("[data-member=Alice]").click()
    await expect(page.locator(f"[data-edit='{said.id}']")).to_have_count(0)
