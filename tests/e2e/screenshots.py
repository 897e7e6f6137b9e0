"""The pictures of the README, taken again from the playground: ``python tests/e2e/screenshots.py``.

Needs Chromium and, so that icons are not drawn as boxes, a font with emoji:
``apt-get install chromium fonts-noto-color-emoji``.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from playwright.async_api import Browser, Locator, Page, expect
from support.browser import NO_CHROMIUM, browser, chromium
from support.live import LOOKS_BACK

from sayso.calls import ToolCall
from sayso_bots.demo.agent import ask, dangerous_call, harmless_call
from sayso_bots.demo.stage import Stage, stage

IMAGES = Path(__file__).parents[2] / "docs" / "images"
PLATFORMS = ("slack", "telegram")

_HEIGHT = 800
_MISSING_HEIGHT = """() => Math.max(...[...document.querySelectorAll(".messages")].map((list) => {
  const from = list.firstElementChild.getBoundingClientRect().top;
  const to = list.lastElementChild.getBoundingClientRect().bottom;
  return Math.ceil(to - from + 36 - list.clientHeight);
}))"""


async def take_pictures(folder: Path) -> list[Path]:
    """Take all pictures: cards that wait, cards that were decided, and the page on a phone."""
    folder.mkdir(parents=True, exist_ok=True)
    async with browser() as opened:
        return [
            await _cards(opened, folder / "cards.png"),
            await _decided(opened, folder / "decided.png"),
            await _phone(opened, folder / "phone.png"),
        ]


async def _cards(opened: Browser, path: Path) -> Path:
    async with (
        stage(0) as scene,
        page_of(opened, scene, 1280) as page,
        _asked(scene, page, dangerous_call()),
    ):
        return await _picture(page, path)


async def _decided(opened: Browser, path: Path) -> Path:
    async with stage(0) as scene, page_of(opened, scene, 1280) as page:
        async with _asked(scene, page, harmless_call()) as asking:
            await _button(page, "slack", "Allow").click()
            await asking
        async with _asked(scene, page, dangerous_call()) as asking:
            await _button(page, "telegram", "Deny").click()
            await asking
        await expect(page.locator("[data-button]").filter(has_not_text=LOOKS_BACK)).to_have_count(0)
        # Without what the last presser was just told.
        await page.reload()
        await expect(page.locator("article[data-message]")).to_have_count(4)
        return await _picture(page, path)


async def _phone(opened: Browser, path: Path) -> Path:
    async with (
        stage(0) as scene,
        page_of(opened, scene, 390) as page,
        _asked(scene, page, harmless_call()),
    ):
        return await _picture(page, path)


@asynccontextmanager
async def page_of(
    opened: Browser, scene: Stage, width: int, scale: float = 1.5
) -> AsyncIterator[Page]:
    """The page of the playground in a window of this width."""
    page = await opened.new_page(
        viewport={"width": width, "height": _HEIGHT},
        device_scale_factor=scale,
        locale="en-GB",
        timezone_id="UTC",
    )
    await page.goto(scene.playground.url)
    try:
        yield page
    finally:
        await page.close()


@asynccontextmanager
async def _asked(scene: Stage, page: Page, call: ToolCall) -> AsyncIterator[asyncio.Task[object]]:
    """A call that is asked for while the block runs, with its cards in both chats."""

    async def asking() -> object:
        return await ask(scene.gate, call)

    task = asyncio.create_task(asking())
    try:
        for platform in PLATFORMS:
            await expect(_button(page, platform, "Allow")).to_be_visible()
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _button(page: Page, platform: str, label: str) -> Locator:
    return page.locator(f"[data-platform={platform}] [data-button='{label}']")


async def _picture(page: Page, path: Path) -> Path:
    """The whole page, as high as the longer of the two chats."""
    missing = await page.evaluate(_MISSING_HEIGHT)
    width = await page.evaluate("innerWidth")
    await page.set_viewport_size({"width": width, "height": _HEIGHT + missing})
    await page.mouse.move(0, 0)
    await page.screenshot(path=path, full_page=True, animations="disabled")
    return path


if __name__ == "__main__":
    if chromium() is None:
        sys.exit(NO_CHROMIUM)
    for taken in asyncio.run(take_pictures(IMAGES)):
        print(f"{taken}: {taken.stat().st_size / 1000:.0f} kB")
