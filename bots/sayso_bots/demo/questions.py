"""What else the demo's agent asks: in words, for a text, for data, for several calls together."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Literal

from pydantic import BaseModel, Field

from sayso.agent.gate import Gate
from sayso.calls import ToolCall

REGIONS = ("eu-west", "us-east", "ap-south")
_NOTES = """Release 42

- Prices are adjusted once a year now, on 1 December.
- The search finds products by their old names, too.
- Customers who never ordered anything are asked again whether they want our letters."""

Say = Callable[[str], None]
"""How the demo tells what happens."""


class Window(BaseModel):
    """When the database may be upgraded."""

    day: date
    hours: int = Field(ge=1, le=8, description="How long it may be away")
    services: list[Literal["shop", "search", "billing"]] = []
    announce: bool = Field(default=True, title="Announce it")


async def ask_questions(gate: Gate, say: Say, release: int) -> None:
    """Ask each of the other kinds of question once, and tell what came of it."""
    say("[agent]  in which region should the replica run?")
    where = await gate.clarify(
        "Which region should the new replica run in?",
        context="All have capacity; eu-west is next to the customers.",
        options=REGIONS,
    )
    say(f"[result] {where.outcome.value}: {where.answer or where.reason or 'no answer'}\n")

    say("[agent]  may these release notes go out?")
    notes = await gate.approve_text(_NOTES, title="Release notes", context="For all customers.")
    say(f"[result] release notes {notes.outcome.value}. {notes.reason}".rstrip() + "\n")

    say("[agent]  when may the database be upgraded?")
    window = await gate.collect(Window, text="When may the database be upgraded?")
    found = window.data.model_dump_json() if window.data is not None else window.reason
    say(f"[result] {window.outcome.value}: {found}\n")

    say("[agent]  may I use read_file, run_tests and deploy? All on one card.")
    calls = [
        ToolCall("read_file", {"path": f"releases/{release}.toml"}),
        ToolCall("run_tests", {"suite": "smoke"}),
        ToolCall("deploy", {"service": "shop", "release": release}),
    ]
    for verdict in await gate.check_batch(calls, together=True):
        say(f"[result] {verdict.tool} {verdict.outcome.value} by {verdict.decided_by or 'nobody'}")
    say("")
