"""What it costs to decide whether a person is asked: by rules about lines, paths and hosts.

With a trace also how often they would have been, for each way to press.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sayso.always.terms import Terms
from sayso.always.widths import derive
from sayso.calls import Folder, ToolCall
from sayso.policy.presets import PRESETS
from sayso.policy.rule_policy import RulePolicy
from sayso.rules.rule import RememberedRule
from sayso.rules.standing import about
from sayso.testing import a_rule
from sayso_bots.replay.replaying import Replay, counted
from sayso_bots.replay.trace import PRESSES, read_trace

AIM_US = 30.0
"""To look at 10 rules, and so at the line, the path or the host, takes at most this."""

_LINES = (
    *("git status && git diff --stat | head -20", "npm test -- --watch=false", "cat README.md"),
    *("git add src/app.py && git commit -m 'Say what is true now'", "uv run ruff check src"),
    *("uv run pytest tests/core -q 2>&1 | tail -30", "grep -rn 'def read' src | sort | uniq -c"),
    *("ls -la src", "git log --oneline -5", "cd web && npm run build"),
)
_ROUNDS, _CALLS = 9, 2_000


def measure(trace: str | None) -> dict[str, Any]:
    """Microseconds a decision, and the counts of a trace where one is given."""
    with TemporaryDirectory() as folder:
        root = Path(folder) / "shop"
        for number in range(10):
            (root / f"f{number}").mkdir(parents=True)
            (root / f"f{number}" / "v1.py").write_text("")
        figures: dict[str, Any] = {"us": dict(_deciding(Folder(str(root), seen=True)))}
    if trace is not None:
        figures["trace"] = {press: _replayed(trace, press) for press in PRESSES}
    return figures


def _deciding(folder: Folder) -> list[tuple[str, float]]:
    calls = {
        "line": [ToolCall("Bash", {"command": line}, folder=folder) for line in _LINES],
        "path": [
            ToolCall("Edit", {"file_path": f"{folder.root}/f{n}/v1.py"}, folder=folder)
            for n in range(10)
        ],
        "host": [ToolCall("WebFetch", {"url": f"https://h{n}.org/3/re.html"}) for n in range(10)],
    }
    found = []
    for name, some in calls.items():
        own = [replace(a_rule(), rule=derive(call)[1]) for call in some]
        # Nine that are about other calls come before the one that is about this.
        books = {call.call_id: (*own[n + 1 :], *own[: n + 1]) for n, call in enumerate(some)}
        found.append((f"{name} by 10 rules", _us(some, partial(_looked, books))))
        found.append((f"{name} into widths", _us(some, derive)))
    return found


def _looked(books: Mapping[str, Sequence[RememberedRule]], call: ToolCall) -> None:
    """As a policy looks at what is remembered."""
    if next(about(call, books[call.call_id], "allow"), None) is None:
        raise AssertionError("its own rule is about the call")


def _us(calls: list[ToolCall], work: Callable[[ToolCall], object]) -> float:
    rounds = []
    for _ in range(_ROUNDS):
        some = list(islice(cycle(calls), _CALLS))
        begun = time.process_time()
        for call in some:
            work(call)
        rounds.append(1e6 * (time.process_time() - begun) / len(some))
    return min(rounds)


def _replayed(trace: str, press: Any) -> dict[str, float]:
    calls = read_trace(trace)
    policy = RulePolicy(allow=[one.rule for one in PRESETS["coding"]])
    replay = Replay(policy, Terms(), press)

    async def steps() -> Any:
        return [await replay.step(number, one) for number, one in enumerate(calls, 1)]

    return asdict(counted(calls, asyncio.run(steps())))
