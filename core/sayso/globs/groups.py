"""Where the groups of a glob begin and end, and which repetitions it may hold."""

from __future__ import annotations

import re
from itertools import combinations

from sayso.errors import ConfigError
from sayso.globs.brackets import closing_bracket, refuse_half_a_class
from sayso.globs.parts import Branch, Chain, Either, Literal, One, Part, Repeat, Run, chars_of
from sayso.globs.sets import CharSet

DEPTH = 40
_UNCLOSED = 50
_MOST_BRANCHES = 100
_MEANT = re.compile(r'[*?+({|!@"\\]')
# The reference leaves out the spaces around a branch when it looks for risky ones.
_TRIMMED = re.compile(r"(?:\A|\|)(?:[\s\ufeff]|[*?]+(?:\||\Z))|[\s\ufeff](?:\||\Z)")
# After a ``)`` that closes nothing the reference loses count of groups.
_WITH_LONE_PAREN = re.compile(r"[({]|\).*\)|\)[+?]", re.DOTALL)


def closers(source: str, quotes: dict[int, int]) -> dict[int, int]:
    """For each ``(``, ``{`` and ``[`` that opens something, where that ends.

    ``quotes``: where quoted text begins and ends.

    Raises:
        ConfigError: a group is never closed or never opened, a class of characters does not
            stand on its own, or groups nest too deeply.
    """
    found: dict[int, int] = {}
    stack: list[int] = []
    unclosed = 0
    last = source.rfind("]")
    at = 0
    while at < len(source):
        char = source[at]
        if char == "\\":
            at += 1
        elif at in quotes:
            at = quotes[at]
        elif char == "[":
            end = closing_bracket(source, at) if at < last else -1
            if end >= 0 or not unclosed:
                # The first that is not closed was looked through to the end of the pattern.
                refuse_half_a_class(source[at : end if end >= 0 else None], closed=end >= 0)
            unclosed += end < 0
            if end < 0 and at < last and _MEANT.search(source):
                raise _unbalanced("[", "closed")
            if end >= 0:
                found[at] = at = end
        elif char in "({":
            stack.append(at)
        elif char in ")}":
            _close(source, stack, at, found)
        if len(stack) > DEPTH or unclosed > _UNCLOSED:
            text = f"the pattern nests more than {DEPTH} groups; write several simpler patterns"
            raise ConfigError(text)
        at += 1
    if stack:
        raise _unbalanced(source[stack[-1]], "closed")
    return found


def _close(source: str, stack: list[int], at: int, found: dict[int, int]) -> None:
    opener = "(" if source[at] == ")" else "{"
    if not stack or source[stack[-1]] != opener:
        if stack and (opener == "(" or any(source[start] == opener for start in stack)):
            raise _unbalanced(source[stack[-1]], "closed")
        if opener == "(" and _WITH_LONE_PAREN.search(re.sub(r"\\.", "", source, flags=re.DOTALL)):
            raise _unbalanced(")", "opened")
        return
    found[stack.pop()] = at


def _unbalanced(char: str, what: str) -> ConfigError:
    return ConfigError(
        f"the pattern has a {char} that is never {what}; write \\{char} for a {char}"
    )


def brace_marks(
    source: str, start: int, ends: dict[int, int], quotes: dict[int, int]
) -> tuple[bool, bool]:
    """Whether the brace at ``start`` holds a comma, and whether it holds two dots."""
    comma = dots = False
    at = start + 1
    while at < ends[start]:
        if source[at] == "\\":
            at += 1
        elif at in quotes:
            at = quotes[at]
        elif at in ends:
            if source[at] == "(" and ".." in source[at : ends[at]]:
                raise ConfigError("the pattern holds .. in a group inside a brace; write \\.\\.")
            at = ends[at]
        comma |= source[at] == ","
        dots |= source.startswith("..", at)
        at += 1
    return comma, dots


def repeat(sign: str, inner: str, part: Part, *, grouped: bool) -> Part:
    """``*(inner)`` or ``+(inner)``, where ``part`` is what one ``inner`` means.

    ``grouped``: there are further groups inside.

    The reference takes risky repetitions as literal text: those inside each
    other, and branches like ``a|aa``. Of those it does not document, none is
    guessed at.

    Raises:
        ConfigError: it is not clear how often the branches may repeat.
    """
    whole = f"{sign}({inner})"
    if "|" in inner and _TRIMMED.search(inner):
        raise _unclear(whole)
    branches = None if grouped else _branches(part)
    if branches == [()]:
        return Literal("")
    if branches is None or not all(branches) or len(branches) > _MOST_BRANCHES:
        raise _unclear(whole)
    if overlapping := [pair for pair in combinations(branches, 2) if _overlap(*pair)]:
        if all(_power(short, long) for short, long in overlapping):
            return Literal(whole)
        raise _unclear(whole)
    if all(len(branch) == 1 for branch in branches):
        members = branches[0][0]
        for branch in branches[1:]:
            members |= branch[0]
        run = Run(members)
        return run if sign == "*" else Chain((One(members), run))
    return Repeat(tuple(branches), once=sign == "+")


def _unclear(whole: str) -> ConfigError:
    return ConfigError(
        f"the pattern repeats {whole}, whose branches can be read in more than one way; "
        "repeat distinct words only, as in +(ab|cd)"
    )


def _branches(part: Part) -> list[Branch] | None:
    """The part as alternative strings of sets; None if it is more than that."""
    if isinstance(part, Either):
        inner = [_branches(one) for one in part.parts]
        found = [branch for one in inner if one is not None for branch in one]
        return None if None in inner else found
    parts = part.parts if isinstance(part, Chain) else (part,)
    branch: list[CharSet] = []
    for one in parts:
        if isinstance(one, Literal):
            branch += map(chars_of, one.text)
        elif isinstance(one, One):
            branch.append(one.members)
        else:
            return None
    return [tuple(branch)]


def _overlap(one: Branch, other: Branch) -> bool:
    return all(a.meets(b) for a, b in zip(one, other, strict=False))


def _power(one: Branch, other: Branch) -> bool:
    """Whether both are repetitions of one character, of different lengths."""
    return len(one) != len(other) and len({members.ranges for members in one + other}) == 1
