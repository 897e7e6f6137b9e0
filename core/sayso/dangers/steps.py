"""A command line as steps: as it is read where it is understood, else as its words suggest."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sayso.dangers.programs import programs
from sayso.shell.line import Command
from sayso.shell.reader import read

MOST_STEPS = 120
MOST_WORDS = 1_500
"""Bounds: what has more is not looked through to its end, and the card says so."""

_MOST_BEFORE, _MOST_INNER = 16, 64

_CONTINUED = re.compile(r"\\\n")
_BLANK_NAMES = re.compile(r"\$(?:IFS\b|\{IFS[^}$\n]{0,40}+\})(?:\$[0-9@*])?")
_BRACED = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]{0,30}+)[^}$\n]{0,60}+\}")
_JOINS_OUTPUTS = re.compile(r"[0-9]?[<>]&[0-9-]?|&>(?!>)")
_QUOTES = re.compile("[\"'\\\\]|\\$(?=['\"])")
_APART = re.compile(r"(\|&?|[;&\n(){}`\[\]])")
_TARGET = re.compile(r">{1,2}[|!]?[ \t]*([^\s;&|<>()`]+)")
_FED = re.compile(r"<\(|<<<")
_ASSIGNS = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")


@dataclass(frozen=True, slots=True)
class Step:
    """A program with its arguments, and whether it reads what the step before it writes."""

    program: str
    arguments: tuple[str, ...]
    piped: bool = False


@dataclass(frozen=True, slots=True)
class Steps:
    """Those of a line; ``targets`` are the files that it redirects to, ``whole`` says if that is
    all of it, ``understood`` whether there is one way to read it.
    """

    steps: tuple[Step, ...]
    targets: tuple[str, ...] = ()
    understood: bool = False
    whole: bool = True


def steps_of(text: str) -> Steps:
    """The steps of a line, of whatever form it is: at least those that plainly stand in it."""
    line = read(text)
    if line is None:
        return _tolerant(text)
    piped = (False, *(join == "|" for join in line.joins))
    words = sum(len(part.arguments) for part in line.parts)
    steps = tuple(
        Step(name_of(part.program), (*part.arguments, *_read_by(part))[:MOST_WORDS], pipe)
        for part, pipe in zip(line.parts, piped, strict=True)
    )
    return Steps(steps, understood=True, whole=words <= MOST_WORDS)


def _read_by(part: Command) -> Iterator[str]:
    """The file that a command reads instead of what is typed, as words of its line."""
    for redirect in part.redirects:
        if redirect[0] == "<" and redirect != "</dev/null":
            yield from ("<", redirect[1:])


def _tolerant(text: str) -> Steps:
    plain = _CONTINUED.sub(" ", text)
    if "$" in plain:
        plain = _BRACED.sub(r"$\1", _BLANK_NAMES.sub(" ", plain))
    plain = _JOINS_OUTPUTS.sub(" ", plain)
    plain = _QUOTES.sub("", plain).replace(",", " ")
    targets = tuple(_TARGET.findall(plain)[:MOST_STEPS])
    pieces = _APART.split(plain, maxsplit=MOST_STEPS)
    whole = len(pieces) < 2 * MOST_STEPS + 1
    left = MOST_WORDS
    found: list[Step] = []
    before = ""
    for number in range(0, len(pieces), 2):
        words = pieces[number].split(None, left)[:left]
        left -= len(words)
        if step := _step(words, piped=before.startswith("|")):
            found.append(step)
        if words or before.startswith("|"):
            before = ""
        if number + 1 < len(pieces) and not (before and pieces[number + 1] in "({"):
            before = pieces[number + 1]
    if _FED.search(plain):
        # What is fed in by another way is read like what comes through a pipe.
        found = [Step(one.program, one.arguments, piped=True) for one in found]
    return Steps(tuple(found), targets, whole=whole and left > 0)


def _step(words: list[str], *, piped: bool) -> Step | None:
    at = 0
    while at < len(words) and (_ASSIGNS.match(words[at]) or words[at].startswith((">", "<"))):
        at += 1
    if at == len(words):
        return None
    return Step(name_of(words[at]), tuple(words[at + 1 :]), piped)


def name_of(program: str) -> str:
    """The name of a program, without its folder and in small letters."""
    name = program.replace("\\", "/").rpartition("/")[2].lower()
    return name.removesuffix(".exe")


def inner(step: Step, names: frozenset[str]) -> Iterator[Step]:
    """The steps that a program which runs others may run, by the words of its line alone."""
    if step.program not in programs().runs_others:
        return
    for number, word in enumerate(step.arguments[:_MOST_BEFORE]):
        if (name := name_of(word)) in names or name.startswith("mkfs"):
            rest = step.arguments[number + 1 : number + 1 + _MOST_INNER]
            yield Step(name, rest, step.piped)
