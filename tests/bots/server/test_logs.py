"""What `sayso serve` logs: as text or as JSON, each event once, whoever writes into it."""

from __future__ import annotations

import asyncio
import json
import logging
import signal
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from support.commands import Process, Run, deliver_to, env_of, process
from support.playing import a_playground

from sayso import Gate, Outcome, RunRef, ToolCall
from sayso_bots.process.log_formats import JsonFormatter, TextFormatter

ROUTES = """
[[route]]
tool = "nowhere"
to = ["slack:C0RANDOM"]
approvers = ["slack:U0ALICE"]

[[route]]
to = ["slack:C0OPS"]
approvers = ["slack:U0ALICE"]
"""
ARGUMENT = "an-argument-of-this-test"
FORGED = "bash\n2026-01-01 00:00:00,000 INFO sayso.requests: request resolved outcome=approved"


async def log_of(servers: list[Process]) -> list[str]:
    """All lines that these have written, once they have ended."""
    for one in servers:
        one.process.send_signal(signal.SIGTERM)
    done = await asyncio.gather(*(one.ended() for one in servers))
    assert [one.code for one in done] == [0] * len(servers)
    assert "".join(one.out for one in done) == ""
    lines = [line for one in servers for line in one.lines]
    return lines + [line for one in done for line in one.err.splitlines()]


async def played(store_url: str, config: Path, *more: str, count: int) -> tuple[list[str], str]:
    """The log of so many servers on one store, and the id of the request that Alice allowed."""
    config.write_text(ROUTES)
    async with AsyncExitStack() as stack:
        playground = await stack.enter_async_context(a_playground())
        env = env_of(playground, SAYSO_STORE_URL=store_url)
        argv = ("serve", "--config", str(config), *more)
        servers = [await stack.enter_async_context(process(*argv, env=env)) for _ in range(count)]
        for one in servers:
            line = await one.line_with("serves on")
            deliver_to(playground, line.split("serves on ")[1].split()[0])
        gate = await stack.enter_async_context(
            Gate.open(store_url, run=RunRef("deploy-bot", "s-1"), timeout=30)
        )
        waiting = asyncio.create_task(gate.check(ToolCall(FORGED, {"command": ARGUMENT})))
        card = await playground.slack.message_where(lambda one: "Allow" in one.buttons)
        await playground.slack.press(card, "Allow", by="mallory")
        await playground.slack.press(card, "Allow", by="alice")
        verdict = await waiting
        nowhere = await gate.check(ToolCall("nowhere", {"command": ARGUMENT}))
        assert (verdict.approved, nowhere.outcome) == (True, Outcome.UNDELIVERABLE)
        await playground.slack.message_where(lambda one: "Approved" in one.all_text)
        log = await log_of(servers)
    assert verdict.permission_id is not None
    assert not [line for line in log if ARGUMENT in line]
    return log, verdict.permission_id


async def test_two_servers_on_one_store_log_each_event_once_as_json(
    store_url: str, tmp_path: Path
) -> None:
    log, request_id = await played(
        store_url, tmp_path / "sayso.toml", "--log-format", "json", count=2
    )

    lines: list[dict[str, Any]] = [json.loads(line) for line in log]
    assert all({"time", "level", "logger", "message"} <= line.keys() for line in lines)
    events = [line for line in lines if line["logger"] == "sayso.requests"]
    assert Counter(one["message"] for one in events) == {
        "request opened": 2,
        "card posted": 1,
        "card not posted": 1,
        "interaction refused": 1,
        "request resolved": 2,
    }
    mine = {one["message"]: one for one in events if one["request_id"] == request_id}
    assert mine["request opened"]["tool"].startswith("bash⏎2026-01-01")
    assert mine["interaction refused"]["reason"] == "not_approver"
    assert mine["interaction refused"]["by"] == "slack:U0MALLORY"
    resolved = mine["request resolved"]
    assert (resolved["outcome"], resolved["by"]) == ("approved", "slack:U0ALICE")
    assert (resolved["platform"], resolved["seconds"] > 0) == ("slack", True)


async def test_as_text_no_line_can_be_made_up_by_an_agent(store_url: str, tmp_path: Path) -> None:
    log, request_id = await played(store_url, tmp_path / "sayso.toml", count=1)

    assert not [line for line in log if line.startswith("2026-01-01")]
    mine = [line for line in log if f"request_id={request_id}" in line]
    assert [line.split("sayso.requests: ")[1].split(" request_id")[0] for line in mine] == [
        "request opened",
        "card posted",
        "interaction refused",
        "request resolved",
    ]


async def test_from_level_warning_on_what_goes_well_is_not_logged(
    store_url: str, tmp_path: Path
) -> None:
    log, _ = await played(store_url, tmp_path / "sayso.toml", "--log-level", "warning", count=1)

    events = [line for line in log if "sayso.requests" in line]
    assert ["card not posted" in line for line in events] == [True]


def test_a_format_that_is_none_is_refused(run: Run) -> None:
    done = run("serve", "--log-format", "xml", env={})

    assert done.code == 2
    assert "--log-format" in done.err


def test_a_traceback_is_no_line_of_its_own_in_either_format() -> None:
    error = ValueError(f"wrong: {FORGED}\x1b[2K")
    raised = (ValueError, error, None)
    record = logging.LogRecord("sayso", logging.ERROR, "", 1, "failed\nat %s", ("once",), raised)

    first, *others = TextFormatter().format(record).split("\n")
    whole = JsonFormatter().format(record)

    assert first.endswith("ERROR sayso: failed⏎at once")
    assert all(line.startswith("    ") for line in others)
    assert "\x1b" not in "".join(others)
    assert "\n" not in whole
    assert json.loads(whole)["traceback"].startswith("ValueError: wrong: bash")
