"""What people may not expect of a rule that Always would store, as values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sayso.always.programs import program_of
from sayso.known.tools import sends_queries
from sayso.rules.glob_warnings import Danger, DangerKind, find_dangers
from sayso.rules.matchers import ShellMatcher
from sayso.rules.rule import Rule
from sayso.shell.read_only_table import read_only_table


@dataclass(frozen=True, slots=True)
class WholeTool:
    """The rule allows every call of its tool, or nearly every one."""


@dataclass(frozen=True, slots=True)
class ShowsFiles:
    """The rule allows a program that shows any file it can read."""

    program: str


@dataclass(frozen=True, slots=True)
class WidePattern:
    """The pattern of a parameter matches what people may not expect."""

    parameter: str
    danger: Danger


@dataclass(frozen=True, slots=True)
class Looks:
    """The rule allows lines of a shell that look at whatever they name."""


@dataclass(frozen=True, slots=True)
class Begins:
    """The rule allows programs with more than the words that it names."""

    beginnings: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Sends:
    """The rule allows to send any query to a search engine."""


RuleDanger = WholeTool | ShowsFiles | WidePattern | Looks | Begins | Sends


def rule_dangers(rule: Rule) -> tuple[RuleDanger, ...]:
    """What people may not expect of the calls that a rule allows; nothing for a literal one."""
    if rule.arguments_digest is not None:
        return ()
    if is_the_tool(rule):
        return (WholeTool(),)
    if not rule.params and not rule.matchers and sends_queries(rule.tool, rule.talk):
        return (Sends(),)
    return (*_of_params(rule), *_of_fits(rule))


def is_the_tool(rule: Rule) -> bool:
    """Return True if the rule is about every call of the tool, or nearly every one."""
    if rule.arguments_digest is not None or rule.others_digest is not None or rule.matchers:
        return False
    return all(map(_matches_everything, rule.params.values()))


def _of_params(rule: Rule) -> Iterator[RuleDanger]:
    for parameter, pattern in rule.params.items():
        program = program_of(pattern)
        if program is None:
            yield from (WidePattern(parameter, danger) for danger in find_dangers(pattern))
        elif program in read_only_table().files:
            yield ShowsFiles(program)


def _of_fits(rule: Rule) -> Iterator[RuleDanger]:
    for fit in rule.matchers.values():
        if isinstance(fit, ShellMatcher):
            if fit.begins:
                yield Begins(fit.begins)
            yield Looks()


def _matches_everything(pattern: str) -> bool:
    # A program with plain words is narrow by construction, and costly to examine.
    if program_of(pattern) is not None:
        return False
    return any(found.kind is DangerKind.MATCHES_EVERYTHING for found in find_dangers(pattern))
