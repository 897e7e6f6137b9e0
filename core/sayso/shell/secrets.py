"""Whether a command that reads may show secrets: by the paths that it names, sweeps or expands.

It opens nothing, so a link is taken for what it is called. What follows a folder of the project
(``grep -r x src``) is not looked through: a folder that keeps a ``.env`` of its own shows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

from sayso.sensitive.paths import shows_secrets
from sayso.shell.git import GIT_LOOKS
from sayso.shell.line import Command
from sayso.shell.look import Look
from sayso.shell.lookers import LOOKERS
from sayso.shell.options import Given, options

_Key = str | tuple[str, str]

# They show their own arguments, numbers and settings of the machine: what they name is no file,
# or they say no more of it than whether it is there.
_NO_FILES = frozenset(
    re.findall(
        r"\S+",
        """
        basename command date df dirname echo expr false free gh groups hostname id nproc pgrep ps
        pwd seq sleep test tr true tty type uname uptime which whoami
        """,
    )
)
# They show names and numbers of what they name, and what stands in no file.
_LISTS = frozenset(["ls", "find", "fd", "tree", "stat", "readlink", "realpath", "file", "du", "wc"])
_GIT_READS = frozenset(
    ["show", "log", "whatchanged", "diff", "blame", "grep", "cat-file", "stash", "reflog"]
)

# The first operand is no file but a pattern or a script, unless one of these options gives it.
_SCRIPTS: dict[_Key, tuple[str, ...]] = {
    **dict.fromkeys(("grep", "egrep", "fgrep", "rg"), ("-e", "-f", "--regexp", "--files")),
    ("git", "grep"): ("-e",),
    "sed": ("-e", "--expression"),
    "jq": (),
    "awk": (),
}
# Of `git log -L 1,9:FILE` as well.
_FILE_OPTIONS = ("-f", "--exclude-from", "--files0-from", "-X", "-L")
_NAMED_BY_FIND = ("-name", "-iname", "-path", "-ipath", "-wholename", "-samefile", "-newer")
_SWEEPS: dict[_Key, tuple[str, ...]] = {
    **dict.fromkeys(
        ("grep", "egrep", "fgrep"), ("-r", "-R", "--recursive", "--dereference-recursive", "-d")
    ),
    "rg": ("-u", "--unrestricted", "--hidden", "--no-ignore", "--no-ignore-vcs"),
    "diff": ("-r",),
    ("git", "grep"): ("--no-index", "--untracked"),
}
# A glob of rg brings back what is hidden or ignored; those of grep leave out the rest.
_GLOBS = ("-g", "--glob", "--iglob")
_UP = re.compile(r"(?:^|/)\.\.(?:/|$)")
_UP_OR_HIDDEN = re.compile(r"(?:^|/)\.(?!/|$)")


def may_show_secrets(command: Command) -> bool:
    """Whether what the command prints may hold secrets, as far as its words say."""
    program, arguments = command.program, command.arguments
    if any(shows_secrets(one[1:]) for one in command.redirects if one[0] == "<"):
        return True
    if program in _NO_FILES:
        return False
    key, look, arguments = _entry(program, arguments)
    if program == "git" and (not arguments or key[-1] not in _GIT_READS):
        return False
    given = options(look.written, look.one_dash).sort_out(arguments) if look else None
    words = _every_word(arguments) if given is None else _files(key, given)
    expands = program not in _LISTS and (command.patterns or program == "git")
    if any(shows_secrets(word, expands=expands) for word in words):
        return True
    if given is None:
        return False
    globs = [one for one in given.values(*_GLOBS) if not one.startswith("!")]
    return any(shows_secrets(one, expands=True) for one in globs) or _sweeps(key, given)


def found_by(arguments: tuple[str, ...]) -> str:
    """What ``find`` may find, as a name with stars: a narrow one where its expression is plain."""
    if any(map(_leaves_the_project, arguments)):
        return "/**"
    names = [value for option, value in pairwise(arguments) if option in ("-name", "-iname")]
    joined = {"-o", "-or", "-not", "!", "(", ")", ","}.intersection(arguments)
    return f"./{names[0]}" if len(names) == 1 and not joined else "./*"


def _entry(
    program: str, arguments: tuple[str, ...]
) -> tuple[tuple[str, ...], Look | None, tuple[str, ...]]:
    if program != "git":
        return (program,), LOOKERS.get((program,)), arguments
    if arguments[:1] in (("--no-pager",), ("-P",)):
        arguments = arguments[1:]
    if arguments[:1] in (("stash",), ("reflog",)):
        return ("git", arguments[0]), GIT_LOOKS.get(("git", *arguments[:2])), arguments[2:]
    return ("git", *arguments[:1]), GIT_LOOKS.get(("git", *arguments[:1])), arguments[1:]


def _named(key: tuple[str, ...]) -> _Key:
    program, *verb = key
    return (program, verb[0]) if verb else program


def _operands(key: tuple[str, ...], given: Given) -> tuple[str, ...]:
    """The operands that are files."""
    operands = (*given.operands, *(given.rest or ()))
    instead = _SCRIPTS.get(_named(key))
    if instead is None or any(name in instead for name, _ in given.options):
        return operands
    # Of jq each of these takes a second word, which stands before the script, or anywhere.
    pairs = len(given.values("--arg", "--argjson"))
    return operands if pairs and given.mixed else operands[1 + pairs :]


def _files(key: tuple[str, ...], given: Given) -> Iterable[str]:
    names = _NAMED_BY_FIND if key == ("find",) else _FILE_OPTIONS
    yield from _operands(key, given)
    yield from given.values(*names)


def _every_word(arguments: tuple[str, ...]) -> Iterable[str]:
    """All of them; of those that begin with a dash also what stands at a letter."""
    for word in arguments:
        yield word
        if word[:1] == "-":
            yield word[2:]


def _sweeps(key: tuple[str, ...], given: Given) -> bool:
    """Whether it reads all of a folder where secrets may be, not of one within the project."""
    sweeping = any(
        name in _SWEEPS.get(_named(key), ()) and (name != "-d" or value == "recurse")
        for name, value in given.options
    )
    folders = _operands(key, given) or (".",)
    if key == ("rg",) and not sweeping:
        # It passes over what is hidden or ignored, but for what a whole system or home shows.
        return any((one[:1] == "/" and one.count("/") < 3) or _UP.search(one) for one in folders)
    if key == ("diff",) and not sweeping:
        folders = tuple(one for one in folders if "." not in one.rpartition("/")[2].strip("."))
    elif not sweeping:
        return False
    if any(map(_leaves_the_project, folders)):
        return True
    included = given.values("--include")
    safe = included and not any(shows_secrets(one, expands=True) for one in included)
    return not safe and any(one.rstrip("/") == "." for one in folders)


def _leaves_the_project(path: str) -> bool:
    """Whether a path begins elsewhere, leads upwards, or to what is hidden."""
    return path.startswith(("/", "~", "$")) or _UP_OR_HIDDEN.search(path) is not None
