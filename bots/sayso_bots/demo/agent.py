"""An agent with three tools. It only pretends to use them, but asks in earnest."""

from __future__ import annotations

import asyncio

from sayso.agent.gate import Gate
from sayso.agent.verdict import CheckResult
from sayso.calls import ToolCall
from sayso_bots.demo.questions import Say, ask_questions

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
