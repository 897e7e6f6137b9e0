"""How often people would have been asked about the calls of a trace, for each way to press."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Any

from sayso.always.terms import GrantOptions
from sayso.policy.presets import PRESETS
from sayso.policy.rule_policy import RulePolicy
from sayso_bots.replay.replaying import Replay, counted
from sayso_bots.replay.trace import PRESSES, read_trace


def measure(trace: str) -> dict[str, dict[str, float]]:
    """The counts of the trace, by what is pressed."""
    return {press: _replayed(trace, press) for press in PRESSES}


def _replayed(trace: str, press: Any) -> dict[str, float]:
    calls = read_trace(trace)
    policy = RulePolicy(allow=[one.rule for one in PRESETS["coding"]])
    replay = Replay(policy, GrantOptions(), press)

    async def steps() -> Any:
        return [await replay.step(number, one) for number, one in enumerate(calls, 1)]

    return asdict(counted(calls, asyncio.run(steps())))
