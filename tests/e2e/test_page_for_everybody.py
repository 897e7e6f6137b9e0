"""The playground's page keeps nobody out: axe-core finds nothing, and the keyboard suffices."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Literal

import pytest
from playwright.async_api import Locator, Page, expect
from support.browser import NO_CHROMIUM, browser, chromium
from support.live import LOOKS_BACK

from sayso.agent.gate import Gate
from sayso.calls import RunRef
from sayso_bots.demo.agent import dangerous_call, harmless_call, long_call
from sayso_bots.demo.stage import Stage, stage

PLATFORMS = ("slack", "telegram")
SCREENS: tuple[tuple[Literal["light", "dark"], int], ...] = (("light", 390), ("dark", 1_280))
AXE = (files("axe_playwright_python") / "axe.min.js").read_text()
# All rules of its, those that are advice as well.
FINDINGS = """async () => (await axe.run(document)).violations.flatMap((found) =>
  found.nodes.map((node) => `${found.id}: ${node.html.slice(0, 120)} ${node.failureSummary}`))"""

if chromium() is None and not os.environ.get("CI"):
    pytest.skip(NO_CHROMIUM, allow_module_level=True)


async def test_axe_finds_nothing_on_cards_dialogs_and_forms() -> None:
    async with stage(0) as scene, _page(scene) as page:
        await _ask(scene, page)
        await page.evaluate(AXE)
        await _nothing_found(page)
        await _slack_dialogs(page)
        await _telegram_below_the_card(page)
        await page.locator("[data-open-misbehave]").click()
        await page.locator("[data-misbehave]").click()
        await expect(page.locator(".planned li")).to_have_count(1)
        await _nothing_found(page)


async def test_a_card_is_read_and_answered_by_keyboard_alone() -> None:
    async with stage(0) as scene, _page(scene) as page:
        asking = asyncio.create_task(scene.gate.check(dangerous_call()))
        allow = _button(page, "slack", "Allow")
        await expect(allow).to_be_visible()
        await _tab_to(page, _button(page, "slack", "Always"))
        await page.keyboard.press("Enter")
        dialog = page.locator("[data-dialog=confirm]")
        await expect(dialog).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(dialog).to_be_hidden()
        await expect(_button(page, "slack", "Always")).to_be_focused()

        # The card is drawn anew: whoever was at one of its buttons stays on it.
        await _tab_to(page, _button(page, "slack", "More…"))
        await page.keyboard.press("Enter")
        await expect(_button(page, "slack", "Back")).to_be_visible()
        assert await page.evaluate("document.activeElement.closest('article') !== null")
        await _tab_to(page, _button(page, "slack", "Back"))
        await page.keyboard.press("Enter")
        await _tab_to(page, allow)
        await page.keyboard.press("Enter")

        assert (await asking).approved


@asynccontextmanager
async def _page(scene: Stage) -> AsyncIterator[Page]:
    async with browser() as opened:
        page = await opened.new_page(reduced_motion="reduce")
        await page.goto(scene.playground.url)
        await expect(page.locator("[data-connection=live]")).to_be_visible()
        yield page


async def _ask(scene: Stage, page: Page) -> None:
    """In both chats: a card that ended, one that is cut, and the last one open and dangerous."""
    for number, call in enumerate((harmless_call(), long_call(), dangerous_call()), 1):
        async with Gate.open(scene.gate.backend, run=RunRef("agent", f"session-{number}")) as gate:
            await gate.submit(call, description="As it was planned.")
        for platform in PLATFORMS:
            await expect(_messages(page, platform)).to_have_count(number)
        if number == 1:
            await _button(page, "slack", "Allow").click()
            await expect(
                page.locator("[data-button]").filter(has_not_text=LOOKS_BACK)
            ).to_have_count(0)


async def _nothing_found(page: Page) -> None:
    """On a phone by day and on a desk by night."""
    for scheme, width in SCREENS:
        await page.emulate_media(color_scheme=scheme)
        await page.set_viewport_size({"width": width, "height": 844})
        assert await page.evaluate(FINDINGS) == [], (scheme, width)


async def _slack_dialogs(page: Page) -> None:
    await _button(page, "slack", "Always").click()
    await expect(page.locator("[data-dialog=confirm]")).to_be_visible()
    await _nothing_found(page)
    await page.locator("[data-confirm=no]").click()
    await _button(page, "slack", "More…").click()
    await _button(page, "slack", "Edit arguments…").click()
    modal = page.locator("[data-dialog=modal]")
    await modal.locator("[data-input]").first.fill("nonsense = 1")
    await modal.locator("[data-submit]").click()
    await expect(modal.locator("[data-error]")).to_be_visible()
    await _nothing_found(page)
    await modal.locator("[data-close]").click()
    await _button(page, "slack", "Show all").click()
    await expect(modal).to_be_visible()
    await _nothing_found(page)
    await modal.locator("[data-close]").click()


async def _telegram_below_the_card(page: Page) -> None:
    await _button(page, "telegram", "More…").click()
    await _button(page, "telegram", "Deny with a reason…").click()
    await expect(page.locator(".replying")).to_be_visible()
    await _nothing_found(page)
    await page.locator("[data-member=Mallory]").click()
    await _button(page, "telegram", "Deny").click()
    await expect(page.locator("[data-dialog=alert]")).to_be_visible()
    await _nothing_found(page)
    await page.locator("[data-alert-ok]").click()


async def _tab_to(page: Page, target: Locator) -> None:
    """Go there with the Tab key alone, forwards, once around the page at most."""
    for _ in range(60):
        if await target.evaluate("(node) => node === document.activeElement"):
            return
        await page.keyboard.press("Tab")
    raise AssertionError("the keyboard does not lead there")


def _messages(page: Page, platform: str) -> Locator:
    return page.locator(f"[data-platform={platform}] article[data-message]")


def _button(page: Page, platform: str, label: str) -> Locator:
    return page.locator(f'[data-platform={platform}] [data-button="{label}"]').last
