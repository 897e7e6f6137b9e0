"""How long a decision takes with more and more rules."""

from __future__ import annotations

from typing import Any

from bench.asking import deciding

RULES = (10, 100, 1_000, 10_000)
_MIXES = ("prefixes", "ordinary", "folders")


def measure() -> list[dict[str, Any]]:
    """What a decision takes with so many rules, by what they are like."""
    rows = []
    for count in RULES:
        for mix in _MIXES:
            found = deciding(mix, count)
            rows.append(
                {
                    "rules": count,
                    "mix": mix,
                    "last_us": found[f"deciding_{mix}_{count}_last_us"]["ours"],
                    "none_us": found[f"deciding_{mix}_{count}_none_us"]["ours"],
                    "last_of_re_us": found[f"deciding_{mix}_{count}_last_beside_re_us"]["floor"],
                }
            )
    return rows
