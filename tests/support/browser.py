"""Headless Chromium for tests and pictures: one for a process, shared by all that ask for it."""

from __future__ import annotations

import asyncio
import atexit
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache

from playwright.async_api import Browser, async_playwright, expect

from sayso.testing.builders import PATIENCE_SECONDS

NO_CHROMIUM = "no Chromium here: apt-get install chromium"

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_ARGUMENTS = (
    "--headless",
    "--remote-debugging-port=0",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
    "--font-render-hinting=none",
)
_LISTENING = "DevTools listening on "

# A busy machine paints late.
expect.set_options(timeout=PATIENCE_SECONDS * 1_000)


def chromium() -> str | None:
    """Where this machine has Chromium."""
    return next((path for name in _NAMES if (path := shutil.which(name))), None)


@cache
def _running() -> str:
    """The address of this process's Chromium, which is started at the first use."""
    path = chromium()
    if path is None:
        raise FileNotFoundError(NO_CHROMIUM)
    folder = tempfile.mkdtemp(prefix="sayso-chromium-")
    started = subprocess.Popen(
        [path, *_ARGUMENTS, f"--user-data-dir={folder}", "about:blank"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )

    def end() -> None:
        started.kill()
        started.wait()
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(end)
    assert started.stderr is not None
    for line in started.stderr:
        if line.startswith(_LISTENING):
            return line.removeprefix(_LISTENING).strip()
    raise ChildProcessError("Chromium ended before it could be reached")


@asynccontextmanager
async def browser() -> AsyncIterator[Browser]:
    """A browser whose pages share nothing with those of another block."""
    address = await asyncio.to_thread(_running)
    async with async_playwright() as playwright:
        opened = await playwright.chromium.connect_over_cdp(address)
        try:
            yield opened
        finally:
            await opened.close()
