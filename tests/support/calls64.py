"""64 realistic calls, and the words by which a person knows each of them at a glance."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_FILE = Path(__file__).parents[1] / "data" / "calls64.jsonl"


@dataclass(frozen=True, eq=False)
class Call64:
    """One call: its tool, its arguments, and what must be on a lock screen."""

    number: int
    tool: str
    arguments: Mapping[str, Any]
    glance: tuple[str, ...]


def calls64() -> tuple[Call64, ...]:
    """All of them, in the order of the file."""
    lines = _FILE.read_text().splitlines()
    found = (json.loads(line) for line in lines)
    return tuple(
        Call64(number, one["tool"], one["arguments"], tuple(one["glance"]))
        for number, one in enumerate(found, 1)
    )
