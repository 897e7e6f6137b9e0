"""What is dangerous in a command line, whether it is understood or not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, lru_cache
from itertools import pairwise

from sayso.dangers.danger import Danger
from sayso.dangers.places import DISK, Root, is_outside, is_production, is_run_later
from sayso.dangers.programs import Row, programs, special_dangers
from sayso.dangers.sql import sql_dangers
from sayso.dangers.steps import MOST_STEPS, Step, inner, name_of, readers, shows_secrets, steps_of
from sayso.sensitive.paths import is_secret
from sayso.shell.places import Place
from sayso.text.lookalikes import poses, poses_as_host

_DEEPEST = 3
_MOST_ARGUMENTS = 400
_MOST_LOOKED_AT = 64
_LONGEST_WORD = 300

_REACHES = frozenset(["clone", "remote", "push", "pull", "fetch", "ls-remote", "submodule"])
_BEFORE_PROGRAM = re.compile(r"-|[0-9]|[A-Za-z_][A-Za-z0-9_]*=")
_HOST = re.compile(r"(?:[^\s/@]{0,64}@)?(?P<host>[^\s/:?#@=]{1,300})(?:(?P<colon>:)|[/?#]|$)")
_IS_CODE = re.compile(r"[\s;|&(]")
_CLUSTER = re.compile(r"-[A-Za-z]{2,8}")
_RUNS_COMMANDS = frozenset(["foreach", "run", "-x", "--exec", "-c", "filter-branch"])
_DATABASES = frozenset(
    re.findall(
        r"\S+",
        """
        psql mysql mariadb sqlite3 sqlite sqlcmd bq duckdb clickhouse-client cockroach snowsql
        """,
    )
)
_CODE = re.compile(
    r"\brmtree\s*\(|\bos\.(?:remove|unlink|rmdir|removedirs)\s*\(|\.unlink\s*\("
    r"|\brm(?:dir)?Sync\s*\(|\bfs\.(?:promises\.)?(?:rm|unlink|rmdir)\b"
    r"|\bFileUtils\.rm|\bFile\.delete\b"
)
_LOADS_CODE = re.compile(r"\b(?:LD_PRELOAD|LD_LIBRARY_PATH|DYLD_INSERT_LIBRARIES|BASH_ENV)=")
_DECODES = re.compile(r"\bbase64\s+(?:-d|-D|--decode)|\bxxd\s+-r|\bopenssl\s+enc\b.{0,80}-d\b")
_CODE_HINTS = ("rmtree", "os.", "unlink", "Sync", "fs.", "File")
_LOADING_HINTS = ("LD_", "DYLD_", "BASH_ENV")
_DECODING_HINTS = ("base64", "xxd", "openssl")
_SUBSTITUTES = re.compile(r"\||\$\(|`|<\(")
_FETCHES = re.compile(r"(?:\$\(|`|<\()\s{0,40}(?:curl|wget)\b")
_RUNS = re.compile(
    r"\b(?:eval|source|sh|bash|zsh|python3?|node|perl|ruby)\b|(?:^|[\s;&])\.\s", re.MULTILINE
)
_FORK_BOMB = re.compile(r":\s?\(\)\s?\{")


@cache
def _names() -> frozenset[str]:
    """The programs that the table or the code says something of."""
    table = programs()
    groups = (table.runs_others, table.names_host, table.runs_packages, table.destination_last)
    return readers().union(table.by_name, special_dangers(), table.each_a_destination, *groups)


def line_dangers(text: str, root: Root) -> set[Danger]:
    """The dangers of a command line."""
    lines = _Lines(root)
    lines.line(text, 0)
    return lines.found


class _Lines:
    """A line and those in it, looked through as far as there is work left."""

    def __init__(self, root: Root) -> None:
        self.found: set[Danger] = set()
        self._root = root
        self._left = 2 * MOST_STEPS

    def line(self, text: str, depth: int) -> None:
        """Look through a line that stands so deep in others."""
        read = steps_of(text)
        if not read.whole:
            self.found.add(Danger.UNREAD)
        for target in read.targets[:_MOST_LOOKED_AT]:
            self.found |= _written(target, self._root)
        if not read.understood:
            self.found |= _of_the_whole(text)
        fetched = False
        downloads: set[str] = set()
        root = self._root
        place = Place(root.folder, root.project)
        for step in read.steps:
            fetched = fetched and step.piped
            steps = (step, *inner(step, _names()))
            reads = any(shows_secrets(one, place) for one in steps)
            for one in steps:
                if self._left == 0:
                    self.found.add(Danger.UNREAD)
                    return
                self._left -= 1
                self._step(one, root, depth, reads=reads)
                if one.piped and _runs_input(one):
                    self.found.add(Danger.NETWORK if fetched else Danger.HIDDEN_CODE)
                if downloads and _runs_one_of(one, downloads):
                    self.found.add(Danger.NETWORK)
                if one.program in programs().fetchers:
                    fetched = True
                    downloads |= _downloaded(one)
            if step.program == "cd" and step.arguments:
                place = place.enter(step.arguments[0])
                left = is_outside(step.arguments[0], root)
                root = Root(root.folder, root.project, left=left)

    def _step(self, step: Step, root: Root, depth: int, *, reads: bool) -> None:
        if len(step.arguments) > _MOST_ARGUMENTS:
            self.found.add(Danger.UNREAD)
            step = replace(step, arguments=step.arguments[:_MOST_ARGUMENTS])
        words = frozenset(step.arguments)
        rows = programs().by_name.get(step.program, ())
        self.found.update(row.danger for row in rows if _fits(row, step.arguments, words))
        if _poses(step):
            self.found.add(Danger.LOOKALIKES)
        if step.program.startswith("mkfs"):
            self.found.add(Danger.DISK)
        if (special := special_dangers().get(step.program)) is not None:
            self.found.update(special(step.arguments))
        for argument in _destinations(step):
            self.found |= _written(argument, root)
        of_words = _of_words(step.arguments)
        if reads:
            of_words = {Danger.READS_SECRETS, *of_words} - {Danger.SECRETS}
        self.found |= of_words
        runs = step.program in programs().runs_others or (
            step.program == "git" and not _RUNS_COMMANDS.isdisjoint(words)
        )
        if not runs and step.program not in _DATABASES:
            return
        for argument in step.arguments[:_MOST_LOOKED_AT]:
            if _IS_CODE.search(argument):
                self.found |= _of_the_whole(argument)
                if runs and depth < _DEEPEST:
                    self.line(argument, depth + 1)


def _poses(step: Step) -> bool:
    """Return True if its program, one that it runs, or a host only seems to be ASCII."""
    runs = step.program in programs().runs_others or step.program in programs().runs_packages
    return bool(
        poses(step.program) or (runs and poses(_first_word(step))) or any(_posing_hosts(step))
    )


def _first_word(step: Step) -> str:
    words = step.arguments[:_MOST_LOOKED_AT]
    return next((one for one in words if not _BEFORE_PROGRAM.match(one)), "")


def _posing_hosts(step: Step) -> Iterator[str]:
    fetches, names = step.program in programs().fetchers, step.program in programs().names_host
    if not names and step.program not in programs().names_host_before_colon:
        return
    if step.program == "git" and _REACHES.isdisjoint(step.arguments):
        return
    files = programs().destination_options.get(step.program, ())
    for before, word in pairwise(("", *step.arguments[:_MOST_LOOKED_AT])):
        match = None if word.isascii() or before in files else _HOST.match(word)
        if match and ("." in match["host"] if fetches else names or match["colon"]):
            yield poses_as_host(match["host"])


def _of_the_whole(text: str) -> set[Danger]:
    """What does not depend on where in a line it stands."""
    found = set(sql_dangers(text))
    if any(hint in text for hint in _CODE_HINTS) and _CODE.search(text):
        found.add(Danger.DELETES_FILES)
    if any(hint in text for hint in _LOADING_HINTS) and _LOADS_CODE.search(text):
        found.add(Danger.HIDDEN_CODE)
    decodes = any(hint in text for hint in _DECODING_HINTS) and _DECODES.search(text)
    if decodes and _SUBSTITUTES.search(text):
        found.add(Danger.HIDDEN_CODE)
    if "()" in text and _FORK_BOMB.search(text):
        found.add(Danger.STOPS)
    fetches = ("curl" in text or "wget" in text) and _FETCHES.search(text)
    if fetches:
        runs = _RUNS.search(text)
        if runs and runs.start() < fetches.start():
            found.add(Danger.NETWORK)
    return found


def _of_words(arguments: tuple[str, ...]) -> set[Danger]:
    found: set[Danger] = set()
    for word in arguments[:_MOST_LOOKED_AT]:
        if len(word) <= _LONGEST_WORD and " " not in word:
            found.update(_of_word(word))
    return found


# A line is looked at as a whole and in parts: its words come many times.
@lru_cache(maxsize=1_024)
def _of_word(word: str) -> tuple[Danger, ...]:
    named = is_production(word.partition("=")[2] if word.startswith("-") else word)
    production = (Danger.PRODUCTION,) if named else ()
    return (*production, Danger.SECRETS) if is_secret(word) else production


def _fits(row: Row, arguments: tuple[str, ...], words: frozenset[str]) -> bool:
    if not words.issuperset(row.words):
        return False
    rest = iter(arguments)
    if not all(any(word == said for said in rest) for word in row.words):
        return False
    return not row.options or any(
        (_has_one if len(word) <= _LONGEST_WORD else _looked_at)(word, row.options)
        for word in words
    )


def _looked_at(word: str, options: tuple[str, ...]) -> bool:
    return any(_has_option(word, option) for option in options)


# A long word is not kept.
_has_one = lru_cache(maxsize=4_096)(_looked_at)


def _has_option(argument: str, option: str) -> bool:
    if option == "-" or option.startswith("/"):
        return argument == option
    if not option.startswith("-"):
        return option in argument
    if argument == option or argument.startswith(f"{option}="):
        return True
    is_letter = len(option) == 2
    return is_letter and option[1] in argument and _CLUSTER.fullmatch(argument) is not None


def _written(path: str, root: Root) -> set[Danger]:
    if DISK.match(path):
        return {Danger.DISK}
    found = {Danger.OUTSIDE} if is_outside(path, root) else set()
    if is_run_later(path):
        found.add(Danger.RUNS_LATER)
    if is_secret(path):
        found.add(Danger.SECRETS)
    return found


def _destinations(step: Step) -> Iterator[str]:
    plain = [one for one in step.arguments[:_MOST_LOOKED_AT] if not one.startswith("-")]
    if step.program in programs().each_a_destination:
        yield from plain
    elif step.program in programs().destination_last and plain:
        yield plain[-1]
    elif step.program in ("sed", "perl") and any(
        one.startswith(("-i", "--in-place", "-pi")) for one in step.arguments
    ):
        yield from plain[1:]
    options = programs().destination_options.get(step.program, ())
    for number, word in enumerate(step.arguments[:_MOST_LOOKED_AT]):
        if word in options and number + 1 < len(step.arguments):
            yield step.arguments[number + 1]
        elif options and word.partition("=")[0] in options:
            yield word.partition("=")[2]


def _runs_input(step: Step) -> bool:
    """Return True if a shell or an interpreter runs what it reads."""
    if step.program not in programs().run_code:
        return False
    if step.program in programs().shells:
        names_file = step.arguments and not step.arguments[0].startswith(("-", "/dev/"))
        return not names_file and "-c" not in step.arguments
    return not step.arguments or step.arguments[0] == "-"


def _downloaded(step: Step) -> set[str]:
    found: set[str] = set()
    for number, word in enumerate(step.arguments[:_MOST_LOOKED_AT]):
        if word in ("-o", "-O", "--output", "--output-document") and step.arguments[number + 1 :]:
            found.add(name_of(step.arguments[number + 1]))
        elif word in ("-O", "-LO", "-OL", "-sO", "--remote-name") or "://" in word:
            found.add(name_of(word.partition("?")[0]))
    return found - {"", "-", "null"}


def _runs_one_of(step: Step, names: set[str]) -> bool:
    if step.program in names:
        return True
    runs = step.program in programs().run_code or step.program in (".", "source")
    return runs and any(name_of(one) in names for one in step.arguments[:8])
