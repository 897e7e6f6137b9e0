"""The keys under which rules that allow once are used up."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence

from sayso.rules.rule import Rule


def once_keys(rules: Sequence[Rule]) -> tuple[str, ...]:
    """A key for each rule, the same in every process; the same rule twice has two keys.

    Equal rules are numbered among themselves, so that another rule put before
    them does not bring back what was spent.
    """
    seen: Counter[str] = Counter()
    keys: list[str] = []
    for rule in rules:
        parts = [rule.tool, sorted(rule.params.items()), rule.arguments_digest]
        # Only where it is there: the keys of other rules stay what they always were.
        parts += [] if rule.others_digest is None else [rule.others_digest]
        text = json.dumps(parts)
        seen[text] += 1
        keys.append(hashlib.sha256(f"{seen[text]} {text}".encode()).hexdigest()[:32])
    return tuple(keys)
