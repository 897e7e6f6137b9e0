"""What Claude Code would remember of a call, as far as a rule of ours can say the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sayso.always.widths import MOST_SUGGESTED
from sayso.calls import ToolCall
from sayso.rules.glob import escape_glob
from sayso.rules.rule import PatternRule, Rule

_COMMAND = "command"
_FILE = "file_path"
# The tools whose rules Claude Code writes as paths from the root: //home/me/project/**
_ROOTED, _BELOW = "//", "/**"


def suggested(call: ToolCall, suggestions: Sequence[Any]) -> tuple[Rule, ...]:
    """Rules to offer with Always; each is about the call.

    A command that is written whole is taken as it is, and a folder that is
    written from the root as all that is below it. The beginning of a command
    is not: to a shell, ``npm test*`` is also ``npm test; rm -rf .``.
    """
    found: list[Rule] = []
    for rule in _rules(call, suggestions):
        if rule.matches(call) and rule not in found:
            found.append(rule)
    return tuple(found[:MOST_SUGGESTED])


def _rules(call: ToolCall, suggestions: Sequence[Any]) -> Iterator[Rule]:
    for one in suggestions:
        if not isinstance(one, Mapping) or one.get("type") != "addRules":
            continue
        written = one.get("rules")
        if one.get("behavior") != "allow" or not isinstance(written, list):
            continue
        for rule in written:
            if isinstance(rule, Mapping) and rule.get("toolName") == call.name:
                yield from _rule(call.name, rule.get("ruleContent"))


def _rule(tool: str, content: object) -> Iterator[Rule]:
    if not isinstance(content, str) or not content:
        return
    if tool == "Bash" and "*" not in content:
        yield PatternRule(tool, {_COMMAND: escape_glob(content)})
    folder = content.removeprefix("/").removesuffix(_BELOW)
    if content.startswith(_ROOTED) and content.endswith(_BELOW) and folder:
        yield PatternRule(tool, {_FILE: f"{escape_glob(folder)}{_BELOW}"})
