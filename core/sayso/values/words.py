"""The words about values: what of them changes, and what they are written in."""

from __future__ import annotations

from dataclasses import dataclass

from sayso.text.counted import Counted


@dataclass(frozen=True, slots=True)
class ValueWords:
    """One language of values: templates with named gaps."""

    lines_changed: str
    in_string: str
    change: str
    unchanged: Counted
    entries: Counted


ENGLISH = ValueWords(
    lines_changed="{added} added, {removed} removed",
    in_string="JSON in a string",
    change="change",
    unchanged=Counted("[{count} unchanged line]", "[{count} unchanged lines]"),
    entries=Counted("{count} entry", "{count} entries"),
)
