"""Commands that read and may show secrets: by the paths that they name, sweep or expand.

It opens nothing, so a link is taken for what it is called. What follows a folder of the project
(``grep -r x src``) is not looked through: a folder that keeps a ``.env`` of its own shows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from itertools import pairwise

from sayso.sensitive.paths import shows_secrets
from sayso.shell.line import Command
from sayso.shell.options import Given, options
from sayso.shell.places import Place
from sayso.shell.read_only_table import ReadOnlyCommand, read_only_table

_Key = str | tuple[str, str]
_ANYWHERE = Place()

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
    "diff": ("-r", "--recursive"),
    ("git", "grep"): ("--no-index", "--untracked"),
}
# A glob of rg brings back what is hidden or ignored; those of grep leave out the rest.
_GLOBS = ("-g", "--glob", "--iglob")
# `src/*` becomes nothing hidden, and shows no more of a folder than a search of it does.
_ALL_OF_A_FOLDER = re.compile(r"([^*?\[{\\]+)/(?:\*|\*\*|\*\*/\*)")
_BY_ENDING = re.compile(r"\*\.[A-Za-z0-9]+")
# Secret by the hidden folder that they lie in, such as `.git` and `.aws`.
_SECRET_IF_HIDDEN = frozenset(
    re.findall(
        r"\S+",
        """
        auth.json auxv config.json environ gradle.properties hosts hosts.yml mem settings.xml token
        """,
    )
)


def may_show_secrets(command: Command, place: Place = _ANYWHERE) -> bool:
    """Return True if what the command prints may hold secrets, as far as its words say."""
    program, arguments = command.program, command.arguments
    if any(place.shows_secrets(one[1:]) for one in command.redirects if one[0] == "<"):
        return True
    if program in _NO_FILES:
        return False
    key, row, arguments = _entry(program, arguments)
    if program == "git" and (not arguments or key[-1] not in _GIT_READS):
        return False
    if place.is_secret:
        return True
    given = options(row.options, row.one_dash).sort_out(arguments) if row else None
    words = tuple(_every_word(arguments) if given is None else _files(key, given))
    if program in _LISTS and all(_is_listed(word, place) for word in words):
        return False
    expands = program not in _LISTS and (command.patterns or program == "git")
    if any(_shows_secrets(word, place, expands=expands) for word in words):
        return True
    if given is None:
        return False
    globs = [one for one in given.values(*_GLOBS) if not one.startswith("!")]
    if any(_shows_secrets(one, place, expands=True) for one in globs):
        return True
    return any(map(_includes_secrets, given.values("--include"))) or _sweeps(key, given, place)


def name_found(arguments: tuple[str, ...], place: Place = _ANYWHERE) -> str:
    """Return a name with stars for all that ``find`` may find: narrow for a plain expression."""
    if any(map(place.leaves, arguments)):
        return "/**"
    names = [value for option, value in pairwise(arguments) if option in ("-name", "-iname")]
    joined = {"-o", "-or", "-not", "!", "(", ")", ","}.intersection(arguments)
    if len(names) != 1 or joined:
        return "./*"
    name = names[0].casefold()
    return "./*" if name in _SECRET_IF_HIDDEN or fnmatchcase("config", name) else f"./{names[0]}"


def _is_listed(word: str, place: Place) -> bool:
    """Return True if only names and numbers are shown of a word's files in the project."""
    reads = word.startswith("--f") or "=" in word  # the names in a file, and what is wrong there
    return not reads and place.inside(word) is not None


def _shows_secrets(word: str, place: Place, *, expands: bool) -> bool:
    if expands and (whole := _ALL_OF_A_FOLDER.fullmatch(word)) and not place.sweeps(whole[1]):
        word = whole[1]
    return place.shows_secrets(word, expands=expands)


def _includes_secrets(pattern: str) -> bool:
    return shows_secrets(pattern, expands=not _BY_ENDING.fullmatch(pattern))


def _entry(
    program: str, arguments: tuple[str, ...]
) -> tuple[tuple[str, ...], ReadOnlyCommand | None, tuple[str, ...]]:
    rows = read_only_table().by_words
    if program != "git":
        return (program,), rows.get((program,)), arguments
    if arguments[:1] in (("--no-pager",), ("-P",)):
        arguments = arguments[1:]
    if arguments[:1] in (("stash",), ("reflog",)):
        return ("git", arguments[0]), rows.get(("git", *arguments[:2])), arguments[2:]
    return ("git", *arguments[:1]), rows.get(("git", *arguments[:1])), arguments[1:]


def _shorten_key(key: tuple[str, ...]) -> _Key:
    program, *verb = key
    return (program, verb[0]) if verb else program


def _operands(key: tuple[str, ...], given: Given) -> tuple[str, ...]:
    """The operands that are files."""
    operands = (*given.operands, *(given.rest or ()))
    instead = _SCRIPTS.get(_shorten_key(key))
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


def _sweeps(key: tuple[str, ...], given: Given, place: Place) -> bool:
    """Return True if it reads all of a folder where secrets may be, outside of the project."""
    folders = _operands(key, given) or (".",)
    if key == ("git", "diff"):
        # Of two paths outside of a repository it compares all that is in them.
        return len(folders) > 1 and any(
            place.leaves(one) or (place.inside(one) == "." and not (given.rest and given.operands))
            for one in folders
        )
    sweeping = any(
        name in _SWEEPS.get(_shorten_key(key), ())
        and (name != "-d" or value not in ("read", "skip"))
        for name, value in given.options
    )
    if key == ("rg",) and not sweeping:
        # It passes over what is hidden or ignored, but for what a whole system or home shows.
        return any(map(place.is_wide, folders))
    if key == ("diff",) and not sweeping:
        folders = tuple(one for one in folders if "." not in one.rpartition("/")[2].strip("."))
    elif not sweeping:
        return False
    included = given.values("--include")
    safe = included and not any(shows_secrets(one, expands=True) for one in included)
    # What git reads after a colon may be the root.
    return any(
        place.leaves(one) or (not safe and (one[:1] == ":" or place.sweeps(one))) for one in folders
    )
