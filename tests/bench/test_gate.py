"""What has become much dearer does not land; a busy machine is an error and no endless wait."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
from bench.gate import BOUNDS, find_too_dear
from bench.processes import NotQuietError, Server
from bench.run import to_table, write_table

_TESTS = Path(__file__).parents[1]


def test_a_figure_over_its_bound_is_too_dear_and_so_is_one_that_was_not_measured() -> None:
    over = {**BOUNDS, "click in Slack": BOUNDS["click in Slack"] * 1.01}
    missing = {name: 1.0 for name in BOUNDS if name != "question in both chats"}
    unknown = {**BOUNDS, "click in Telegram": float("nan")}

    assert find_too_dear(BOUNDS, BOUNDS) == []
    assert [
        [line.partition(":")[0] for line in find_too_dear(ratios, BOUNDS)]
        for ratios in (over, missing, unknown)
    ] == [["click in Slack"], ["question in both chats"], ["click in Telegram"]]


@pytest.mark.timeout(240)
def test_the_gate_measures_and_fails_where_a_bound_is_not_met() -> None:
    """Nothing of ours costs a hundredth of what people write, so this bound cannot be met."""
    env = {**os.environ, "PYTHONPATH": str(_TESTS)}
    command = [sys.executable, "-m", "bench.gate", "--only", "click", "--rounds", "1"]

    done = subprocess.run(
        [*command, "--most", "0.01"], env=env, capture_output=True, text=True, timeout=200
    )

    clicks = ["click in Slack", "click in Telegram"]
    assert done.returncode == 1, done.stderr
    assert [line.split(": ")[1] for line in done.stderr.splitlines() if "too dear" in line] == (
        clicks
    )
    assert [line.partition(":")[0] for line in done.stdout.splitlines()] == clicks


def test_bots_that_never_become_quiet_are_an_error_that_says_what_to_do() -> None:
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        server = Server(0, process, Path(os.devnull))
        try:
            with pytest.raises(NotQuietError, match="a machine with nothing else to do"):
                asyncio.run(server.quiet(share=0.0, step=0.05, most=0.2))
        finally:
            process.kill()


def test_the_table_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    page = tmp_path / "performance.md"
    page.write_text("# Top\n<!-- figures: make bench -->\nold\n<!-- end of figures -->\nend\n")

    for _ in range(2):
        write_table(page, to_table({"a click": {"Sayso": "2 ms"}}, "a machine"))

    text = page.read_text()
    assert text.startswith("# Top\n<!-- figures: make bench -->\n\n*a machine*\n")
    assert "| a click | 2 ms |  |  |" in text
    assert text.endswith("\n<!-- end of figures -->\nend\n")
    assert "old" not in text
