"""The adapter of the example keeps what every adapter promises."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from sayso.chats.places import MessageRef, Place
from sayso.platforms import Platform
from sayso.testing import AdapterContract, AdapterStage, PlatformContract, PressRecorder, Shown

EXAMPLE = Path(__file__).parents[2] / "examples" / "terminal_adapter"
sys.path.append(str(EXAMPLE))

from terminal_adapter import PLATFORM, TerminalAdapter, TerminalListener  # noqa: E402


class TerminalStage(AdapterStage):
    """The example's adapter, and what it wrote."""

    lacks = ("outages", "repeated presses", "moving places")

    def __init__(self) -> None:
        self.written: list[str] = []
        self.desk = PressRecorder()
        self.terminal = TerminalAdapter("alice", self.written.append)
        self.adapter = self.terminal
        self.listener = TerminalListener(self.terminal, self.desk)
        self.place = Place("terminal", "screen")
        self.nowhere = Place("terminal", "elsewhere")
        self.actor = "terminal:alice"

    async def shown(self, ref: MessageRef) -> Shown:
        head = f"=== {ref.message_id} ===\n"
        text = next(text for text in reversed(self.written) if text.startswith(head))
        return Shown(text, list(self._keys(text)))

    async def press(self, ref: MessageRef, label: str) -> str:
        before = len(self.written)
        await self.listener.take(self._keys((await self.shown(ref)).text)[label])
        return "\n".join(text for text in self.written[before:] if text.startswith("> "))

    async def revealed(self) -> str:
        return next(text for text in reversed(self.written) if text.startswith("--- all of"))

    async def fill(self, answers: Mapping[str, str]) -> None:
        while (filling := self.terminal.filling) is not None:
            await self.listener.take(answers[filling.fields[0].label])

    async def forge(self, ref: MessageRef, label: str) -> None:
        await self.listener.take(f"{ref.message_id}z")
        await self.listener.take(label)

    def _keys(self, text: str) -> dict[str, str]:
        """Keys by their labels; one label may stand for several cards."""
        lines = [line.strip() for line in text.splitlines() if line.startswith("  [")]
        found: dict[str, str] = {}
        for line in lines:
            key, _, label = line.removeprefix("[").partition("] ")
            found[label if label not in found else f"{label} {key}"] = key
        return found


def test_the_page_on_adapters_shows_the_example_whole() -> None:
    page = (EXAMPLE.parents[1] / "docs" / "adapters.md").read_text()

    assert f"```python\n{(EXAMPLE / 'terminal_adapter.py').read_text()}```\n" in page


class TestTerminalAdapter(AdapterContract):
    @pytest.fixture
    def stage(self) -> TerminalStage:
        return TerminalStage()


class TestTerminalPlatform(PlatformContract):
    @pytest.fixture
    def platform(self) -> Platform[Any]:
        return PLATFORM
