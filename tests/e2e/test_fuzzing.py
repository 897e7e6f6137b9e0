"""The fuzzer itself: its calls come again with their seed, and what goes wrong is found."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from fuzz.inside import tried
from fuzz.mutations import CANARY, mutated, written
from fuzz.run import TARGETS, Tally, main
from fuzz.targets import MAKERS, Call, Surroundings
from fuzz.world import World
from support.slack_kit import a_press

THERE = Surroundings(
    "a-signing-secret",
    ("a-token",),
    {
        "paths": {
            "/agents/{agentId}/requests": {
                "post": {"requestBody": {"content": {"application/json": {"schema": {}}}}}
            }
        }
    },
    ("a-handle-of-a-button",),
    ("p1:a-handle-of-a-button:allow",),
    ("a-question",),
)


def a_world(log: Path) -> World:
    """What the fuzzer knows of bots that do not run."""
    return World("", None, log, None, None, {"the token": "sayso_token"})  # type: ignore[arg-type]


@pytest.mark.parametrize("target", MAKERS)
def test_a_seed_makes_the_same_calls_again(target: str) -> None:
    def bodies() -> list[Call]:
        made = [MAKERS[target](Random(f"1/{target}/{number}"), THERE) for number in range(50)]
        # The time of a signature is that of the call.
        return [replace(call, headers={}, raw=call.raw[-20:]) for call in made]

    assert bodies() == bodies()


def test_most_calls_differ_from_what_they_began_with() -> None:
    made = [written(rng, mutated(rng, a_press())) for rng in map(Random, range(300))]

    assert len(set(made)) > 250
    assert made.count(json.dumps(a_press()).encode()) < 30


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("Traceback (most recent call last):", "the log has a failure"),
        ("2027 ERROR sayso: it broke", "the log has a failure"),
        (f"WARNING sayso: not taken: {CANARY}", "the log quotes a body"),
        ("WARNING sayso: Bearer sayso_token", "the log holds the token"),
        ("WARNING sayso: Slack callback refused (from 127.0.0.1)", ""),
    ],
)
def test_what_must_not_be_logged_is_noticed(line: str, found: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("2027 INFO sayso: it starts\n")
    world = a_world(log)
    before = world.logged()
    log.write_text(f"{log.read_text()}{line}\n")

    assert before == ""
    said = world.logged()

    assert said.startswith(found)
    assert bool(said) == bool(found)
    assert world.logged() == ""


def test_a_failure_says_how_it_is_made_again() -> None:
    tally = Tally(42)
    tally.failed("settings", 7, "RecursionError")

    assert tally.problems == [
        (
            "settings 7: RecursionError\n"
            '    again: make fuzz ARGS="--seed 42 --only settings --case 7"'
        )
    ]


def test_what_a_target_raises_is_a_failure() -> None:
    def broken(rng: Random) -> str:
        raise RecursionError(f"at {rng.random() < 2}")

    assert tried(broken, Random(1)) == "RecursionError: at True"
    assert tried(lambda _: "", Random(1)) == ""


async def test_a_short_run_finds_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    code = await asyncio.to_thread(main, ["--seconds", "5", "--seed", "1"])
    said = capsys.readouterr().out

    assert (code, said.splitlines()[-1]) == (0, "all of it was survived"), said
    assert all(f"  {target}\n" in said for target in TARGETS)
