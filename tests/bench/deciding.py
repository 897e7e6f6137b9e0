"""What it costs to decide whether a person is asked: by rules about lines, paths and hosts.

The floor is to read the same call from JSON, measured beside it in the same run. A line is read
anew in each decision: none comes twice within the few that are kept.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sayso.always.widths import derive
from sayso.calls import Folder, RunRef, ToolCall
from sayso.policy.decision import Decision, PolicyContext, Ruling
from sayso.policy.rule_policy import RulePolicy
from sayso.rules.rule import RememberedRule
from sayso.rules.standing import about
from sayso.testing import a_rule

AIMS_US = {
    "line by 10 rules": 30.0,
    "path by 10 rules": 30.0,
    "host by 10 rules": 30.0,
    "hostile line of 100 kB": 5_000.0,
}
"""To look at 10 rules, and so at the line, the path or the host; to decide on a line of 100 kB."""

_LINES = (
    *("git status && git diff --stat | head -20", "npm test -- --watch=false", "cat README.md"),
    *("git add src/app.py && git commit -m 'Say what is true now'", "uv run ruff check src"),
    *("uv run pytest tests/core -q 2>&1 | tail -30", "grep -rn 'def read' src | sort | uniq -c"),
    *("ls -la src", "git log --oneline -5", "cd web && npm run build"),
)
_PIECES = (
    *(
        "a",
        "'",
        '"',
        "\\",
        "`",
        "$",
        "a ",
        "a|",
        "''",
        '"\\"',
        "[*",
        "a \\\n",
        "a&&",
        "\n",
        "(",
        "é",
    ),
    *("'a'\"b\"", "../", "\"$(cat <<'A'\n", "{} ", "; ", "-a "),
)
_HOSTILE = tuple((piece * 100_000)[:100_000] for piece in _PIECES)
_ROUNDS, _CALLS = 9, 2_000
_RUN = RunRef("agent", "s-1")


def measure() -> dict[str, dict[str, float]]:
    """Microseconds a decision beside those of its floor."""
    with TemporaryDirectory() as folder:
        root = Path(folder) / "shop"
        for number in range(10):
            (root / f"f{number}").mkdir(parents=True)
            (root / f"f{number}" / "v1.py").write_text("")
        return dict(_rows(Folder(str(root), seen=True)))


def _rows(folder: Folder) -> list[tuple[str, dict[str, float]]]:
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
        found.append((f"{name} by 10 rules", _beside(some, partial(_looked, books))))
        contexts = {call_id: PolicyContext(_RUN, book) for call_id, book in books.items()}
        found.append((f"{name} by a policy", _beside(some, partial(_decided, contexts))))
        found.append((f"{name} into widths", _beside(some, derive)))
    book = tuple(replace(a_rule(), rule=derive(call)[1]) for call in calls["line"])
    hostile = [ToolCall("Bash", {"command": line}, folder=folder) for line in _HOSTILE]
    asked = partial(_asked, PolicyContext(_RUN, book))
    slowest = max((_beside([call], asked, 9) for call in hostile), key=_ours)
    found.append(("hostile line of 100 kB", slowest))
    return found


def _ours(figures: dict[str, float]) -> float:
    return figures["ours"]


def _looked(books: Mapping[str, Sequence[RememberedRule]], call: ToolCall) -> None:
    """As a policy looks at what is remembered."""
    if next(about(call, books[call.call_id], "allow"), None) is None:
        raise AssertionError("its own rule is about the call")


def _decided(contexts: Mapping[str, PolicyContext], call: ToolCall) -> None:
    """As a gate decides: denials first, then what is remembered."""
    if _said(call, contexts[call.call_id]) is not Ruling.ALLOW:
        raise AssertionError("its own rule is about the call")


def _asked(context: PolicyContext, call: ToolCall) -> None:
    if _said(call, context) is not Ruling.ASK:
        raise AssertionError("nothing is about the call")


def _said(call: ToolCall, context: PolicyContext) -> Ruling:
    decision = _POLICY.decide(call, context)
    if not isinstance(decision, Decision):
        raise TypeError("no rule allows once")
    return decision.ruling


_POLICY = RulePolicy()


def _beside(
    calls: list[ToolCall], work: Callable[[ToolCall], object], number: int = _CALLS
) -> dict[str, float]:
    """The least of some rounds, ours and the floor in turn: others use the machine, too."""
    written = [json.dumps({"tool": call.name, "arguments": call.arguments}) for call in calls]
    ours, floor = [], []
    for _ in range(_ROUNDS):
        ours.append(_us(calls, work, number))
        floor.append(_us(written, json.loads, number))
    return {"floor": min(floor), "ours": min(ours), "ratio": min(ours) / min(floor)}


def _us(items: Sequence[Any], work: Callable[[Any], object], number: int) -> float:
    some = list(islice(cycle(items), number))
    begun = time.process_time()
    for one in some:
        work(one)
    return 1e6 * (time.process_time() - begun) / len(some)
