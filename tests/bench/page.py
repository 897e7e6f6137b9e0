"""The tables and plots of docs/performance.md, from what was measured.

``make bench ARGS="all publish"`` measures and writes them; ``make bench ARGS=publish`` writes them
again. What is not measured in a run keeps the figures of the last one, with the machine of that.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.plot import Axis, plot

_DOCS = Path(__file__).parents[2] / "docs"
PAGE = _DOCS / "performance.md"
FIGURES = _DOCS / "performance.json"
PLOTS = _DOCS / "images" / "performance"
_BEGIN, _END = "<!-- figures: make bench -->", "<!-- end of figures -->"
_BUSY = 0.3
"""A load average from which on the machine had other things to do."""

Row = Sequence[str]


def merged(measured: Mapping[str, Any]) -> dict[str, Any]:
    """What was measured now in place of what was measured before, of each part with a section."""
    parts = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    for name, figures in measured.items():
        if name in SECTIONS:
            parts[name] = {"machine": measured["machine"], "figures": figures}
    return dict(sorted(parts.items()))


def publish(measured: Mapping[str, Any]) -> None:
    """Write the figures, the plots and the page."""
    parts = merged(measured)
    FIGURES.write_text(json.dumps(parts, indent=1) + "\n")
    PLOTS.mkdir(exist_ok=True, parents=True)
    for name, drawing in drawings(parts).items():
        (PLOTS / f"{name}.svg").write_text(drawing)
    PAGE.write_text(page(PAGE.read_text(), parts))


def page(written: str, parts: Mapping[str, Any]) -> str:
    """The page with these figures between its two marks."""
    before, _, rest = written.partition(_BEGIN)
    after = rest.partition(_END)[2]
    sections = [
        section(parts[name]["figures"], parts[name]["machine"])
        for name, section in SECTIONS.items()
        if name in parts
    ]
    return f"{before}{_BEGIN}\n\n" + "\n\n".join(sections) + f"\n\n{_END}{after}"


def drawings(parts: Mapping[str, Any]) -> dict[str, str]:
    """The plots by their names."""
    return {
        name: draw(parts[part]["figures"]) for name, (part, draw) in _DRAWN.items() if part in parts
    }


def _machine(machine: Mapping[str, Any]) -> str:
    load = machine["load_average_before"]
    busy = (
        f"**The machine was busy with other things (load {load:.1f}): read the ratios, and those "
        "with care.**"
        if load > _BUSY
        else "Nothing else ran."
    )
    return (
        f"*{machine['at'][:10]}, {machine['cpu']}, {machine['cores']} cores, Python "
        f"{machine['python']}, commit {machine['commit']}. {busy}*"
    )


def _table(head: Row, rows: Sequence[Row]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _image(name: str, said: str) -> str:
    return f"![{said}](images/performance/{name}.svg)"


def _question(figures: Any, machine: Any) -> str:
    names = {
        "bots_cpu_ms_a_question": ("bots' processor a question", "ms"),
        "to_card_in_slack_p50_us": ("`check` → in Slack, p50", "µs"),
        "to_card_in_telegram_p50_us": ("`check` → in Telegram, p50", "µs"),
        "press_to_resumed_p50_us": ("press → resumed, p50", "µs"),
    }
    rows = [
        [side, *(_both(side_figures[name], unit) for name, (_, unit) in names.items())]
        for side, side_figures in figures["sides"].items()
    ]
    post = figures["sides"]["tight floor"]["bare_post_p50_us"]["value"]
    head = ["side", *(said for said, _ in names.values())]
    said = (
        "In brackets: how many times the tight floor; of the time to a card, how many times a bare "
        f"POST ({post:,.0f} µs)."
    )
    return "\n\n".join(
        ("## A whole question in both chats", _machine(machine), _table(head, rows), said)
    )


def _both(figure: Mapping[str, float], unit: str) -> str:
    value = figure["value"]
    said = f"{value:.2f}" if value < 100 else f"{value:,.0f}"
    return f"{said} {unit} ({figure['ratio']:.1f})"


def _press(figures: Any, machine: Any) -> str:
    head = ["load", "side", "resumed p50", "p99", "answered p99", "CPU a press", "presses/s"]
    names = {
        "resumed_p50_us": "µs",
        "resumed_p99_us": "µs",
        "answered_p99_us": "µs",
        "server_cpu_us_a_press": "µs",
    }
    rows = [
        [
            row["load"],
            side,
            *(_both(found[name], unit) for name, unit in names.items()),
            (
                f"{found['presses_per_second']['value']:,.0f} "
                f"({found['presses_per_second']['ratio']:.2f})"
            ),
        ]
        for row in figures
        for side, found in row["sides"].items()
    ]
    said = "In brackets: how many times the tight floor of the same chat."
    return "\n\n".join(("## The way of a press", _machine(machine), _table(head, rows), said))


def _press_curve(figures: Any, machine: Any) -> str:
    head = ["load", "side", "resumed p50", "p99", "CPU a press", "presses/s"]
    names = ("resumed_p50_us", "resumed_p99_us", "server_cpu_us_a_press")
    rows = [
        [
            row["load"],
            side,
            *(f"{found[name]['value']:,.0f} µs" for name in names),
            f"{found['presses_per_second']['value']:,.0f}",
        ]
        for row in figures
        for side, found in row["sides"].items()
    ]
    return "\n\n".join(
        (
            "## From 100 presses a second to as many as go",
            _machine(machine),
            _image("presses", "Processor time a press by presses a second"),
            _table(head, rows),
        )
    )


def _waiting(figures: Any, machine: Any) -> str:
    head = ["waiting runs", "resident each", "of it Python's", "Redis over its JSON", "idle CPU"]
    rows = [
        [
            f"{row['count']:,.0f}",
            f"{row['resident_bytes_a_waiter']:,.0f} B",
            f"{row['python_bytes_a_waiter']:,.0f} B",
            f"{row['redis_bytes_a_request_over_its_json']:,.0f} B",
            f"{row['idle_cpu_percent']:.3f} %",
        ]
        for row in figures
    ]
    image = _image("waiting", "Memory of a waiting run by how many wait")
    return "\n\n".join(("## Runs that wait", _machine(machine), image, _table(head, rows)))


_DESKS = {
    "cpu_us_a_press": ("µs a press", ".0f"),
    "cpu_us_a_press_apart": ("apart", ".0f"),
    "presses_of_one": ("times one", ".2f"),
    "cpu_ms_a_question": ("ms a question", ".2f"),
    "cpu_ms_a_question_apart": ("apart", ".2f"),
    "questions_of_one": ("times one", ".2f"),
}


def _desks(figures: Any, machine: Any) -> str:
    names = [name for name in _DESKS if name in figures[0]]
    head = ["processes", *(_DESKS[name][0] for name in names)]
    rows = [
        [str(row["desks"]), *(_of_desks(row[name], _DESKS[name][1]) for name in names)]
        for row in figures
    ]
    cores = machine["cores"]
    said = (
        "The bots' processor, where each process has as much to do as one alone. A press has chats "
        f"of paper. One of the {cores} cores is the load's, so {cores - 1} "
        f"{'is' if cores == 2 else 'are'} left for the processes; *apart* is what as many take "
        "there that have a store each. *Times one* is how much more they do than one where each "
        "has a core of its own (in brackets the least and the most of the rounds): reckoned from "
        "what is dearer than apart, and not seen where there are fewer cores."
    )
    return "\n\n".join(
        ("## Several processes on one store", _machine(machine), _table(head, rows), said)
    )


def _of_desks(value: Any, form: str) -> str:
    if not isinstance(value, list):
        return f"{value:{form}}"
    median, least, most = value
    return f"{median:{form}} ({least:{form}}–{most:{form}})"


def _rules(figures: Any, machine: Any) -> str:
    head = ["rules", "like", "the last one is about the call", "none is", "compiled expressions"]
    rows = [
        [
            f"{row['rules']:,}",
            row["mix"],
            *(f"{row[name]:,.1f} µs" for name in ("last_us", "none_us", "last_of_re_us")),
        ]
        for row in figures
    ]
    image = _image("rules", "Time of a decision by the number of rules")
    return "\n\n".join(("## Rules", _machine(machine), image, _table(head, rows)))


def _events(figures: Any, machine: Any) -> str:
    names = list(figures[0])
    rows = [[f"{row[name]:,.1f}".removesuffix(".0") for name in names] for row in figures]
    head = [name.replace("_", " ") for name in names]
    return "\n\n".join(("## Readers of a stream of events", _machine(machine), _table(head, rows)))


def _peers(figures: Any, machine: Any) -> str:
    head = ["way", "p50 / p99 at 50/s", "decisions/s", "CPU, both sides"]
    rows = [[name, *_peer(found)] for name, found in figures.items()]
    return "\n\n".join(
        (
            "## What people use instead: a decision is stored, the waiting code goes on",
            _machine(machine),
            _table(head, rows),
        )
    )


def _peer(found: Mapping[str, Any]) -> Iterator[str]:
    if "missing" in found:
        yield from (f"not measured: {found['missing']}", "", "")
        return
    yield f"{found['p50_ms']:.2f} / {found['p99_ms']:.2f} ms"
    yield f"{found['per_second']:,.0f}"
    yield f"{found['cpu_us']:,.0f} µs"


SECTIONS: Mapping[str, Callable[[Any, Any], str]] = {
    "question": _question,
    "press": _press,
    "peers": _peers,
    "press_curve": _press_curve,
    "desks": _desks,
    "waiting": _waiting,
    "rules": _rules,
    "events": _events,
}


def _draw_presses(figures: Any) -> str:
    lines: dict[str, list[tuple[float, float]]] = {}
    for row in figures:
        for side, found in row["sides"].items():
            cpu = found["server_cpu_us_a_press"]["value"]
            lines.setdefault(side, []).append((found["presses_per_second"]["value"], cpu))
    lines = {name: sorted(_rounded(line)) for name, line in lines.items()}
    across = Axis("presses a second")
    return plot("Processor time a press", across, Axis("µs"), lines)


def _rounded(line: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """One digit is enough, and keeps the marks of several lines apart."""
    return [(float(f"{x:.1g}"), y) for x, y in line]


def _draw_waiting(figures: Any) -> str:
    names = {
        "resident_bytes_a_waiter": "resident in the agent",
        "python_bytes_a_waiter": "of it Python's objects",
        "redis_bytes_a_request_over_its_json": "in Redis, over its JSON",
    }
    lines = {said: [(row["count"], row[name]) for row in figures] for name, said in names.items()}
    return plot("Memory of a waiting run", Axis("waiting runs"), Axis("bytes", is_log=False), lines)


def _draw_rules(figures: Any) -> str:
    lines: dict[str, list[tuple[float, float]]] = {}
    for row in figures:
        lines.setdefault(row["mix"], []).append((row["rules"], row["last_us"]))
    expressions = [
        (row["rules"], row["last_of_re_us"]) for row in figures if row["mix"] == "ordinary"
    ]
    lines["compiled expressions"] = expressions
    return plot("Time of a decision", Axis("rules"), Axis("µs"), lines)


_DRAWN: Mapping[str, tuple[str, Callable[[Any], str]]] = {
    "presses": ("press_curve", _draw_presses),
    "waiting": ("waiting", _draw_waiting),
    "rules": ("rules", _draw_rules),
}
