"""``make bench``: every figure of ours beside its floor in the same run, and as JSON.

``python -m bench.run [press] [asking] [waiting] [events] [back] [worst] [start]
[deciding] [replay TRACE=FILE]`` measures those; without words, what a user feels most, in less than
three minutes; ``all`` is all of them, and the curves. With ``publish`` the page of the documents
says what was measured.
Absolute times drift from run to run and between machines: only the ratios are claims.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from bench.asking import measure_asking
from bench.cores import take_load_core
from bench.deciding import AIMS_US
from bench.deciding import measure as measure_deciding
from bench.desks import measure as measure_desks
from bench.machine import machine
from bench.page import publish
from bench.peers import measure as measure_peers
from bench.press import CURVE
from bench.press import measure as measure_press
from bench.question import AIM_CARD, AIM_CPU_MS
from bench.question import measure as measure_question
from bench.replay import measure as measure_replay
from bench.rules import measure as measure_rules
from bench.start import starting
from bench.worst import AIM_MS
from support.valkey_server import Valkey

COUNTS = (1_000, 10_000, 100_000)
READERS = (100, 1_000, 3_000)
# Readers that all come back at once: how many, to how many events of how many bytes; who is stuck.
HERDS = (("500", "200", "3300"), ("15", "60", "900000", "--stuck"))
_ROOT = Path(__file__).parents[2]
_RESULT = _ROOT / "build" / "bench.json"

# At most so many times the floor in the same run.
TARGETS = {"registering_us": 2.5, "importing_ms": 1.3, "start_ms": 3.0}
# The same for presses, by their load and figure.
PRESSES = {
    ("100/s", "resumed_p50_us"): 2.0,
    ("100/s", "resumed_p99_us"): 2.5,
    ("1,000/s", "resumed_p50_us"): 2.0,
    ("1,000/s", "resumed_p99_us"): 2.5,
}
LEAST_AT_FULL = 0.25
"""Presses a second and core, of those of the tight floor."""


def show(name: str, figures: dict[str, float]) -> None:
    """One line: the floor, ours, and their ratio."""
    target = TARGETS.get(name.split()[-1])
    aim = f"   (aim: at most {target:g})" if target else ""
    print(
        f"{name:38} floor {figures['floor']:12,.1f}   ours {figures['ours']:12,.1f}"
        f"   ratio {figures['ratio']:6.2f}{aim}",
        flush=True,
    )


def questions(redis_path: str, result: dict[str, Any]) -> None:
    """A whole question in both chats."""
    result["question"] = asyncio.run(measure_question(redis_path))
    for side, figures in result["question"]["sides"].items():
        for name, figure in figures.items():
            aim = ""
            if side.startswith("Sayso"):
                aim = f"   (aim: at most {AIM_CPU_MS:g} ms)" if name.startswith("bots_cpu") else ""
                aim = f"   (aim: at most {AIM_CARD:g} times)" if name.startswith("to_card") else aim
            print(
                f"question, {side:36} {name:30} {figure['value']:12,.2f}"
                f"   ratio {figure['ratio']:8.2f}{aim}",
                flush=True,
            )


def presses(redis_path: str, result: dict[str, Any]) -> None:
    """The way of a press."""
    result["press"] = asyncio.run(measure_press(redis_path))
    _show_presses(result["press"])


def press_curve(redis_path: str, result: dict[str, Any]) -> None:
    """The same from 100 a second to as many as go."""
    result["press_curve"] = asyncio.run(measure_press(redis_path, loads=CURVE, only="Slack"))
    _show_presses(result["press_curve"])


def _show_presses(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        for side, figures in row["sides"].items():
            print(f"press, {row['load']:9} {side:22}" + _said(row["load"], side, figures))


def _said(load: str, side: str, figures: dict[str, dict[str, float]]) -> str:
    parts = []
    for name, figure in figures.items():
        most = PRESSES.get((load, name)) if side.startswith("Sayso") else None
        least = LEAST_AT_FULL if load == "full" and side.startswith("Sayso") else None
        aim = f", aim {most:g}" if most else ""
        if least and name == "presses_per_second":
            aim = f", aim at least {least:g}"
        parts.append(f"  {name} {figure['value']:,.0f} ({figure['ratio']:.2f}{aim})")
    return "".join(parts)


def asking(redis_path: str, result: dict[str, Any]) -> None:
    """Registering, deciding, importing."""
    result["asking"] = asyncio.run(measure_asking(redis_path))
    for name, figures in result["asking"].items():
        show(name, figures)


def waiting(redis_path: str, result: dict[str, Any]) -> None:
    """Runs that wait: each count in a process of its own, and once more with memory traced.

    What the process holds is rounded up by its allocator and hard to see at
    1,000; what is traced is exact and leaves out the allocator's own.
    """
    rows = []
    for count in COUNTS:
        row = _waiting(redis_path, count)
        row["python_bytes_a_waiter"] = _waiting(redis_path, count, "--trace")[
            "python_bytes_a_waiter"
        ]
        rows.append(row)
        print("waiting: " + ", ".join(f"{name} {value:,.2f}" for name, value in row.items()))
    result["waiting"] = rows


def events(redis_path: str, result: dict[str, Any]) -> None:
    """Readers of one branch over HTTP: each count in a process of its own."""
    result["events"] = [
        _shown("events", f"unix://{redis_path}?namespace=events-{count}", str(count))
        for count in READERS
    ]
    result["herd"] = [
        _shown("herd", f"unix://{redis_path}?namespace=herd-{number}", *herd)
        for number, herd in enumerate(HERDS)
    ]


def desks(redis_path: str, result: dict[str, Any]) -> None:
    """Several bots' processes on one store."""
    result["desks"] = asyncio.run(measure_desks(redis_path))
    _print_rows("desks", result["desks"])


def rules(_redis_path: str, result: dict[str, Any]) -> None:
    """Deciding with up to 10,000 rules."""
    result["rules"] = measure_rules()
    _print_rows("rules", result["rules"])


def peers(redis_path: str, result: dict[str, Any]) -> None:
    """What people use instead."""
    result["peers"] = measure_peers(redis_path)
    _print_rows("peers", [{"way": way, **found} for way, found in result["peers"].items()])


def _print_rows(name: str, rows: list[dict[str, Any]]) -> None:
    for row in rows:
        parts = (
            f"{key} {value:,.2f}" if isinstance(value, float) else f"{key} {value}"
            for key, value in row.items()
        )
        print(f"{name}: {', '.join(parts)}", flush=True)


def _shown(name: str, *words: str) -> dict[str, float]:
    command = [sys.executable, "-m", f"bench.{name}", *words]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=_ROOT)
    figures: dict[str, float] = json.loads(done.stdout)
    print(f"{name}: " + ", ".join(f"{each} {value:,.2f}" for each, value in figures.items()))
    return figures


def _waiting(redis_path: str, count: int, *options: str) -> dict[str, float]:
    url = f"unix://{redis_path}?namespace=waiting-{count}{len(options)}"
    command = [sys.executable, "-m", "bench.waiting", url, str(count), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=_ROOT)
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def back(_redis_path: str, result: dict[str, Any]) -> None:
    """Waiting gates after an outage: the server is one of its own, which is killed."""
    result["back"] = [_shown("back", str(count)) for count in COUNTS[:2]]


def worst(redis_path: str, result: dict[str, Any]) -> None:
    """The longest that one accepted call keeps the loop of an agent and a desk from all else."""
    command = [sys.executable, "-m", "bench.worst", f"unix://{redis_path}?namespace=worst"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=_ROOT)
    result["worst"] = json.loads(done.stdout)
    for name, steps in result["worst"].items():
        figures = ", ".join(f"{step} {block:.0f} ms" for step, block in steps.items())
        over = "" if max(steps.values()) <= AIM_MS else f"   (aim: at most {AIM_MS:g} ms)"
        print(f"longest block: {name:38} {figures}{over}", flush=True)


def start(redis_path: str, result: dict[str, Any]) -> None:
    """Commands that start often, and need nobody."""
    result["start"] = starting(redis_path)
    for name, figures in result["start"].items():
        show(f"{name} start_ms", figures)


def deciding(_redis_path: str, result: dict[str, Any]) -> None:
    """Deciding whether to ask, in microseconds, beside reading the call from JSON."""
    result["deciding"] = measure_deciding()
    for name, figures in result["deciding"].items():
        show(name, figures)
        if figures["ours"] > AIMS_US.get(name, figures["ours"]):
            print(f"   (aim: at most {AIMS_US[name]:g} µs)", flush=True)


def replay(_redis_path: str, result: dict[str, Any]) -> None:
    """How often people would have been asked about the calls in ``TRACE=FILE``, by each press."""
    if (trace := os.environ.get("TRACE")) is None:
        print("replay: no TRACE=FILE, nothing to decide again")
        return
    result["replay"] = measure_replay(trace)
    for press, figures in result["replay"].items():
        print(f"replay: {press:24} " + ", ".join(f"{k} {v:g}" for k, v in figures.items()))


PARTS = {
    "question": questions,
    "press": presses,
    "press_curve": press_curve,
    "peers": peers,
    "desks": desks,
    "rules": rules,
    "deciding": deciding,
    "replay": replay,
    "asking": asking,
    "waiting": waiting,
    "events": events,
    "back": back,
    "worst": worst,
    "start": start,
}
FIRST = ("question", "press", "start")
"""What is measured when nothing is named."""


def main(words: list[str]) -> None:
    """Measure the parts that are named, the first ones, or all."""
    result: dict[str, Any] = {"machine": machine()}
    take_load_core()
    for name, _, value in (word.partition("=") for word in words if "=" in word):
        os.environ[name] = value
    named = [word for word in words if "=" not in word and word != "publish"]
    if not named and "publish" not in words:
        named = [*FIRST]
    for word in PARTS if "all" in named else named:
        server = Valkey(unixsocket="valkey.sock", unixsocketperm="700", password="")
        server.start()
        try:
            PARTS[word](str(server.folder / "valkey.sock"), result)
        finally:
            server.close()
        _RESULT.parent.mkdir(exist_ok=True)
        _RESULT.write_text(json.dumps(result, indent=1))
    if "publish" in words:
        publish(json.loads(_RESULT.read_text()))
    print(f"all figures: {_RESULT}")


if __name__ == "__main__":
    main(sys.argv[1:])
