"""What may surprise the authors of rules, before the rules do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Literal

from sayso.rules.glob import compile_glob
from sayso.rules.glob_reader import read_glob
from sayso.rules.glob_warnings import (
    Danger,
    DangerKind,
    Miss,
    explain_danger,
    find_dangers,
    find_misses,
)
from sayso.rules.rule import Rule

# A deny rule that matches more than its author thinks is not dangerous.
_WIDTHS = frozenset(
    {
        DangerKind.MATCHES_EVERYTHING,
        DangerKind.COMMAND_AFTER,
        DangerKind.COMMAND_BEFORE,
        DangerKind.LEAVES_FOLDER,
        DangerKind.OTHER_FOLDERS,
        DangerKind.LEAVES_HOST,
    }
)
_GLOB_SIGN = re.compile(r"[*?\[\]{}|]|\A!")
_BEGINNING = re.compile(r"([A-Za-z0-9_\-/ :=,.]*)\*{1,2}")


RuleList = Literal["deny", "allow", "allow_once"]


class Shadow(Enum):
    """What becomes of a rule that another one comes before."""

    CHANGES_NOTHING = "changes nothing"
    NEVER_APPLIES = "never applies"
    NEVER_USED_UP = "is never used up"


@dataclass(frozen=True, slots=True)
class ListedRule:
    """A rule by its list and its number there, counted from 1."""

    in_list: RuleList
    number: int

    def said(self) -> str:
        """The rule's name in a sentence."""
        return f"{self.in_list.replace('_', '-')} rule {self.number}"


@dataclass(frozen=True, slots=True)
class ToolIsPattern:
    """The name of a rule's tool looks like a pattern, and is not read as one."""

    rule: ListedRule
    tool: str

    def said(self) -> str:
        """The finding in a sentence."""
        return (
            f"{self.rule.said()}: the names of tools are compared exactly, "
            f"and {self.tool!r} looks like a pattern"
        )

    __str__ = said


@dataclass(frozen=True, slots=True)
class EveryCall:
    """A rule allows every call of its tool."""

    rule: ListedRule
    tool: str

    def said(self) -> str:
        """The finding in a sentence."""
        return f"{self.rule.said()} allows every call of {self.tool}, whatever its arguments"

    __str__ = said


@dataclass(frozen=True, slots=True)
class PatternMatches:
    """A pattern matches what its author may not expect."""

    rule: ListedRule
    parameter: str
    pattern: str
    danger: Danger

    def said(self) -> str:
        """The finding in a sentence that ends in a value that the pattern does match."""
        meaning = explain_danger(self.danger)
        rule = self.rule.said()
        return f"{rule}, {self.parameter} {self.pattern!r}: {meaning}"

    __str__ = said


@dataclass(frozen=True, slots=True)
class PatternMisses:
    """A denying pattern does not match what its author may expect it to."""

    rule: ListedRule
    parameter: str
    pattern: str
    misses: tuple[Miss, ...]

    def said(self) -> str:
        """The finding in a sentence that ends in values that the pattern does not match."""
        *some, last = [miss.kind.value for miss in self.misses]
        kinds = f"{', '.join(some)} or {last}" if some else last
        samples = ", ".join(repr(miss.sample) for miss in self.misses)
        return (
            f"{self.rule.said()}, {self.parameter} {self.pattern!r}: "
            f"It does not match values with {kinds}: for example {samples}"
        )

    __str__ = said


@dataclass(frozen=True, slots=True)
class Shadowed:
    """Another rule comes before this one and covers it; ``again``: both are the same rule."""

    rule: ListedRule
    by: ListedRule
    shadow: Shadow
    again: bool

    def said(self) -> str:
        """The finding in a sentence."""
        by = self.by.said()
        why = f"it repeats {by}" if self.again else f"{by} covers all its calls and comes first"
        return f"{self.rule.said()} {self.shadow.value}: {why}"

    __str__ = said


LintFinding = ToolIsPattern | EveryCall | PatternMatches | PatternMisses | Shadowed
"""Something that may surprise the author of a rule; printed, it is a sentence."""


def lint_rules(
    allow: Sequence[Rule], deny: Sequence[Rule], allow_once: Sequence[Rule] = ()
) -> tuple[LintFinding, ...]:
    """A finding for each danger, in the order in which the rules are tried.

    A rule is only called shadowed where that is certain: no finding does not
    prove that it is not.
    """
    denied = _listed("deny", deny)
    allowed = _listed("allow", allow)
    once = _listed("allow_once", allow_once)
    found: list[LintFinding] = []
    for at, (name, rule) in enumerate(denied):
        found += _of_deny(name, rule)
        found += _shadowed(name, rule, denied[:at], Shadow.CHANGES_NOTHING)
    for at, (name, rule) in enumerate(allowed):
        found += _of_allow(name, rule)
        found += _shadowed(name, rule, denied, Shadow.NEVER_APPLIES)
        found += _shadowed(name, rule, allowed[:at], Shadow.CHANGES_NOTHING)
    for name, rule in once:
        found += _of_allow(name, rule)
        found += _shadowed(name, rule, denied, Shadow.NEVER_APPLIES)
        # To allow something twice, its rule is listed twice: not compared among themselves.
        found += _shadowed(name, rule, allowed, Shadow.NEVER_USED_UP)
    return tuple(found)


_Listed = tuple[ListedRule, Rule]


def _listed(name: RuleList, rules: Sequence[Rule]) -> list[_Listed]:
    return [(ListedRule(name, number), rule) for number, rule in enumerate(rules, 1)]


def _of_tool(name: ListedRule, rule: Rule) -> Iterator[LintFinding]:
    for tool in rule.tools:
        if _GLOB_SIGN.search(tool):
            yield ToolIsPattern(name, tool)


def _of_allow(name: ListedRule, rule: Rule) -> Iterator[LintFinding]:
    yield from _of_tool(name, rule)
    if rule.arguments_digest is not None:
        return  # it is about one set of arguments, whatever its patterns
    if not rule.params and not rule.matchers and rule.others_digest is None:
        yield from (EveryCall(name, tool) for tool in rule.tools)
    yield from _of_patterns(name, rule.params)


def _of_deny(name: ListedRule, rule: Rule) -> Iterator[LintFinding]:
    yield from _of_tool(name, rule)
    if rule.arguments_digest is not None:
        return  # it is about one set of arguments, whatever its patterns
    yield from (
        finding for finding in _of_patterns(name, rule.params) if finding.danger.kind not in _WIDTHS
    )
    for parameter, pattern in rule.params.items():
        if missed := find_misses(pattern):
            yield PatternMisses(name, parameter, pattern, missed)


def _of_patterns(name: ListedRule, params: Mapping[str, str]) -> Iterator[PatternMatches]:
    for parameter, pattern in params.items():
        for danger in find_dangers(pattern):
            yield PatternMatches(name, parameter, pattern, danger)


def _shadowed(
    name: ListedRule, rule: Rule, before: Sequence[_Listed], shadow: Shadow
) -> Iterator[LintFinding]:
    for other, wider in before:
        if wider == rule and other.in_list == name.in_list:
            yield Shadowed(name, other, shadow, again=True)
            return
        if _covers(wider, rule):
            yield Shadowed(name, other, shadow, again=False)
            return


def _covers(wide: Rule, narrow: Rule) -> bool:
    """Return True if it is certain that the wide rule is about every call of the narrow one."""
    if not set(wide.tools).issuperset(narrow.tools):
        return False
    if wide.arguments_digest not in (None, narrow.arguments_digest):
        return False
    if wide.others_digest is not None or wide.matchers or wide.talk:
        return wide == narrow  # more would be hard to be certain of
    return all(
        name in narrow.params and _pattern_covers(pattern, narrow.params[name])
        for name, pattern in wide.params.items()
    )


def _pattern_covers(wide: str, narrow: str) -> bool:
    if wide == narrow:
        return True
    if (text := read_glob(narrow).literal) is not None:
        return compile_glob(wide).matches(text)
    first, second = _BEGINNING.fullmatch(wide), _BEGINNING.fullmatch(narrow)
    if first is None or second is None or not second[1].startswith(first[1]):
        return False
    # A star takes no hidden name and nothing empty: be certain that the rest has neither.
    rest = second[1][len(first[1]) :]
    return bool(rest) and not first[1].endswith("/") and "." not in rest and "/" not in rest
