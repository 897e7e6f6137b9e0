"""Many rules, few to look at: which of them may be about a call."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assent.calls import ToolCall, arguments_digest
from assent.globs import Glob
from assent.javascript import as_text
from assent.rules import Rule

# A value cannot match a pattern of nothing but these unless it holds every word of it.
_PLAIN = re.compile(r"[A-Za-z0-9_\-./ *?:=,]*")
_SET = re.compile(r"\[[\^!]?[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*\]")
_WORD = re.compile(r"[A-Za-z0-9_\-]+")
_LONGEST_HEAD = 64


class RuleIndex:
    """Rules by tool, then by how their most telling pattern begins.

    It only leaves out rules that cannot match: ``Rule.matches`` has the last
    word. Patterns that begin with a star and hold no word cost one look each.
    """

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = tuple(rules)
        numbers: dict[str, list[int]] = defaultdict(list)
        for number, rule in enumerate(self._rules):
            numbers[rule.tool].append(number)
        self._shelves = {tool: _Shelf(self._rules, some) for tool, some in numbers.items()}

    def matching(self, call: ToolCall) -> Iterator[int]:
        """The positions of the rules that are about the call, in order."""
        shelf = self._shelves.get(call.name)
        if shelf is not None:
            for number in shelf.candidates(call.arguments):
                if self._rules[number].matches(call):
                    yield number

    def first(self, call: ToolCall) -> int | None:
        """The position of the first rule that is about the call."""
        return next(self.matching(call), None) if call.name in self._shelves else None


class _Shelf:
    """The rules of one tool."""

    def __init__(self, rules: Sequence[Rule], numbers: Sequence[int]) -> None:
        self._always: list[int] = []
        self._digests: dict[str, list[int]] = defaultdict(list)
        self._drawers: dict[str, _Drawer] = {}
        pinned: dict[str, list[tuple[int, str, tuple[str, ...]]]] = defaultdict(list)
        for number in numbers:
            rule = rules[number]
            if rule.params:
                name, heads = _most_telling(rule.params)
                pinned[name].append((number, rule.params[name], heads))
            elif rule.arguments_digest is not None:
                self._digests[rule.arguments_digest].append(number)
            else:
                self._always.append(number)
        self._drawers = {name: _Drawer(entries) for name, entries in pinned.items()}

    def candidates(self, arguments: Mapping[str, Any]) -> list[int]:
        found = list(self._always)
        for name, drawer in self._drawers.items():
            if name in arguments:
                found += drawer.candidates(as_text(arguments[name]))
        if self._digests:
            found += self._digests.get(arguments_digest(arguments), ())
        found.sort()
        return found


class _Drawer:
    """Rules told apart by one parameter: by how its value begins, then by a word in it."""

    def __init__(self, entries: Sequence[tuple[int, str, tuple[str, ...]]]) -> None:
        common = Counter(word for _, pattern, _ in entries for word in _words(pattern))
        self._by_length: dict[int, dict[str, dict[int, str]]] = {}
        for number, pattern, heads in entries:
            # The rarest word leaves out most; among those the longest.
            word = min(_words(pattern), key=lambda w: (common[w], -len(w)), default="")
            for head in heads:
                short = head[:_LONGEST_HEAD]
                by_head = self._by_length.setdefault(len(short), {})
                by_head.setdefault(short, {})[number] = word

    def candidates(self, value: str) -> set[int]:
        found: set[int] = set()
        for length, by_head in self._by_length.items():
            entries = by_head.get(value[:length])
            if entries is not None:
                found.update([number for number, word in entries.items() if word in value])
        return found


def _most_telling(params: Mapping[str, str]) -> tuple[str, tuple[str, ...]]:
    """The parameter whose pattern says most about how its value begins."""
    heads = {name: Glob(pattern).prefixes for name, pattern in params.items()}
    name = max(heads, key=lambda name: min(map(len, heads[name]), default=_LONGEST_HEAD))
    return name, heads[name]


def _words(pattern: str) -> set[str]:
    without_sets = _SET.sub("?", pattern)
    return set(_WORD.findall(without_sets)) if _PLAIN.fullmatch(without_sets) else set()
