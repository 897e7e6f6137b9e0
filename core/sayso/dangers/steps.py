"""The steps of a command line as its words suggest, and the secrets that a step shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from sayso.dangers.programs import programs
from sayso.sensitive.paths import is_secret
from sayso.shell.line import Command
from sayso.shell.places import Place
from sayso.shell.read_only_table import read_only_table
from sayso.shell.reader import read
from sayso.shell.secret_reads import may_show_secrets, name_found
from sayso.text.secret_patterns import SecretNames, secret_kinds

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


# They show what they read, and are asked about for other reasons.
_PAGERS = frozenset(
    ["less", "more", "most", "bat", "batcat", "view", "strings", "xxd", "zcat", "gzcat"]
)
_PRINTS = frozenset(["echo", "printf", "print", "cat", "tee", "base64", "xxd", "printenv"])
_VARIABLE = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")
_SETS_FOR_PROGRAM = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_PS_LETTERS = re.compile(r"-[a-zA-Z]*E[a-zA-Z]*|[a-zA-Z]*[eE][a-zA-Z]*|.*environ.*", re.DOTALL)
_JQ_VARIABLES = re.compile(r"(?<![.\w$])env\b(?!\s*:)|(?<![.\w])ENV\b")
_RUN_BY_FIND = frozenset(["-exec", "-execdir", "-ok", "-okdir"])
_SETTINGS = frozenset(["--list", "-l", "--get-regexp"])
_MOST = 64


def shows_secrets(step: Step, place: Place) -> bool:
    """Return True if the step reads secrets or prints variables, as far as its words say."""
    # What find puts into `{}` is told by its own step.
    program, arguments = step.program, tuple(one for one in step.arguments[:_MOST] if one != "{}")
    if _shows_variables(program, arguments) or is_secret(program):
        return True
    if program == "git":
        arguments = _after_its_folder(arguments)
    if program == "find" and (runs := _RUN_BY_FIND.intersection(arguments)):
        at = min(map(arguments.index, runs))
        words = [one for one in arguments[at + 1 :] if one not in ("+", ";")]
        inner = Step(words[0] if words else "", (*words[1:], name_found(arguments[:at], place)))
        return inner.program not in runs and shows_secrets(inner, place)
    command = Command(program, arguments, patterns=True)
    return program in readers() and may_show_secrets(command, place)


def _after_its_folder(arguments: tuple[str, ...]) -> tuple[str, ...]:
    """Return the arguments after the options of git itself."""
    while arguments[:1] and arguments[0].startswith("-"):
        arguments = arguments[2 if arguments[0] in ("-C", "-c") else 1 :]
    return arguments


def _shows_variables(program: str, arguments: tuple[str, ...]) -> bool:
    match program:
        case "printenv":
            return True
        case "env":
            return all(one[:1] == "-" or _SETS_FOR_PROGRAM.match(one) for one in arguments)
        case "set" | "export" | "declare" | "typeset":
            return not arguments or arguments in (("-p",), ("-x",))
        case "ps":
            # Behind an option a word may be its value.
            words = [one for before, one in pairwise(("", *arguments)) if before[:1] != "-"]
            return any(map(_PS_LETTERS.fullmatch, words)) or "environ" in " ".join(arguments)
        case "jq":
            return any(map(_JQ_VARIABLES.search, arguments))
        case "git":
            return "config" in arguments and not _SETTINGS.isdisjoint(arguments)
    return program in _PRINTS and any(
        name in _names() for word in arguments for name in _VARIABLE.findall(word)
    )


@cache
def readers() -> frozenset[str]:
    """Return the programs that show what they read."""
    table = read_only_table()
    named = {words[0] for words in table.by_words if words[0] != "gh"}
    return table.with_any_arguments | _PAGERS | named


@cache
def _names() -> SecretNames:
    return SecretNames(secret_kinds().names)
