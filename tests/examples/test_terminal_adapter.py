"""The adapter of the example keeps what every adapter promises."""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from sayso.cards.card import Card, CardBody, Choice
from sayso.chats.places import MessageRef, Place, Press
from sayso.forms.form import Form, FormField
from sayso.platforms import Platform
from sayso.testing import AdapterContract, AdapterStage, PlatformContract, PressRecorder, Shown

EXAMPLE = Path(__file__).parents[2] / "examples" / "terminal_adapter"
sys.path.append(str(EXAMPLE))

from terminal_adapter import PLATFORM, TerminalAdapter, TerminalListener  # noqa: E402

ALLOW, DENY = Choice("allow", "Allow"), Choice("deny", "Deny")
ASK = Choice("note", "Note…", form=Form("A note", (FormField("note", "Your note"),)))


def a_card(*choices: Choice, title: str = "deploy") -> Card:
    body = CardBody(title, choices=choices)
    expires_at = datetime.now(UTC) + timedelta(minutes=10)
    return Card("handle", body, "a-bot", expires_at, limit=1_000, reveal_limit=1_000)


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


def test_the_page_on_adapters_shows_code_of_the_example() -> None:
    page = (EXAMPLE.parents[1] / "docs" / "adapters.md").read_text()
    code = (EXAMPLE / "terminal_adapter.py").read_text()
    shown = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)

    assert len(shown) == 2
    for text in shown:
        assert text in code or textwrap.indent(text, " " * 4) in code


async def test_while_a_form_is_open_no_keys_are_offered_and_the_question_stands_last() -> None:
    stage = TerminalStage()
    card = a_card(ALLOW, ASK)
    ref = await stage.adapter.show([card], stage.place)
    await stage.adapter.ask(Press(card.handle, ASK.key, stage.actor, ref), card, ASK)
    before = len(stage.written)

    await stage.adapter.update(ref, [a_card(ALLOW, ASK, title="again")])
    stage.terminal.tell("somebody looks at it")

    meanwhile = stage.written[before:]
    assert "again" in meanwhile[0]
    assert not any("[1" in text for text in meanwhile)
    assert [text for text in meanwhile if text == "Your note:"] == ["Your note:"] * 2
    assert meanwhile[-1] == "Your note:"

    await stage.listener.take(".")

    assert "again" in stage.written[-1]
    assert "[1a] Allow" in stage.written[-1]


async def test_a_key_never_stands_for_another_choice() -> None:
    stage = TerminalStage()
    ref = await stage.adapter.show([a_card(ALLOW)], stage.place)
    await stage.adapter.update(ref, [a_card(DENY)])

    assert stage.terminal.pressed("1a") is None
    denied = stage.terminal.pressed("1B")
    assert denied is not None
    assert denied.choice == "deny"

    await stage.adapter.update(ref, [a_card(DENY, ALLOW)])

    allowed = stage.terminal.pressed("1a")
    assert allowed is not None
    assert allowed.choice == "allow"


class TestTerminalAdapter(AdapterContract):
    @pytest.fixture
    def stage(self) -> TerminalStage:
        return TerminalStage()


class TestTerminalPlatform(PlatformContract):
    @pytest.fixture
    def platform(self) -> Platform[Any]:
        return PLATFORM
