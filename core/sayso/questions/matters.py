"""The part of a call by which a person knows it at a glance: what a lock screen shows."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from gettext import NullTranslations
from typing import Any

from sayso.calls import ToolCall
from sayso.cards.gist import AGENT, FIRST, NAMED, SEPARATOR, tool_name
from sayso.dangers.danger import Danger, danger_texts
from sayso.dangers.found import LONGEST as MOST_READ
from sayso.dangers.found import dangers_in, text_dangers
from sayso.dangers.places import Root
from sayso.known.tools import roles_in
from sayso.rules.declarations import Roles
from sayso.text.agents import shown_as_agents
from sayso.text.visible import folded_json, shortened, unmarked, visible
from sayso.values.edits import PATHS
from sayso.wording.wording import Wording

LONGEST = 160

AT_ONCE = 40
"""What is dangerous stands within so many characters: they are seen wherever any of it is."""

_MOST_LOOKS = 100
_MOST_PIECES = 24
_MOST_WORDS = 40
_MOST_ARGUMENTS = 30
_MOST_DANGERS = 3
_MOST_OTHERS = 3
_LONGEST_NAME = 16
_SHORT_NAME = 10
_FEW = 8
_LONGEST_VALUE = 60
_LONGEST_PATH, _SHORT_PATH = 48, 12
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
    call: ToolCall,
    shown: Arguments,
    wording: Wording | None,
    translations: NullTranslations,
    root: Root,
    dangers: tuple[Danger, ...],
) -> str:
    """It, on one line: where there are dangers what is dangerous, else what the call is about.

    ``shown`` are its arguments as people may see them, ``dangers`` those of the call where it
    works, the gravest first. The gravest is there: as the part
    that has it, or by its name where that part is not found. Takes time in proportion to the
    call, and looks at no more than the beginning of a long one.
    """
    plain = replace(call, arguments=dict(list(shown.items())[:_MOST_ARGUMENTS]))
    parts = _Parts(plain, roles_in(plain, None), root, dangers)
    path = [*parts.path()]
    grave = [*parts.dangerous()]
    named = danger_texts(translations, parts.unseen)
    said = [*path, *named, *grave, *_said(wording, plain, with_title=not path)]
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

    def __init__(self, call: ToolCall, roles: Roles, root: Root, dangers: Sequence[Danger]) -> None:
        self._call = call
        self._roles = roles
        self._root = root
        self._told: set[str] = set()
        self._seen: set[Danger] = set()
        self._left = _MOST_LOOKS
        # A short call is its own part, and a part of one line its own beginning.
        self._looked: dict[tuple[tuple[str, str], ...], set[Danger]] = {}
        if (key := _looked_at(call.arguments)) is not None:
            self._looked[key] = {*dangers} - {Danger.UNREAD}
        self._in_sight = FIRST - AGENT - len(tool_name(call.name)) - len(" · : ")
        always = self._in({})
        self._grave = [one for one in dangers if one not in always]

    @property
    def unseen(self) -> tuple[Danger, ...]:
        """The gravest danger, where no part that was told of has it."""
        return tuple(one for one in self._grave[:1] if one not in self._seen)

    def path(self) -> Iterator[str]:
        """The file, where the call is about one: its end, which tells it from others."""
        for name in PATHS:
            value = self._call.arguments.get(name)
            if isinstance(value, str) and value.strip():
                self._told.add(name)
                self._seen |= self._in({name: value})
                path, most = _one_line(value), self._room_for_path()
                yield path if len(path) <= most else f"…{path[1 - most :]}"
                return

    def _room_for_path(self) -> int:
        """So much of it that what else is dangerous is in sight behind it."""
        if self._seen.issuperset(self._grave[:1]):
            return _LONGEST_PATH
        left = self._in_sight - AT_ONCE - len(SEPARATOR)
        return min(max(left, _SHORT_PATH), _LONGEST_PATH)

    def dangerous(self) -> Iterator[str]:
        """What has the gravest danger, from where that begins, and what has others."""
        for danger in self._grave[:_MOST_DANGERS]:
            if danger in self._seen:
                continue
            for name, value in self._call.arguments.items():
                if name not in self._told and self._has(danger, {name: value}):
                    text, seen = self._part(name, value, danger)
                    self._seen |= seen
                    yield self._named(name, text)
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
        for start, _, piece in _pieces(line[:MOST_READ]):
            if piece.strip() and not _PREPARES.match(piece.strip()):
                return line[start:]
        return line

    def _part(self, name: str, value: Any, danger: Danger) -> tuple[str, set[Danger]]:
        """The dangerous part of a value, as small as it can be said to be, and what it shows."""
        if isinstance(value, str):
            text = value[:MOST_READ]
            # A line of a shell that goes on below is one line.
            text = text.replace("\\\n", "  ") if self._is_command(name) else text
            return self._from_danger(name, text, danger)
        piece = self._narrowed(name, value, danger)
        text = _written(piece, " " if self._is_command(name) else ", ")
        is_whole = len(text) <= 2 * AT_ONCE and len(_listed(piece)) <= _FEW
        return text, self._in({name: piece}) if is_whole else set()

    def _narrowed(self, name: str, value: Any, danger: Danger) -> Any:
        """The part of a value with parts that is dangerous by itself."""
        while isinstance(value, Mapping | list | tuple) and len(_written(value)) > _LONGEST_VALUE:
            some: list[Any] = (
                [{key: one} for key, one in list(value.items())[:_MOST_ARGUMENTS]]
                if isinstance(value, Mapping)
                else [[one] for one in value[:_MOST_ARGUMENTS]]
            )
            part = next((one for one in some if self._has(danger, {name: one})), None)
            if part is None:
                return value
            inner = next(iter(part.values())) if isinstance(part, Mapping) else part[0]
            if not self._has(danger, {name: inner}):
                return part
            value = inner
        return value

    def _from_danger(self, name: str, text: str, danger: Danger) -> tuple[str, set[Danger]]:
        """The text from the statement on that is dangerous, or from within a long one."""
        start, piece = self._statement(name, text, danger)
        statement = piece.strip()
        begun = start + piece.index(statement)
        skipped = self._skipped(name, statement, danger)
        shown = _first_line(text[begun + skipped :])
        program = f"{statement.split(None, 1)[0]} " if skipped else ""
        if len(program) > _SHORT_NAME + 1:
            program = ""
        # What is told need not have the danger: in quotes that are open it is found where they end.
        seen = self._in({name: f"{program}{shown}"[: 2 * AT_ONCE]})
        return f"{program}{_CUT if begun or skipped else ''}{shown}", seen

    def _statement(self, name: str, text: str, danger: Danger) -> tuple[int, str]:
        """Where the statement with the danger begins; of several that with the most dangers."""
        pieces = [one for one in _pieces(text) if one[2].strip()]
        looked = [
            (self._in({name: piece}), start, piece) for start, _, piece in pieces[:_MOST_PIECES]
        ]
        best = max((one for one in looked if danger in one[0]), key=_how_many, default=None)
        if len(pieces) > len(looked) or best is None:
            begin = 0 if best is None else pieces[len(looked)][0]
            rest = [one for one in pieces if one[0] >= begin]
            sought = danger
            if best is not None:
                more = self._in({name: text[begin:]}) - best[0]
                sought = next((one for one in self._grave if one in more), danger)
            ends = [end for _, end, _ in rest]
            at = _first(ends, lambda end: self._has(sought, {name: text[begin:end]}))
            if at is not None:
                start, _, piece = rest[at]
                other = (self._in({name: piece}), start, piece)
                if best is None or (danger in other[0] and _how_many(other) > _how_many(best)):
                    best = other
        return (0, text) if best is None else best[1:]

    def _skipped(self, name: str, statement: str, danger: Danger) -> int:
        """How much of the beginning of a statement is left out, so that its danger is seen."""
        if self._has(danger, {name: statement[:AT_ONCE]}):
            return 0
        ends = [match.start() for match in _BLANKS.finditer(statement, AT_ONCE)]
        ends.append(len(statement))
        at = _first(ends, lambda end: self._has(danger, {name: statement[:end]}))
        if at is None:
            return 0
        # As much before its end as is seen at once, whole words of it.
        least = ends[at] - AT_ONCE
        words = (match.end() for match in _BLANKS.finditer(statement, max(least - 1, 0), ends[at]))
        begun = next(words, least)
        if self._has(danger, {name: statement[begun : begun + AT_ONCE]}):
            return begun
        return 0 if ends[at] <= self._in_sight else begun

    def _has(self, danger: Danger, arguments: Arguments) -> bool:
        return danger in self._in(arguments)

    def _in(self, arguments: Arguments) -> set[Danger]:
        """The dangers of these arguments; none where enough was looked at."""
        key = _looked_at(arguments)
        if key is not None and (known := self._looked.get(key)) is not None:
            return known
        self._left -= 1
        if self._left < 0:
            return set()
        if key is not None and len(key) == 1:
            found = text_dangers(self._call.name, *key[0], self._root, self._roles)
        else:
            call = replace(self._call, arguments=arguments)
            found = dangers_in(call, self._root, self._roles)
        found.discard(Danger.UNREAD)
        if key is not None:
            self._looked[key] = found
        return found


def _looked_at(arguments: Arguments) -> tuple[tuple[str, str], ...] | None:
    """By what a look at them is known again; None for what is more than text."""
    if all(isinstance(one, str) for one in arguments.values()):
        return tuple(arguments.items())
    return None


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()


def _how_many(found: tuple[set[Danger], int, str]) -> int:
    return len(found[0])


def _first(ends: Sequence[int], has: Callable[[int], bool]) -> int | None:
    """The number of an end up to which it is so while it is not up to the one before."""
    if not ends or not has(ends[-1]):
        return None
    low, high = -1, len(ends) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if has(ends[middle]) else (middle, high)
    return high


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
    if isinstance(value, list | tuple) and all(isinstance(one, str) for one in value[:_FEW]):
        return _one_line(gap.join(value[:_FEW])[:LONGEST])
    written = json.dumps(value, ensure_ascii=False, default=str)[:LONGEST]
    return folded_json(visible(unmarked(written), one_line=True))


def _one_line(text: str) -> str:
    return shown_as_agents(text, one_line=True)
