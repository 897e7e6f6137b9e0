"""Commands that only read files, print, and end."""

from __future__ import annotations

import re

from sayso.shell.line import Command
from sayso.shell.places import Place
from sayso.shell.read_only_table import read_only_table
from sayso.shell.secret_reads import may_show_secrets, name_found

_ANYWHERE = Place()
_FOUND = "{}"
_FINDS = ("find", "fd")
_MATCHES = re.compile(r"-.*[*?\[]", re.DOTALL)
_SIGNATURE = re.compile(r"%[-+ ]?G|signature")


def is_read_only(command: Command, place: Place = _ANYWHERE) -> bool:
    """Return True if a command only reads and prints, shows no secrets by its words, and ends."""
    return _only_reads(command, place) and not may_show_secrets(command, place)


def _only_reads(command: Command, place: Place) -> bool:
    program, arguments = command.program, command.arguments
    table = read_only_table()
    if program in table.with_any_arguments:
        return True
    if arguments == ("--version",):
        return program in table.say_their_version
    if program == "git":
        if arguments[:1] in (("--no-pager",), ("-P",)):
            arguments = arguments[1:]
        # In a format or an order these run the program that checks signatures. What matches the
        # name of a file may become such a format.
        if any(map(_SIGNATURE.search, arguments)):
            return False
        if command.patterns and any(map(_MATCHES.match, arguments)):
            return False
    # `+5f` follows a file as `-f` does.
    if program == "tail" and any(one.startswith("+") for one in arguments):
        return False
    if program == "find" and "-exec" in arguments:
        return _finds_to_read(command, place)
    words = (program, *arguments[:2])
    for count in range(len(words), 0, -1):
        if (row := table.by_words.get(words[:count])) is not None:
            return row.allows(command, arguments[count - 1 :])
    return False


def _finds_to_read(command: Command, place: Place) -> bool:
    """Return True if all that ``find`` runs on the files it finds only reads, whatever their names.

    What it finds begins as its folder does, so it is no option. It stands for a word of its own,
    any number of them behind the last one with ``+``, as names that match a pattern do. Where
    ``+`` is not known, all words up to a ``;`` would be those of the program: none may follow.
    """
    at = command.arguments.index("-exec")
    words = command.arguments[at + 1 :]
    count = next((n for n, word in enumerate(words) if _ends_program(words, n, word)), 0)
    program, *inner = words[:count] or ("",)
    if command.patterns or program in _FINDS or not _stands_alone(program, inner):
        return False
    name = name_found(command.arguments[:at], place)
    found = tuple(name if word == _FOUND else word for word in inner)
    after = words[count + 1 :]
    outer = (*command.arguments[:at], *after)
    return (
        is_read_only(command._replace(program=program, arguments=found, patterns=True), place)
        and "-exec" not in after
        and ";" not in after
        and is_read_only(command._replace(arguments=outer), place)
    )


def _ends_program(words: tuple[str, ...], at: int, word: str) -> bool:
    return word == ";" or (word == "+" and at > 0 and words[at - 1] == _FOUND)


def _stands_alone(program: str, arguments: list[str]) -> bool:
    """Return True if ``{}`` is nowhere a part of a word, nor the program."""
    return _FOUND not in program and not any(
        _FOUND in word and word != _FOUND for word in arguments
    )
