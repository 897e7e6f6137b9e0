"""Programs that only look, with the arguments that do: they read files, print, and end.

A program is here with arguments that make no version of it, GNU's, BusyBox's, those of the BSDs
and of macOS, write a file, run another program or send anything anywhere. Options are named one
by one, so what is new or cut short is not known. What may show secrets is asked about, as far as
the words of a command say so: see ``secrets``. What a program's own settings say is trusted:
those of the person who runs it, and of the folder that it runs in.
"""

from __future__ import annotations

import re

from sayso.shell.git import GIT_LOOKS
from sayso.shell.line import Command
from sayso.shell.lookers import GH_LOOKS, LOOKERS
from sayso.shell.places import Place
from sayso.shell.secrets import may_show_secrets, name_found

LOOKING = (
    "basename",
    "df",
    "dirname",
    "echo",
    "id",
    "ls",
    "pwd",
    "readlink",
    "realpath",
    "stat",
    "whoami",
)
"""They show names, numbers and their own arguments, whatever those are."""

READING = ("cat", "du", "head", "wc")
"""They show what stands in files, all of it or, by ``--files0-from``, in error messages."""

# As those before: they copy, cut and compare what they read to their output, whatever they are
# told. Not `arch`, which runs a program on macOS, nor `printf`, which sets variables.
_FILTERS = re.findall(
    r"\S+",
    """
    cksum cmp comm cut expr false fold groups hexdump md5sum nl nproc od paste rev sha1sum
    sha256sum sha512sum shasum tac tr true tty
    """,
)

WHATEVER = frozenset((*LOOKING, *READING, *_FILTERS))
"""Programs that only look whatever their arguments."""


_ANYWHERE = Place()
_FOUND = "{}"
_FINDS = ("find", "fd")
_TABLE = {**LOOKERS, **GIT_LOOKS, **GH_LOOKS}
# These load nothing of the folder that they run in before they say it, as npm, yarn, cargo and go
# do: a project can choose their version, and with it what runs.
_SAY_THEIR_VERSION = frozenset({"docker", "gh", "git", "jq", "node", "python", "python3", "uv"})
_MATCHES = re.compile(r"-.*[*?\[]", re.DOTALL)
_SIGNATURE = re.compile(r"%[-+ ]?G|signature")


def only_looks(command: Command, place: Place = _ANYWHERE) -> bool:
    """Return whether a command only reads and prints, shows no secrets by its words, and ends."""
    return _looks(command, place) and not may_show_secrets(command, place)


def _looks(command: Command, place: Place) -> bool:
    program, arguments = command.program, command.arguments
    if program in WHATEVER:
        return True
    if arguments == ("--version",):
        return program in _SAY_THEIR_VERSION
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
        return _finds_and_looks(command, place)
    words = (program, *arguments[:2])
    for count in range(len(words), 0, -1):
        if (look := _TABLE.get(words[:count])) is not None:
            return look.allows(command, arguments[count - 1 :])
    return False


def _finds_and_looks(command: Command, place: Place) -> bool:
    """Whether all that ``find`` runs on what it finds only looks, whatever that is called.

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
        only_looks(command._replace(program=program, arguments=found, patterns=True), place)
        and "-exec" not in after
        and ";" not in after
        and only_looks(command._replace(arguments=outer), place)
    )


def _ends_program(words: tuple[str, ...], at: int, word: str) -> bool:
    return word == ";" or (word == "+" and at > 0 and words[at - 1] == _FOUND)


def _stands_alone(program: str, arguments: list[str]) -> bool:
    """Whether what is found is nowhere a part of a word, nor the program."""
    return _FOUND not in program and not any(
        _FOUND in word and word != _FOUND for word in arguments
    )
