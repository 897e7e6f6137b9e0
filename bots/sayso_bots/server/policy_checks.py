"""What may surprise the authors of [[policy]] sections, before the sections do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from sayso.platforms.finding import Finding
from sayso.policy.server_policy import Section, ServerPolicy
from sayso.rules.lint import lint_rules

_SIGN = re.compile(r"[*?\[]")


def policy_findings(policies: ServerPolicy) -> Iterator[Finding]:
    """A line for each doubtful rule or section; nothing where there are no rules."""
    sections = policies.sections
    found = [
        f"{section.called}: {text}" if section.called else text
        for number, section in enumerate(sections)
        for text in _of_section(section, sections[:number])
    ]
    for text in found:
        yield Finding("warning", "policy", text)
    count = sum(len(one.allow) + len(one.allow_once) + len(one.deny) for one in sections)
    if count and not found:
        yield Finding("ok", "policy", f"{count} rule{'s' if count > 1 else ''} without surprises")


def _of_section(section: Section, before: Sequence[Section]) -> Iterator[str]:
    for other in before:
        if _covers(other.agent, section.agent) and _covers(other.tool, section.tool):
            yield (
                f"is about no call ({section.place}): {other.called} ({other.place}) comes first "
                "and is about all of them; put the narrower one first"
            )
            return
    allow, deny, once = (
        [one.rule for one in rules] for rules in (section.allow, section.deny, section.allow_once)
    )
    if section.looking and section.agent == "*":
        yield (
            f"takes the names of tools as every agent uses them ({section.place}): give the preset "
            'to agents whose tools you know, with agent = "…"'
        )
    yield from map(str, lint_rules(allow, deny, once))
    yield from _never(section, before)


def _never(section: Section, before: Sequence[Section]) -> Iterator[str]:
    """Rules about tools whose calls never come to the section."""
    kinds = {"allow rule": section.allow, "allow-once rule": section.allow_once}
    for kind, rules in {**kinds, "deny rule": section.deny}.items():
        for number, one in enumerate(rules, 1):
            named = f"{kind} {number} ({one.place}) never matches"
            for tool in one.rule.tools:
                if why := _never_comes(tool, section, before):
                    yield f"{named}: {why}"


def _never_comes(tool: str, section: Section, before: Sequence[Section]) -> str:
    """Why no call of the tool comes to the section; empty where one may."""
    if not fnmatchcase(tool, section.tool):
        return f"the section is about tools such as {section.tool!r}, not {tool!r}"
    for other in before:
        if _covers(other.agent, section.agent) and fnmatchcase(tool, other.tool):
            return f"{other.called} ({other.place}) comes first for {tool!r}"
    return ""


def _covers(wide: str, narrow: str) -> bool:
    """Whether it is certain that one pattern takes all that the other one takes."""
    if wide in (narrow, "*"):
        return True
    if not _SIGN.search(narrow):
        return fnmatchcase(narrow, wide)
    beginning, star, more = wide.partition("*")
    is_prefix = bool(star) and not more and not _SIGN.search(beginning)
    return is_prefix and narrow.startswith(beginning)
