"""A modal of every kind of input, filled in by hand on the page."""

import os
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from playground.listener import Listener
from playground.modals import ALL_KINDS, plain
from playwright.async_api import Locator, Page, expect
from support.browser import NO_CHROMIUM, browser, chromium

from sayso_playground import Playground

if chromium() is None and not os.environ.get("CI"):
    pytest.skip(NO_CHROMIUM, allow_module_level=True)


@pytest.fixture
async def page(playground: Playground) -> AsyncIterator[Page]:
    async with browser() as opened:
        page = await opened.new_page(viewport={"width": 390, "height": 844})
        await page.goto(playground.url)
        await expect(page.locator("[data-connection=live]")).to_be_visible()
        yield page


class Form:
    """The modal on the page."""

    def __init__(self, page: Page) -> None:
        self.modal = page.locator("[data-dialog=modal]")

    def block(self, name: str) -> Locator:
        return self.modal.locator(f"[data-block={name}]")

    def control(self, name: str) -> Locator:
        return self.block(name).locator("[data-input]")

    def error(self, name: str) -> Locator:
        return self.block(name).locator("[data-error]")

    async def send(self) -> None:
        await self.modal.locator("[data-submit]").click()

    async def shows_what_it_starts_with(self) -> None:
        await expect(self.modal).to_be_visible()
        await expect(self.control("notes")).to_have_value("as before")
        await expect(self.control("day")).to_have_value("2026-11-21")
        await expect(self.block("extras").locator("input:checked")).to_have_count(2)

    async def is_held_back_while_it_is_wrong(self) -> None:
        await self.control("count").fill("2.5")
        await self.send()
        await expect(self.error("name")).to_contain_text("complete this required")
        await expect(self.error("count")).to_contain_text("whole number")

    async def fill_in(self) -> None:
        await self.control("name").fill("Bob")
        await self.control("notes").fill("")
        await self.control("count").fill("3")
        await self.block("colour").get_by_label("Green").check()
        await self.control("size").select_option(label="V9")
        await self.block("extras").get_by_label("Red").uncheck()
        await self.control("stops").select_option(["v1", "v2"])
        await self.control("day").fill("2027-01-02")


async def test_a_person_fills_in_a_form_of_every_kind(
    playground: Playground, listener: Listener, page: Page
) -> None:
    """Slack's own complaint first, then the app's, then it is over: nothing typed is lost."""
    over = {"type": "modal", "title": plain("Over"), "blocks": [{"type": "divider"}]}
    answers: list[dict[str, Any]] = [
        {"response_action": "errors", "errors": {"colour": "not today"}},
        {"response_action": "update", "view": over},
    ]

    async def answer(_: dict[str, Any]) -> web.Response:
        return web.json_response(answers[len(listener.heard) - 1])

    listener.answer = answer
    playground.slack.state.open_view("U0ALICE", ALL_KINDS)
    form = Form(page)

    await form.shows_what_it_starts_with()
    await form.is_held_back_while_it_is_wrong()
    assert not listener.heard

    await form.fill_in()
    await form.send()
    await expect(form.error("colour")).to_have_text("not today")
    await expect(form.control("name")).to_have_value("Bob")
    await expect(form.block("colour").get_by_label("Green")).to_be_checked()
    assert await page.evaluate("document.documentElement.scrollWidth") <= 390

    await form.block("colour").get_by_role("button", name="Clear selection").click()
    await form.send()
    await expect(form.modal.locator("h3")).to_have_text("Over")
    await expect(form.modal.locator("[data-submit]")).to_be_hidden()
    await form.modal.locator("[data-close]").click()
    await expect(form.modal).to_be_hidden()

    first, second = (heard.payload["view"]["state"]["values"] for heard in listener.heard)
    assert first["colour"]["value"]["selected_option"]["value"] == "green"
    assert second["colour"]["value"]["selected_option"] is None
    said = {name: list(state["value"].values())[1] for name, state in second.items()}
    assert (said["name"], said["notes"], said["count"], said["weight"]) == ("Bob", None, "3", None)
    assert said["size"]["value"] == "v9"
    assert [option["value"] for option in said["extras"]] == ["green"]
    assert [option["value"] for option in said["stops"]] == ["v1", "v2"]
    assert said["day"] == "2027-01-02"


async def test_a_form_can_be_cancelled_and_trouble_keeps_it(
    playground: Playground, listener: Listener, page: Page
) -> None:
    async def fail(_: dict[str, Any]) -> web.Response:
        return web.Response(status=503)

    listener.answer = fail
    playground.slack.state.open_view("U0ALICE", ALL_KINDS)
    form = Form(page)

    await form.control("name").fill("Bob")
    await form.send()
    await expect(form.modal).to_contain_text("We had some trouble connecting")
    await expect(form.control("name")).to_have_value("Bob")
    await form.modal.locator("[data-close]").click()
    await expect(form.modal).to_be_hidden()

    assert len(listener.heard) == 1
    assert playground.slack.view("alice") is None
