"""An agent with three tools. It only pretends to use them, but asks in earnest."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import date
from typing import Literal

from pydantic import BaseModel, Field

from sayso.agent.gate import Gate
from sayso.agent.verdict import CheckResult
from sayso.calls import ToolCall

_BETWEEN_CALLS_SECONDS = 1.5
_BETWEEN_ROUNDS_SECONDS = 6.0


def harmless_call() -> ToolCall:
    """Reads a file: worth an Always."""
    return ToolCall("read_file", {"path": "deploy/production.toml"})


def dangerous_call(release: int = 42) -> ToolCall:
    """Deletes what production runs on."""
    command = (
        f"ssh production 'rm -rf /srv/shop/releases/{release - 1}"
        f" && deploy --release {release} --now'"
    )
    return ToolCall("run_command", {"command": command})


def long_call() -> ToolCall:
    """Has more arguments than a card can show, with a line in the middle that matters."""
    statements = [
        f"UPDATE prices SET amount = amount * 1.02 WHERE product_id = {1000 + number};"  # noqa: S608  nobody runs it
        for number in range(120)
    ]
    statements[77] = "DELETE FROM customers WHERE last_order < '2020-01-01';"
    return ToolCall("run_sql", {"database": "shop-production", "script": "\n".join(statements)})


_DESCRIPTIONS = {
    "read_file": "To see which release runs now.",
    "run_command": "To put the new release into production.",
    "run_sql": "The yearly price adjustment.",
}


async def ask(gate: Gate, call: ToolCall) -> CheckResult:
    """Ask for one call, with the agent's reason for it."""
    return await gate.check(call, description=_DESCRIPTIONS.get(call.name, ""))


async def work_for_ever(gate: Gate, say: Say) -> None:
    """Make the same calls and ask the same questions again and again; tell what came of them."""
    release = 42
    while True:
        for call in (harmless_call(), dangerous_call(release), long_call()):
            say(f"[agent]  may I use {call.name}? {_short(call)}")
            verdict = await ask(gate, call)
            say(f"[result] {_result(verdict)}\n")
            await asyncio.sleep(_BETWEEN_CALLS_SECONDS)
        await ask_questions(gate, say, release)
        release += 1
        say("[agent]  I am done, and begin again in a moment.\n")
        await asyncio.sleep(_BETWEEN_ROUNDS_SECONDS)


def _short(call: ToolCall) -> str:
    text = ", ".join(f"{name}={value}" for name, value in call.arguments.items())
    first = text.partition("\n")[0]
    return f"{first[:100]} … ({len(text)} characters)" if len(text) > 100 else text


def _result(verdict: CheckResult) -> str:
    if not verdict.approved:
        return verdict.as_tool_result()
    if verdict.decided_by is None:
        return f"not asked, {verdict.reason}. {verdict.tool} ran (pretended)."
    return f"approved by {verdict.decided_by}. {verdict.tool} ran (pretended)."


REGIONS = ("eu-west", "us-east", "ap-south")
_NOTES = """Release 42

- Prices are adjusted once a year now, on 1 December.
- The search finds products by their old names, too.
- Customers who never ordered anything are asked again whether they want our letters."""

Say = Callable[[str], None]
"""Tells what happens in the demo."""


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
