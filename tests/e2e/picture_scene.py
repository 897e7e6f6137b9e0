"""One question in both chats of the playground's page: a person's hands, and a camera."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from e2e.screenshots import PLATFORMS, page_of
from playwright.async_api import Browser, FloatRect, Locator, Page, expect
from support.live import LOOKS_BACK

from sayso_bots.demo.stage import Stage, stage

_WIDTH = 1080
# So high that no chat of a picture is scrolled, and dialogs as on a common screen.
_HEIGHT, _DIALOG_HEIGHT = 3_000, 640
# Telegram's bubbles stand on a wall, Slack's messages have room around them.
_MARGINS = {"slack": 0, "telegram": 6}
# Chats as high as what is in them, without what the mouse or the last press left behind.
_LAID_OUT = """
main { height: auto; min-height: 0; align-items: start; }
.messages { min-height: 0; max-height: none; overflow: visible; }
.toasts, .t-answer { display: none !important; }
"""
# As a sheet that a script makes: the page's policy lets no other style in.
_ADOPT = """(css) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  document.adoptedStyleSheets = [sheet];
}"""


@dataclass
class Scene:
    """One question in both chats; takes pictures that are named after its kind."""

    stage: Stage
    page: Page
    kind: str
    folder: Path
    taken: list[Path] = field(default_factory=list)

    @asynccontextmanager
    async def asked(self, question: Coroutine[Any, Any, object]) -> AsyncIterator[None]:
        """A question that waits while the block runs, with its cards in both chats."""
        before = [await self.messages(platform).count() for platform in PLATFORMS]
        task = asyncio.create_task(question)
        try:
            for platform, count in zip(PLATFORMS, before, strict=True):
                await expect(self.messages(platform)).to_have_count(count + 1)
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def messages(self, platform: str) -> Locator:
        """All messages of a chat."""
        return self.page.locator(f"[data-platform={platform}] article[data-message]")

    @property
    def modal(self) -> Locator:
        """Slack's dialog."""
        return self.page.locator("[data-dialog=modal]")

    def button(self, platform: str, label: str) -> Locator:
        """The newest button with this label."""
        return self.page.locator(f'[data-platform={platform}] [data-button="{label}"]').last

    async def press(self, platform: str, label: str) -> None:
        """Press a button, as soon as it is there."""
        await self.button(platform, label).click()

    async def pick(self, label: str) -> None:
        """Press what is a level down on Slack's card."""
        await self.press("slack", "More…")
        await self.press("slack", label)

    async def fill(self, **values: str) -> None:
        """Fill in inputs of Slack's dialog, by the names of their fields."""
        await expect(self.modal).to_be_visible()
        for name, value in values.items():
            await self.modal.locator(f"[data-block='sayso:in:{name}'] [data-input]").fill(value)

    async def submit(self) -> None:
        """Send Slack's dialog off."""
        await self.modal.locator("[data-submit]").click()

    async def prompted(self) -> None:
        """Wait until Telegram waits for a reply of Alice."""
        await expect(self.page.locator(".replying")).to_be_visible()

    async def write(self, text: str) -> None:
        """Begin a reply in Telegram."""
        await self.prompted()
        await self.page.locator("#say").fill(text)

    async def send(self, text: str = "") -> None:
        """Send the reply that was begun, or this one."""
        if text:
            await self.write(text)
        await self.page.locator("[data-send]").click()

    async def ended(self) -> None:
        """Wait until no card and no form waits any more."""
        await expect(
            self.page.locator("article [data-button]").filter(has_not_text=LOOKS_BACK)
        ).to_have_count(0)

    async def cards(self, name: str = "", *, height: float = _HEIGHT) -> None:
        """A picture of the card in each chat; of a higher one, its lower end."""
        for platform in PLATFORMS:
            await self.card(platform, name, height)

    async def card(self, platform: str, name: str = "", height: float = _HEIGHT) -> None:
        """A picture of the card in one chat."""
        await self._picture(platform, name, [self.messages(platform).first], height)

    async def dialogue(self, name: str, *, composer: bool = False) -> None:
        """A picture of Telegram below the card, with the line a person writes in where told."""
        parts = [self.messages("telegram").nth(1), self.messages("telegram").last]
        if composer:
            parts.append(self.page.locator("[data-composer]"))
        await self._picture("telegram", name, parts)

    async def dialog(self, name: str, which: str = "modal") -> None:
        """A picture of a dialog of Slack, in a window of common height."""
        dialog = self.page.locator(f"[data-dialog={which}]")
        await expect(dialog).to_be_visible()
        await self.page.set_viewport_size({"width": _WIDTH, "height": _DIALOG_HEIGHT})
        await self._picture("slack", name, [dialog])
        await self.page.set_viewport_size({"width": _WIDTH, "height": _HEIGHT})

    async def _picture(
        self, platform: str, name: str, parts: list[Locator], height: float = _HEIGHT
    ) -> None:
        await self.page.mouse.move(0, 0)
        boxes = [box for part in parts if (box := await part.bounding_box())]
        margin = _MARGINS[platform]
        left = min(box["x"] for box in boxes) - margin
        top = min(box["y"] for box in boxes) - margin
        right = max(box["x"] + box["width"] for box in boxes) + margin
        bottom = max(box["y"] + box["height"] for box in boxes) + margin
        top = max(top, bottom - height)
        path = self.folder / "-".join(filter(None, (self.kind, name, f"{platform}.png")))
        clip: FloatRect = {"x": left, "y": top, "width": right - left, "height": bottom - top}
        await self.page.screenshot(path=path, clip=clip, animations="disabled")
        self.taken.append(path)


@asynccontextmanager
async def playing(opened: Browser, kind: str, folder: Path, more: str) -> AsyncIterator[Scene]:
    """A scene with chats in which nothing was said yet; ``more`` are settings of the bots."""
    async with stage(0, more=more) as scene, page_of(opened, scene, _WIDTH, 1) as page:
        await expect(page.locator("[data-connection=live]")).to_be_visible()
        await page.set_viewport_size({"width": _WIDTH, "height": _HEIGHT})
        await page.evaluate(_ADOPT, _LAID_OUT)
        yield Scene(scene, page, kind, folder)
