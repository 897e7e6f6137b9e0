"""The part of a call by which a person knows it at a glance: what a lock screen shows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from sayso.calls import ToolCall
from sayso.cards.gist import NAMED, SEPARATOR
from sayso.dangers.danger import Danger
from sayso.dangers.found import dangers_of
from sayso.dangers.places import Root
from sayso.known.tools import roles_in
from sayso.rules.roles import Roles
from sayso.text.agents import shown_as_agents
from sayso.text.blanks import folded_json, unmarked
from sayso.text.visible import shortened, visible
from sayso.values.edits import PATHS
from sayso.wording.wording import Wording

LONGEST = 160

AT_ONCE = 40
"""What is dangerous stands within so many characters: they are seen wherever any of it is."""


_MOST_PIECES = 60
_MOST_READ = 8_000
_MOST_WORDS = 40
_MOST_ARGUMENTS = 30
_MOST_DANGERS = 3
_MOST_OTHERS = 3
_LONGEST_NAME = 16
_SHORT_NAME = 10
_LONGEST_VALUE = 60
_LONGEST_PATH = 48
_CUT = "… "

# Quoted strings in one piece, so that what only looks like an end of a statement is none.
_APART = re.compile(
    r"'[^'\n]{0,400}'|\"(?:[^\"\\\n]|\\.){0,400}\"|(?P<end>&&|\|\||;|\n|\b(?:do|then|else)\b)"
)
_PREPARES = re.compile(r"(?:cd|pushd|export|set|source|\.)\s|[A-Za-z_][A-Za-z0-9_]*=\S*\s*\Z")
_WHOM = re.compile(
    r"(?:to|cc|bcc|recipients?|emails?|users?|customer|account|iban|channel|destination|payee)"
    r"(?:_id)?\Z",
    re.IGNORECASE,
)
_AMOUNT = re.compile(r"(?:^|_)(?:amount|price|total|sum|currency)(?:_|\Z)|_cents\Z", re.IGNORECASE)
_WHAT = re.compile(r"(?:subject|title|name|id|url|query|sql|command|method)\Z", re.IGNORECASE)
_COMMANDS = frozenset({"command", "cmd", "sql", "query", "patch", "script"})
_BLANKS = re.compile(r"\s+")

Arguments = Mapping[str, Any]


def what_matters(
    call: ToolCall, shown: Arguments, wording: Wording | None, root: Root | None = None
) -> str:
    """It, on one line: where there are dangers what is dangerous, else what the call is about.

    ``shown`` are its arguments as people may see them. Takes time in proportion to the call,
    and reads no more than the beginning of a long one.
    """
    plain = replace(call, arguments=dict(list(shown.items())[:_MOST_ARGUMENTS]))
    parts = _Parts(plain, roles_in(plain, None), root or Root())
    path = [*parts.path()]
    said = [*path, *_said(wording, plain, with_title=not path), *parts.dangerous()]
    most = 0 if path else _MOST_OTHERS - len(said)
    found = dict.fromkeys(filter(None, (*said, *parts.others(max(most, 0)))))
    return shortened(SEPARATOR.join(found), LONGEST)


def _said(wording: Wording | None, call: ToolCall, *, with_title: bool) -> Iterator[str]:
    """What its maker says that is of this call alone."""
    if wording is None:
        return
    values = [str(one) for one in call.arguments.values() if isinstance(one, str | int)]
    if with_title and not wording.facts and any(one and one in wording.title for one in values):
        yield _one_line(wording.title)
    for _, fact in wording.facts:
        yield _one_line(fact)


class _Parts:
    """The parts of one call, each by itself, the weightiest first."""

    def __init__(self, call: ToolCall, roles: Roles, root: Root) -> None:
        self._call = call
        self._roles = roles
        self._root = root
        self._told: set[str] = set()
        self._left = _MOST_PIECES
        always = self._dangers({})
        self._grave = [one for one in self._dangers(call.arguments) if one not in always]

    def path(self) -> Iterator[str]:
        """The file, where the call is about one: its end, which tells it from others."""
        for name in PATHS:
            value = self._call.arguments.get(name)
            if isinstance(value, str) and value.strip():
                self._told.add(name)
                path = _one_line(value)
                yield path if len(path) <= _LONGEST_PATH else f"…{path[1 - _LONGEST_PATH :]}"
                return

    def dangerous(self) -> Iterator[str]:
        """What has the gravest danger, from where that begins, and what has others."""
        seen = {one for name in self._told for one in self._dangers(self._only(name))}
        for danger in self._grave[:_MOST_DANGERS]:
            if danger in seen:
                continue
            for name, value in self._call.arguments.items():
                if name not in self._told and self._has(danger, {name: value}):
                    piece = self._piece(name, value, danger)
                    seen |= {*self._dangers({name: piece})}
                    gap = " " if self._is_command(name) else ", "
                    yield self._named(name, _written(piece, gap))
                    break

    def others(self, most: int) -> Iterator[str]:
        """What it does, to whom and how much, and then what comes first; talk is none of it."""
        names = [one for one in self._call.arguments if one not in self._told | {*self._roles.talk}]
        for name in sorted(names, key=self._weight)[:most]:
            value = self._call.arguments[name]
            if isinstance(value, str):
                text = self._beginning(value) if self._is_command(name) else value
                yield self._named(name, _first_line(text))
            else:
                yield self._named(name, shortened(_written(value), _LONGEST_VALUE))

    def _only(self, name: str) -> Arguments:
        return {name: self._call.arguments[name]}

    def _weight(self, name: str) -> int:
        kinds = (_WHOM, _AMOUNT, _WHAT)
        number = next((number for number, kind in enumerate(kinds, 1) if kind.search(name)), 4)
        return 0 if self._is_command(name) else number

    def _named(self, name: str, text: str) -> str:
        self._told.add(name)
        is_alone = self._is_command(name) or len(self._call.arguments) == 1
        return (
            text
            if is_alone or not text
            else f"{shortened(_one_line(name), _LONGEST_NAME)}{NAMED}{text}"
        )

    def _is_command(self, name: str) -> bool:
        return name == self._roles.command or name in _COMMANDS

    def _beginning(self, line: str) -> str:
        """A line without what only prepares it."""
        for start, _, piece in _pieces(line[:_MOST_READ]):
            if piece.strip() and not _PREPARES.match(piece.strip()):
                return line[start:]
        return line

    def _piece(self, name: str, value: Any, danger: Danger) -> Any:
        """The part of a value that is dangerous, as small as it can be said to be."""
        if isinstance(value, str):
            return self._from_danger(name, value[:_MOST_READ], danger)
        if isinstance(value, Mapping) and len(_written(value)) > _LONGEST_VALUE:
            for key, one in list(value.items())[:_MOST_ARGUMENTS]:
                if self._has(danger, {name: {key: one}}):
                    return {key: one}
        if isinstance(value, list | tuple) and len(_written(value)) > _LONGEST_VALUE:
            return next(
                (one for one in value[:_MOST_ARGUMENTS] if self._has(danger, {name: [one]})), value
            )
        return value

    def _from_danger(self, name: str, text: str, danger: Danger) -> str:
        """The text from the statement on that is dangerous, or from within a long one."""
        for start, _, piece in _pieces(text):
            statement = piece.strip()
            if not statement or not self._has(danger, {name: piece}):
                continue
            begun = start + piece.index(statement)
            skipped = self._skipped(name, statement, danger)
            shown = _first_line(text[begun + skipped :])
            if not skipped:
                return f"{_CUT if begun else ''}{shown}"
            program = statement.split(None, 1)[0]
            return f"{program} {_CUT}{shown}" if len(program) <= _SHORT_NAME else f"{_CUT}{shown}"
        return _first_line(text)

    def _skipped(self, name: str, statement: str, danger: Danger) -> int:
        """How much of the beginning of a statement is left out, so that its danger is seen."""
        begun = 0
        if self._has(danger, {name: statement[:AT_ONCE]}):
            return begun
        for match in list(_BLANKS.finditer(statement[:LONGEST]))[:_MOST_WORDS]:
            if not self._has(danger, {name: statement[match.end() :]}):
                break
            begun = match.end()
            if self._has(danger, {name: statement[begun : begun + AT_ONCE]}):
                break
        return begun

    def _has(self, danger: Danger, arguments: Arguments) -> bool:
        self._left -= 1
        return self._left > 0 and danger in self._dangers(arguments)

    def _dangers(self, arguments: Arguments) -> tuple[Danger, ...]:
        call = replace(self._call, arguments=arguments)
        found = dangers_of(call, self._root, self._roles)
        return tuple(one for one in found if one is not Danger.UNREAD)


def _pieces(text: str) -> Iterator[tuple[int, int, str]]:
    """The statements of a text, each with where it begins and ends."""
    start = 0
    for match in _APART.finditer(text):
        if match["end"] is not None:
            yield start, match.start(), text[start : match.start()]
            start = match.end()
    yield start, len(text), text[start:]


def _first_line(text: str) -> str:
    """The first line of a text that says anything, on which nothing is out of sight."""
    line = next((one for one in text.split("\n", _MOST_WORDS) if one.strip()), "")
    return _one_line(line.strip()[:LONGEST].partition("\n")[0])


def _written(value: Any, gap: str = ", ") -> str:
    if isinstance(value, str):
        return _one_line(value[:LONGEST])
    if isinstance(value, list | tuple) and all(isinstance(one, str) for one in value[:8]):
        return _one_line(gap.join(value[:8])[:LONGEST])
    written = json.dumps(value, ensure_ascii=False, default=str)[:LONGEST]
    return folded_json(visible(unmarked(written), one_line=True))


def _one_line(text: str) -> str:
    return shown_as_agents(text, one_line=True)
