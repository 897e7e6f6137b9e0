"""The page of the figures says what was measured, and nothing else."""

from __future__ import annotations

import json

from bench.page import FIGURES, PAGE, PLOTS, SECTIONS, drawings, merged, page


def test_the_page_and_its_plots_are_what_the_script_makes_of_the_figures() -> None:
    parts = json.loads(FIGURES.read_text())

    assert page(PAGE.read_text(), parts) == PAGE.read_text()
    assert {path.stem: path.read_text() for path in PLOTS.glob("*.svg")} == drawings(parts)


def test_what_is_measured_now_takes_the_place_of_the_same_part_and_of_no_other() -> None:
    before = json.loads(FIGURES.read_text())
    measured = {"machine": {"at": "now"}, "waiting": [{"runs": 10}], "herd": [{"clients": 500}]}

    after = merged(measured)

    assert after["waiting"] == {"machine": {"at": "now"}, "figures": [{"runs": 10}]}
    assert {**after, "waiting": before["waiting"]} == before
    assert set(after) <= {*SECTIONS}


def test_the_page_says_when_the_machine_had_other_things_to_do() -> None:
    rules = {"rules": 10, "mix": "ordinary", "last_us": 5.0, "none_us": 5.0, "last_of_re_us": 2.0}
    machine = json.loads(FIGURES.read_text())["question"]["machine"]

    def said(load: float) -> str:
        measured = {"machine": {**machine, "load_average_before": load}, "figures": [rules]}
        return page(PAGE.read_text(), {"rules": measured})

    assert "The machine was busy" in said(6.0)
    assert "The machine was busy" not in said(0.1)
