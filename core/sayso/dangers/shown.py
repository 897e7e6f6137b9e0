"""Secrets that a step of a line shows: in what it reads, or the variables that it prints."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise

from sayso.dangers.steps import Step
from sayso.sensitive.paths import is_secret
from sayso.shell.line import Command
from sayso.shell.places import Place
from sayso.shell.read_only_table import read_only_table
from sayso.shell.secret_reads import may_show_secrets, name_found
from sayso.text.secret_forms import SecretNames
from sayso.text.secret_kinds import secret_kinds

# They show what they read, and are asked about for other reasons.
_PAGERS = frozenset(
    ["less", "more", "most", "bat", "batcat", "view", "strings", "xxd", "zcat", "gzcat"]
)
_PRINTS = frozenset(["echo", "printf", "print", "cat", "tee", "base64", "xxd", "printenv"])
_VARIABLE = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")
_ASSIGNS = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_PS_LETTERS = re.compile(r"-[a-zA-Z]*E[a-zA-Z]*|[a-zA-Z]*[eE][a-zA-Z]*|.*environ.*", re.DOTALL)
_JQ_VARIABLES = re.compile(r"(?<![.\w$])env\b(?!\s*:)|(?<![.\w])ENV\b")
_RUN_BY_FIND = frozenset(["-exec", "-execdir", "-ok", "-okdir"])
_SETTINGS = frozenset(["--list", "-l", "--get-regexp"])
_MOST = 64


def shows_secrets(step: Step, place: Place) -> bool:
    """Return whether the step reads secrets or prints variables, as far as its words say."""
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
            return all(one[:1] == "-" or _ASSIGNS.match(one) for one in arguments)
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
