"""What a person may not expect of their rules, before the rules surprise them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from sayso.globs.glob import Glob, dangers, missed
from sayso.rules.rule import Rule

# Of a deny rule it is no danger that it takes more than one thinks.
_WIDTHS = ("As a command", "As a path", "It does not stay", "It matches nearly everything")
_GLOB_SIGN = re.compile(r"[*?\[\]{}|]|\A!")
_BEGINNING = re.compile(r"([A-Za-z0-9_\-/ :=,.]*)\*{1,2}")


def lint_rules(
    allow: Sequence[Rule], deny: Sequence[Rule], allow_once: Sequence[Rule] = ()
) -> tuple[str, ...]:
    """A sentence for each danger, the rules in the order in which they are looked at.

    That a rule is shadowed is only said where it is certain: no sentence is
    no proof that it is not.
    """
    denied = list(_numbered("deny rule", deny))
    allowed = list(_numbered("allow rule", allow))
    once = list(_numbered("allow-once rule", allow_once))
    found: list[str] = []
    for at, (label, rule) in enumerate(denied):
        found += _of_deny(label, rule)
        found += _shadowed(label, rule, denied[:at], "changes nothing")
    for at, (label, rule) in enumerate(allowed):
        found += _of_allow(label, rule)
        found += _shadowed(label, rule, denied, "never applies")
        found += _shadowed(label, rule, allowed[:at], "changes nothing")
    for label, rule in once:
        found += _of_allow(label, rule)
        found += _shadowed(label, rule, denied, "never applies")
        # The same rule twice is the way to allow something twice: not among themselves.
        found += _shadowed(label, rule, allowed, "is never used up")
    return tuple(found)


def _numbered(kind: str, rules: Sequence[Rule]) -> Iterator[tuple[str, Rule]]:
    for number, rule in enumerate(rules, 1):
        yield f"{kind} {number}", rule


def _of_tool(label: str, rule: Rule) -> Iterator[str]:
    if _GLOB_SIGN.search(rule.tool):
        said = f"names of tools are compared exactly, and {rule.tool!r} looks like a pattern"
        yield f"{label}: {said}"


def _of_allow(label: str, rule: Rule) -> Iterator[str]:
    yield from _of_tool(label, rule)
    if rule.arguments_digest is not None:
        return  # it is about one set of arguments, whatever its patterns
    if not rule.params:
        yield f"{label} allows every call of {rule.tool}, whatever its arguments"
    yield from _of_patterns(label, rule.params)


def _of_deny(label: str, rule: Rule) -> Iterator[str]:
    yield from _of_tool(label, rule)
    if rule.arguments_digest is not None:
        return  # it is about one set of arguments, whatever its patterns
    for sentence in _of_patterns(label, rule.params):
        if not any(width in sentence for width in _WIDTHS):
            yield sentence
    for name, pattern in rule.params.items():
        if sentence := missed(pattern):
            yield f"{label}, {name} {pattern!r}: {sentence}"


def _of_patterns(label: str, params: Mapping[str, str]) -> Iterator[str]:
    for name, pattern in params.items():
        for danger in dangers(pattern):
            yield f"{label}, {name} {pattern!r}: {danger}"


def _shadowed(
    label: str, rule: Rule, before: Sequence[tuple[str, Rule]], effect: str
) -> Iterator[str]:
    for other, wider in before:
        if wider == rule and other.split()[0] == label.split()[0]:
            yield f"{label} {effect}: it is {other} again"
            return
        if _covers(wider, rule):
            yield f"{label} {effect}: {other} is about all its calls and comes first"
            return


def _covers(wide: Rule, narrow: Rule) -> bool:
    """Whether it is certain that the wide rule is about every call of the narrow one."""
    if wide.tool != narrow.tool:
        return False
    if wide.arguments_digest not in (None, narrow.arguments_digest):
        return False
    if wide.others_digest is not None:
        return wide == narrow  # more would be hard to be certain of
    return all(
        name in narrow.params and _pattern_covers(pattern, narrow.params[name])
        for name, pattern in wide.params.items()
    )


def _pattern_covers(wide: str, narrow: str) -> bool:
    if wide == narrow:
        return True
    if (text := _only_text(narrow)) is not None:
        return Glob(wide).matches(text)
    first, second = _BEGINNING.fullmatch(wide), _BEGINNING.fullmatch(narrow)
    if first is None or second is None or not second[1].startswith(first[1]):
        return False
    # A star takes no hidden name and nothing empty: be certain that the rest has neither.
    rest = second[1][len(first[1]) :]
    return bool(rest) and not first[1].endswith("/") and "." not in rest and "/" not in rest


def _only_text(pattern: str) -> str | None:
    """The one text that a pattern matches, where that is certain."""
    text = re.sub(r"\\(.)", r"\1", pattern, flags=re.DOTALL)
    needed = Glob(pattern).needs
    plain = re.fullmatch(r"(?:[A-Za-z0-9_\-/ :=,.]|\\.)+", pattern, flags=re.DOTALL)
    return text if plain and needed.whole and needed.heads == {text} else None
