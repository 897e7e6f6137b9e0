"""``sayso replay``: how often people would have been asked about calls that were made once."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Mapping
from dataclasses import asdict

from sayso.always.terms import GrantOptions
from sayso.policy.decision import Policy
from sayso.policy.rule_policy import RulePolicy
from sayso.text.visible import on_one_line
from sayso.toml_file import parse_toml, read_text
from sayso_bots.cli.arguments import add_json
from sayso_bots.cli.parser import Parser
from sayso_bots.config.policies import read_always, read_policies
from sayso_bots.config.source import parse_source
from sayso_bots.replay.replaying import LENGTHS, LONG, Replay, Step, count_steps
from sayso_bots.replay.trace import PRESSES, TracedCall, read_trace


def add_arguments(parser: Parser) -> None:
    """The trace, the policy, and what people would press."""
    parser.description = (
        f"{parser.description} Each line of the file is a call: an object with at, session, tool "
        "and arguments; project, folder, agent and press may be there. Nothing is asked or stored."
    )
    parser.add_argument("calls", metavar="CALLS.jsonl", help="the calls, one a line")
    parser.add_argument(
        "--policy",
        metavar="FILE",
        help="a policy, or settings with [[policy]] and [always]; without it every call is asked",
    )
    parser.add_argument(
        "--press",
        choices=PRESSES,
        default="never",
        help="which width of Always is pressed on each card (default: never)",
    )
    parser.add_argument(
        "--for",
        dest="lasts",
        choices=LENGTHS,
        default="project",
        help="for how long it is pressed where the call names a project: this session, this "
        "project for a day, or for as long as projects are remembered (default: project)",
    )
    parser.add_argument("--each", action="store_true", help="a line for each call, too")
    add_json(parser, "one JSON object; with --each one a line, a call each, before it")
    parser.set_defaults(run=replay_command)


def replay_command(args: argparse.Namespace, env: Mapping[str, str]) -> int:  # noqa: ARG001
    """Print how often people would have been asked."""
    policy, terms = read_cost(args.policy)
    calls = read_trace(args.calls)
    steps = asyncio.run(_steps(Replay(policy, terms, args.press, args.lasts), calls))
    count = count_steps(calls, steps)
    for step in steps if args.each else ():
        print(json.dumps(asdict(step)) if args.json else _said(step))
    if args.json:
        print(json.dumps(asdict(count)))
    else:
        print(
            f"{count.calls} calls, {count.cards} cards: {count.per10:g} in 10 calls, "
            f"{count.second_half_per10:g} in the second half of sessions of {LONG} calls or more"
        )
    return 0


def read_cost(name: str | None) -> tuple[Policy, GrantOptions]:
    """The policy in a file and the terms of Always beside it; without one every tool asks.

    Raises:
        SettingsError: it cannot be read, or something in it is wrong.
    """
    if name is None:
        return RulePolicy(), GrantOptions()
    text = read_text(name)
    if {"policy", "always"}.isdisjoint(parse_toml(text, name)[0]):
        return RulePolicy.from_file(name), GrantOptions()
    source = parse_source(text, {}, name=name)
    policies, terms = read_policies(source), read_always(source)
    source.check("policy", "always")
    return policies, terms


async def _steps(replay: Replay, calls: list[TracedCall]) -> list[Step]:
    return [await replay.step(number, one) for number, one in enumerate(calls, 1)]


def _said(step: Step) -> str:
    pressed = f" ({step.pressed})" if step.pressed else ""
    rule = f": {step.rule}" if step.rule else ""
    return f"{step.n:5} " + on_one_line(f"{step.tool}: {step.decided}{pressed}{rule}")
