"""The order of evaluation once more, as plainly as the design puts it: what it justifies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Literal

from sayso import Decision, ToolCall
from sayso.agent.verdict import CheckResult
from sayso.rules.rule import Rule

# The line of a policy that changes the arguments in place instead of answering with others.
CHANGED = "policy changes_in_place"

Effect = Literal["allow", "deny"]


@dataclass(frozen=True)
class Config:
    """What all processes have in common."""

    default: Literal["ask", "allow"]
    allow: Sequence[Rule]
    allow_once: Sequence[Rule]
    deny: Sequence[Rule]
    denied_call_ids: frozenset[str]
    declared: Mapping[str, bool]
    rewritten: Mapping[str, tuple[Decision, str]]
    own: frozenset[str]
    chained: bool
    changed: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Kept:
    """A stored rule: about exactly one call, or whatever fits a pattern."""

    rule_id: str
    effect: Effect
    about: ToolCall | Rule
    session: str | None
    until: datetime


@dataclass(frozen=True)
class Expected:
    """What must come of a call: a verdict by one of these lines, or a question."""

    what: Literal["approved", "denied", "own", "person"]
    call: ToolCall
    lines: frozenset[str] = frozenset()
    reused: bool = False


@dataclass
class Told:
    """What one process was told: calls and tools by name, and the answers of its iteration."""

    session: str
    denied: set[str]
    overrides: dict[str, bool] = field(default_factory=dict)
    answers: dict[str, tuple[ToolCall, CheckResult]] = field(default_factory=dict)


class Order:
    """The order of evaluation, computed from what was told, stored, revoked and how late it is."""

    def __init__(self, config: Config, clock: Callable[[], datetime]) -> None:
        self.config = config
        self.clock = clock
        self.kept: list[Kept] = []
        self.spent: set[tuple[str, int]] = set()

    def denials(self, told: Told, *calls: ToolCall) -> frozenset[str]:
        """The lines that deny: nothing comes before them."""
        lines: set[str] = set()
        for call in calls:
            if call.call_id in told.denied:
                lines.add("denied call id")
            lines |= {f"deny rule {n}" for n in numbers(self.config.deny, call)}
            if self._remembers("deny", told, call):
                lines.add("remembered always deny")
        return frozenset(lines)

    def expected(self, told: Told, call: ToolCall, *, own_done: bool = False) -> Expected:
        """What comes of the call now, as far as no person is needed."""
        if not own_done and (known := self._answered(told, call)):
            return known
        lines, command = self.denials(told, call), str(call.arguments["command"])
        if command in self.config.changed:
            lines |= {CHANGED}
        if command in self.config.rewritten:
            return self._rewritten(told, call, lines, *self.config.rewritten[command])
        if lines:
            return Expected("denied", call, lines)
        if command in self.config.own and not own_done:
            return Expected("own", call)
        line = next(self.allowing(told, call), None)
        return Expected("approved", call, frozenset({line})) if line else Expected("person", call)

    def allowing(self, told: Told, call: ToolCall) -> Iterator[str]:
        """The lines that allow, if nothing denies: the first one does."""
        config = self.config
        if call.name in told.overrides:
            if not told.overrides[call.name]:
                yield "override disable_permission_for"
        elif call.name in config.declared:
            if not config.declared[call.name]:
                yield "declaration requires=False"
        elif config.default == "allow":
            yield "default"
        for number in numbers(config.allow, call):
            yield f"allow rule {number}"
        for number in numbers(config.allow_once, call):
            if (told.session, number) not in self.spent:
                yield f"allow-once rule {number}"
        if self._remembers("allow", told, call):
            yield "remembered always allow"

    def spend(self, told: Told, line: str) -> None:
        """An allow-once rule is gone with its first match."""
        if line.startswith("allow-once rule "):
            once = told.session, int(line.split()[-1])
            assert once not in self.spent
            self.spent.add(once)

    def _rewritten(
        self, told: Told, call: ToolCall, lines: frozenset[str], decision: Decision, to: str
    ) -> Expected:
        runs = replace(call, arguments={**call.arguments, "command": to})
        known = None if decision is Decision.ALLOW else self._answered(told, runs)
        if known is not None and known.what == "denied":
            lines |= known.lines
        if lines := lines | self.denials(told, runs):
            return Expected("denied", call, lines)
        if decision is Decision.ALLOW:
            return Expected("approved", runs, frozenset({"rewritten"}))
        return known or Expected("person", runs)

    def _answered(self, told: Told, call: ToolCall) -> Expected | None:
        """The answer of this iteration, unless a denial has come."""
        asked, verdict = told.answers.get(call.call_id, (None, None))
        if asked != call or verdict is None:
            return None
        runs = replace(call, arguments=dict(verdict.arguments))
        lines = self.denials(told, call, runs)
        if not verdict.approved:
            return Expected("denied", call, lines | {verdict.line}, reused=True)
        if lines:
            return Expected("denied", call, lines)
        return Expected("approved", runs, frozenset({verdict.line}), reused=True)

    def _remembers(self, effect: Effect, told: Told, call: ToolCall) -> bool:
        return any(
            kept.effect == effect
            and kept.session in (told.session, None)
            and kept.until > self.clock()
            and is_about(kept.about, call)
            for kept in self.kept
        )


def is_about(about: ToolCall | Rule, call: ToolCall) -> bool:
    if isinstance(about, ToolCall):
        return (about.name, about.arguments) == (call.name, call.arguments)
    return about.tool == call.name and all(
        name in call.arguments and fnmatchcase(str(call.arguments[name]), pattern)
        for name, pattern in about.params.items()
    )


def numbers(rules: Iterable[Rule], call: ToolCall) -> list[int]:
    return [number for number, rule in enumerate(rules, 1) if is_about(rule, call)]
