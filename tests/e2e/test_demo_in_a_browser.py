"""What a person does who tries ``sayso demo``: opens its page, presses, reads, ends it."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from e2e.screenshots import PLATFORMS, take_pictures
from playwright.async_api import Locator, Page, expect
from support.browser import NO_CHROMIUM, browser, chromium
from support.commands import Process, process
from support.live import LOOKS_BACK

from sayso.testing.builders import PATIENCE_SECONDS

THE_LINE_THAT_MATTERS = "DELETE FROM customers WHERE last_order < '2020-01-01';"

if chromium() is None and not os.environ.get("CI"):
    pytest.skip(NO_CHROMIUM, allow_module_level=True)


class Person:
    """Somebody at the page of a demo, with its terminal in sight."""

    def __init__(self, page: Page, demo: Process) -> None:
        self.page = page
        self._demo = demo
        self._heard = ""

    async def becomes(self, name: str) -> None:
        """Play this member from now on."""
        await self.page.locator(f"[data-member={name}]").click()

    def card(self, platform: str, tool: str) -> Locator:
        """The newest card of a tool; a file that answers it is none."""
        messages = self.page.locator(f"[data-platform={platform}] article[data-message]")
        file = self.page.locator("[data-document]")
        return messages.filter(has_text=tool, has_not=file).last

    def button(self, platform: str, tool: str, label: str) -> Locator:
        """A button of that card."""
        return self.card(platform, tool).locator(f"[data-button='{label}']")

    async def presses(self, label: str, platform: str, tool: str) -> None:
        """Press it, as soon as it is there."""
        await self.button(platform, tool, label).click()

    async def sees_in_both(self, tool: str, outcome: str, who: str) -> None:
        """Both cards come to say how it ended and who decided, and have no buttons."""
        # A name may be written as a mention of Slack or beside its account.
        said = re.compile(rf"{outcome} by\W+{who}\b", re.IGNORECASE)
        for platform in PLATFORMS:
            await expect(self.card(platform, tool)).to_contain_text(said)
            # What was stored can be taken back; nothing else can be pressed any more.
            buttons = self.card(platform, tool).locator("[data-button]")
            await expect(buttons.filter(has_not_text=LOOKS_BACK)).to_have_count(0)

    async def hears(self, text: str) -> str:
        """The next line in the terminal with this text."""
        assert self._demo.process.stdout is not None
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_SECONDS):
                while line := (await self._demo.process.stdout.readline()).decode():
                    self._heard += line
                    if text in line:
                        return line.strip()
        raise AssertionError(f"the demo did not say {text!r}, but:\n{self._heard}")


@asynccontextmanager
async def _at_a_demo() -> AsyncIterator[Person]:
    """A demo in a process of its own; ended with Ctrl-C while its page is still open."""
    problems: list[str] = []
    async with process("demo", env={}) as demo, browser() as opened:
        page = await opened.new_page(viewport={"width": 1280, "height": 800})
        page.on("pageerror", lambda error: problems.append(str(error)))
        person = Person(page, demo)
        await page.goto(await person.hears("http://"))
        await expect(page.locator("[data-connection=live]")).to_be_visible()

        yield person

        demo.process.send_signal(signal.SIGINT)
        done = await demo.ended()
        await expect(page.locator("[data-connection=lost]")).to_be_visible()
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith("The demo has ended.\n")
    assert problems == []


@pytest.fixture
async def person() -> AsyncIterator[Person]:
    async with _at_a_demo() as person:
        yield person


async def test_allow_in_slack_deny_in_telegram_and_a_long_script(person: Person) -> None:
    await person.presses("Allow", "slack", "read_file")
    await person.sees_in_both("read_file", "Approved", "alice")
    assert "by slack:U0ALICE. read_file ran" in await person.hears("[result]")

    await person.presses("Deny", "telegram", "run_command")
    await person.sees_in_both("run_command", "Denied", "alice")
    denied = await person.hears("[result]")
    assert "run_command was denied" in denied
    assert "ran" not in denied.removeprefix("[result] run_command")

    await expect(person.button("slack", "run_sql", "Deny")).to_be_visible()
    await expect(person.button("slack", "run_sql", "Allow")).to_have_count(0)
    await person.presses("Show all", "slack", "run_sql")
    await _reads_everything_in_the_dialog(person.page)
    await person.presses("Allow", "slack", "run_sql")
    await person.sees_in_both("run_sql", "Approved", "alice")
    assert "by slack:U0ALICE. run_sql ran" in await person.hears("[result]")


async def test_always_in_each_chat_says_what_it_stores(
    person: Person,
) -> None:
    dialog = person.page.locator("[data-dialog=confirm]")
    await person.presses("Always", "slack", "read_file")
    await expect(dialog).to_contain_text("read_file with exactly these arguments")
    await expect(dialog).to_contain_text("in session demo, for 1 day")
    await dialog.locator("[data-confirm=no]").click()
    await person.presses("Always", "slack", "read_file")
    await dialog.locator("[data-confirm=yes]").click()
    await person.sees_in_both("read_file", "Approved", "alice")
    assert "by slack:U0ALICE. read_file ran" in await person.hears("[result]")

    await person.presses("Always", "telegram", "run_command")
    card = person.card("telegram", "run_command")
    await expect(card).to_contain_text("run_command with exactly these arguments")
    await expect(card).to_contain_text("in session demo, for 1 day")
    await person.presses("Back", "telegram", "run_command")
    await expect(person.button("telegram", "run_command", "Allow")).to_be_visible()
    await person.presses("Always", "telegram", "run_command")
    await person.presses("Yes, Always", "telegram", "run_command")
    await person.sees_in_both("run_command", "Approved", "alice")
    assert "by telegram:4242. run_command ran" in await person.hears("[result]")

    await expect(person.button("telegram", "run_sql", "Deny")).to_be_visible()
    await expect(person.button("telegram", "run_sql", "Always")).to_have_count(0)
    await person.presses("Show all", "telegram", "run_sql")
    await person.presses("Always", "telegram", "run_sql")
    await person.presses("Yes, Always", "telegram", "run_sql")
    await person.sees_in_both("run_sql", "Approved", "alice")
    assert "by telegram:4242. run_sql ran" in await person.hears("[result]")


async def test_the_wrong_person_is_told_alone_and_the_right_one_decides(person: Person) -> None:
    whisper = person.page.locator("[data-ephemeral]")
    alert = person.page.locator("[data-dialog=alert]")

    await person.becomes("Mallory")
    await person.presses("Allow", "slack", "read_file")
    await expect(whisper).to_contain_text("You may not decide this one. It stays open.")
    await person.presses("Deny", "telegram", "read_file")
    await expect(alert).to_contain_text("You may not decide this one. It stays open.")
    await alert.locator("[data-alert-ok]").click()
    await person.becomes("Bob")
    await expect(whisper).to_have_count(0)
    await person.presses("Allow", "slack", "read_file")
    await person.sees_in_both("read_file", "Approved", "bob")
    assert "by slack:U0BOB. read_file ran" in await person.hears("[result]")

    await person.becomes("Alice")
    await person.presses("Deny", "slack", "run_command")
    await person.sees_in_both("run_command", "Denied", "alice")
    await expect(person.button("telegram", "run_sql", "Deny")).to_be_visible()
    await expect(person.button("telegram", "run_sql", "Allow")).to_have_count(0)
    await person.presses("Show all", "telegram", "run_sql")
    async with person.page.expect_download() as downloading:
        await person.page.locator("[data-document]").last.click()
    downloaded = await (await downloading.value).path()
    assert THE_LINE_THAT_MATTERS in downloaded.read_text()
    await person.presses("Allow", "telegram", "run_sql")
    await person.sees_in_both("run_sql", "Approved", "alice")
    assert "by telegram:4242. run_sql ran" in await person.hears("run_sql ran")


async def test_the_pictures_can_be_taken_again(tmp_path: Path) -> None:
    pictures = await take_pictures(tmp_path)

    assert [picture.name for picture in pictures] == ["cards.png", "decided.png", "phone.png"]
    assert all(10_000 < picture.stat().st_size < 300_000 for picture in pictures)


async def _reads_everything_in_the_dialog(page: Page) -> None:
    """From its beginning, down to the line that matters, nothing cut off at the side."""
    dialog = page.locator("[data-dialog=modal]")
    line = dialog.get_by_text(THE_LINE_THAT_MATTERS)
    await expect(dialog.get_by_text("run_sql")).to_be_in_viewport()
    await line.scroll_into_view_if_needed()
    await expect(line).to_be_in_viewport()
    text = dialog.locator(".form")
    assert await text.evaluate("node => node.scrollWidth <= node.clientWidth")
    await expect(dialog.locator("[data-close]")).to_be_in_viewport()
    await dialog.locator("[data-close]").click()
    await expect(dialog).to_be_hidden()
