"""The keys under which rules that allow once are used up."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sayso.rules.matchers import Matcher
from sayso.rules.rule import Rule


def once_keys(rules: Sequence[Rule]) -> tuple[str, ...]:
    """A key for each rule, the same in every process; the same rule twice has two keys.

    Equal rules are numbered among themselves, so that another rule put before
    them does not bring back what was spent.
    """
    seen: Counter[str] = Counter()
    keys: list[str] = []
    for rule in rules:
        params = sorted(rule.params.items())
        parts: list[Any] = [rule.tool, params, rule.arguments_digest]
        # Only where it is there: the keys of other rules stay what they always were.
        parts += [] if rule.others_digest is None else [rule.others_digest]
        if rule.talk or rule.matchers:
            parts.append([sorted(rule.talk), sorted(_written(rule.matchers))])
        if rule.also:
            parts.append({"also": sorted(rule.also)})
        text = json.dumps(parts)
        seen[text] += 1
        keys.append(hashlib.sha256(f"{seen[text]} {text}".encode()).hexdigest()[:32])
    return tuple(keys)


def _written(matchers: Mapping[str, Matcher]) -> Iterator[list[Any]]:
    for name, fit in matchers.items():
        yield [name, sorted(asdict(fit).items())]
