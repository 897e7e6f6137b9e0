"""Many rules, of which few need a look: those that may be about a call."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sayso.calls import ToolCall
from sayso.globs.glob import Glob, compiled
from sayso.globs.needs import Needs, shortest
from sayso.rules.rule import Rule
from sayso.rules.values import Values

_LONGEST_KEY = 64


class RuleIndex:
    """Rules by tool, then by what a value must hold to fit their most telling pattern.

    It answers as ``Rule.matches`` does, for all rules together. Patterns
    without any text of their own cost one look each.
    """

    def __init__(self, rules: Sequence[Rule]) -> None:
        numbers: dict[str, list[int]] = defaultdict(list)
        for number, rule in enumerate(rules):
            for tool in rule.tools:
                numbers[tool].append(number)
        self._shelves = {tool: _Shelf(rules, some) for tool, some in numbers.items()}

    def matching(self, call: ToolCall) -> Iterator[int]:
        """The positions of the rules that are about the call, in order."""
        shelf = self._shelves.get(call.name)
        return iter(()) if shelf is None else shelf.matching(call)

    def first(self, call: ToolCall) -> int | None:
        """The position of the first rule that is about the call."""
        shelf = self._shelves.get(call.name)
        return None if shelf is None else next(shelf.matching(call), None)

    def looked_at(self, call: ToolCall) -> list[int]:
        """The positions of the rules whose patterns are tried, in order."""
        shelf = self._shelves.get(call.name)
        return [] if shelf is None else shelf.candidates(Values(call.arguments, call.folder))


@dataclass(frozen=True, slots=True)
class _Ready:
    """A rule with its patterns at hand."""

    rule: Rule
    globs: tuple[tuple[str, Glob], ...]
    only_patterns: bool

    @classmethod
    def of(cls, rule: Rule) -> _Ready:
        globs = tuple((name, compiled(pattern)) for name, pattern in rule.params.items())
        return cls(rule, globs, rule == Rule(rule.tool, rule.params))

    def is_about(self, call: ToolCall, values: Values) -> bool:
        for name, glob in self.globs:
            value = values.get(name)
            if value is None or not glob.fits(value):
                return False
        # Whatever else a rule may hold, it has the last word itself.
        return self.only_patterns or self.rule.matches(call, values)


class _Shelf:
    """The rules of one tool."""

    def __init__(self, rules: Sequence[Rule], numbers: Sequence[int]) -> None:
        self._ready = {number: _Ready.of(rules[number]) for number in numbers}
        self._always: list[int] = []
        # By the parameters that the digest leaves out, then by the digest.
        self._digests: dict[tuple[str, ...], dict[str, list[int]]] = defaultdict(dict)
        pinned: dict[str, list[_Entry]] = defaultdict(list)
        for number, ready in self._ready.items():
            if ready.globs:
                name, glob = max(ready.globs, key=lambda pair: _telling(pair[1].needs))
                pinned[name].append(_Entry(number, glob))
            elif ready.rule.arguments_digest is not None:
                digests = self._digests[ready.rule.talk]
                digests.setdefault(ready.rule.arguments_digest, []).append(number)
            else:
                self._always.append(number)
        self._drawers = {name: _Drawer(entries) for name, entries in pinned.items()}

    def matching(self, call: ToolCall) -> Iterator[int]:
        values = Values(call.arguments, call.folder)
        for number in self.candidates(values):
            if self._ready[number].is_about(call, values):
                yield number

    def candidates(self, values: Values) -> list[int]:
        found = set(self._always)
        for name, drawer in self._drawers.items():
            value = values.get(name)
            if value is not None:
                found.update(drawer.candidates(value.value))
        for talk, digests in self._digests.items():
            for digest in values.digests.known(without=talk):
                found.update(digests.get(digest, ()))
        return sorted(found)


class _Entry(NamedTuple):
    number: int
    glob: Glob


class _Key(NamedTuple):
    """A text that is in a value: at its beginning, at its end or anywhere."""

    place: str
    text: str


class _Drawer:
    """Rules told apart by one parameter: by a text at the beginning, at the end or in its value."""

    def __init__(self, entries: Sequence[_Entry]) -> None:
        ways = {entry.number: list(_ways(entry.glob.needs)) for entry in entries}
        common = Counter(key for some in ways.values() for keys in some for key in keys)
        self._spelt: dict[str, list[int]] = defaultdict(list)
        self._beginning: dict[int, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        self._end: dict[int, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        self._inside: dict[str, list[int]] = defaultdict(list)
        self._any: list[int] = []
        for number, glob in entries:
            self._spelt[glob.pattern].append(number)
            # The rarest way leaves out most.
            keys = min(
                ways[number], key=lambda some: max((common[key] for key in some), default=0),
                default=None,
            )  # fmt: skip
            if keys is None:
                self._any.append(number)
            for key in keys or ():
                self._by(key).append(number)

    def _by(self, key: _Key) -> list[int]:
        if key.place == "inside":
            return self._inside[key.text]
        by_length = self._beginning if key.place == "beginning" else self._end
        return by_length[len(key.text)][key.text]

    def candidates(self, value: str) -> Iterator[int]:
        yield from self._any
        yield from self._spelt.get(value, ())
        for length, by_text in self._beginning.items():
            yield from by_text.get(value[:length], ())
        for length, by_text in self._end.items():
            yield from by_text.get(value[-length:], ())
        for numbers in [some for text, some in self._inside.items() if text in value]:
            yield from numbers


def _ways(needed: Needs) -> Iterator[list[_Key]]:
    """Sets of keys: of each set one is true of every value that can match."""
    if "" not in needed.heads:
        yield list({_Key("beginning", text[:_LONGEST_KEY]) for text in needed.heads})
    if "" not in needed.tails:
        yield list({_Key("end", text[-_LONGEST_KEY:]) for text in needed.tails})
    for texts in needed.words:
        yield list({_Key("inside", text) for text in texts})


def _telling(needed: Needs) -> int:
    """How much a pattern says about its values: the length of the text that they must hold."""
    if not needed.heads:
        return _LONGEST_KEY
    return max(map(shortest, (needed.heads, needed.tails, *needed.words)))
