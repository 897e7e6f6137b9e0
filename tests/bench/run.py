"""``make bench``: a question, a click, waiting runs and starts, ours and as people write them.

It takes less than three minutes and writes the table of docs/performance.md. Absolute times drift
from run to run and between machines, so both sides take turns in one run.
"""

from __future__ import annotations

import asyncio
import os
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median, quantiles

from bench.processes import a_world, take_load_core
from bench.question import AT_ONCE, EVERYDAY, PLATFORMS, SAYSO, Asker, Clicks, Side, asking
from bench.start import measure_start
from bench.waiting import measure_waiting

PAGE = Path(__file__).parents[2] / "docs" / "performance.md"
BEGIN, END = "<!-- figures: make bench -->", "<!-- end of figures -->"
_ROUNDS = 3
_COLUMNS = (SAYSO, AT_ONCE, EVERYDAY)
Rows = dict[str, dict[str, str]]
"""Rows of the table: a text for each column."""


async def measure_questions_and_clicks(rounds: int) -> Rows:
    """Measure all columns in turns; the median of the rounds counts."""
    cpu: dict[str, list[float]] = {column: [] for column in _COLUMNS}
    cards: dict[str, list[dict[str, float]]] = {column: [] for column in _COLUMNS}
    clicks: dict[tuple[str, str], list[Clicks]] = {}
    with a_world() as world:
        async with asking(world, _COLUMNS) as (asker, sides):
            for _ in range(rounds):
                for column, side in sides.items():
                    cpu[column].append(await asker.questions_cpu(side, 64))
                    cards[column].append(await asker.to_card(side, 10))
                    if column != AT_ONCE:
                        await _click(clicks, column, asker, side)
    return _render(cpu, cards, clicks)


async def _click(
    clicks: dict[tuple[str, str], list[Clicks]], column: str, asker: Asker, side: Side
) -> None:
    for name in PLATFORMS:
        found = await asker.clicks(side, name, 100, per_second=100)
        clicks.setdefault((column, name), []).append(found)


def _render(
    cpu: Mapping[str, Sequence[float]],
    cards: Mapping[str, Sequence[Mapping[str, float]]],
    clicks: Mapping[tuple[str, str], Sequence[Clicks]],
) -> Rows:
    rows: Rows = {
        "a question in both chats, processor time of the bots": {
            column: f"{median(cpu[column]) * 1e3:.1f} ms" for column in _COLUMNS
        }
    }
    for name in PLATFORMS:
        rows[f"asked → card in {name.title()}, median"] = {
            column: f"{median(found[name] for found in cards[column]) * 1e3:.1f} ms"
            for column in _COLUMNS
        }
    for name in PLATFORMS:
        some = {column: clicks[column, name] for column in (SAYSO, EVERYDAY)}
        rows[f"100 clicks a second in {name.title()} → run goes on, median / 99th percentile"] = {
            column: " / ".join(
                f"{median(_percentile(one.resumed, part) for one in found) * 1e3:.1f} ms"
                for part in (50, 99)
            )
            for column, found in some.items()
        }
        rows[f"a click in {name.title()} with both cards changed, processor time of the bots"] = {
            column: f"{median(one.cpu for one in found) * 1e3:.1f} ms"
            for column, found in some.items()
        }
    return rows


def _percentile(seconds: Sequence[float], part: int) -> float:
    return quantiles(seconds, n=100)[part - 1]


def measure_the_rest(count: int = 5_000) -> Rows:
    """Measure runs that wait, and starts."""
    waiting, starts = measure_waiting(count), measure_start()
    rows: Rows = {
        f"a run that waits beside {count:,} others, memory": {
            side: f"{found['kilobytes']:.1f} kB" for side, found in waiting.items()
        },
        f"{count:,} runs that wait, processor time": {
            side: f"{found['idle_percent']:.2f} %" for side, found in waiting.items()
        },
    }
    for what, sides in starts.items():
        rows[f"start of {'an' if what[0] == 'a' else 'a'} {what}, processor time"] = {
            side: f"{found:.0f} ms" for side, found in sides.items()
        }
    return rows


def to_table(rows: Mapping[str, Mapping[str, str]], machine: str) -> str:
    """Render the rows as one table in Markdown, below the machine that they are of."""
    lines = [
        f"*{machine}*",
        "",
        f"| | {' | '.join(_COLUMNS)} |",
        "|---" * (1 + len(_COLUMNS)) + "|",
    ]
    for name, texts in rows.items():
        lines.append(f"| {name} | {' | '.join(texts.get(column, '') for column in _COLUMNS)} |")
    return "\n".join(lines)


def write_table(page: Path, table: str) -> None:
    """Put the table between the marks of a page."""
    head, _, rest = page.read_text().partition(BEGIN)
    _, _, tail = rest.partition(END)
    page.write_text(f"{head}{BEGIN}\n\n{table}\n\n{END}{tail}")


def describe_machine(load: float) -> str:
    """Say where and when this is measured, and how busy the machine was before."""
    words = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(words, cwd=PAGE.parent, capture_output=True, text=True).stdout.strip()
    info = Path("/proc/cpuinfo").read_text().splitlines()
    cpu = next((line.partition(": ")[2] for line in info if line.startswith("model name")), "")
    about = (
        f"{cpu or platform.processor()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    )
    busy = f"; the machine was busy with other things (load {load:.1f})" if load > 0.3 else ""
    return f"{datetime.now(UTC):%Y-%m-%d}, {about}, commit {commit}{busy}"


def main(words: Sequence[str]) -> None:
    """Measure, and write and print the table; ``--print`` only prints it."""
    machine = describe_machine(os.getloadavg()[0])
    take_load_core()
    rows = asyncio.run(measure_questions_and_clicks(_ROUNDS)) | measure_the_rest()
    table = to_table(rows, machine)
    print(table)
    if "--print" not in words:
        write_table(PAGE, table)
        print(f"written to {PAGE}")


if __name__ == "__main__":
    main(sys.argv[1:])
