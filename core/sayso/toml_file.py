"""A file in TOML that people write: its values, their lines, and what is wrong with them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from sayso.errors import ConfigError
from sayso.text.agents import printable, shown
from sayso.text.secrets import redacted_text

KeyPath = tuple[str | int, ...]

MAX_BYTES = 256 * 1024
MAX_DEPTH = 50
"""Bounds of a file: no setting needs more, and reading one ends in a clear line."""

MAX_TOLD = 50
"""So many problems are told at once; whoever has more of them wrote something else."""

# A key of more parts takes the reader seconds before it can be told how deep it is.
_MAX_PARTS = 500

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY_PART = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+)\s*""")
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}' + r"|'''.*?'{3,5}" + r'|"(?:[^"\\\n]|\\.)*"' + r"|'[^'\n]*'",
    re.DOTALL,
)
_SCALAR = re.compile(r"[^,\]}\n#]+")

# What tomllib says of a string that the end of its line cuts off.
_OPEN_STRING = "Illegal character '\\n'"

_Model = TypeVar("_Model", bound=BaseModel)


class SettingsError(ConfigError):
    """The settings are wrong: one line for each problem, which names the key and the fix."""

    def __init__(self, problems: Iterable[str]) -> None:
        # A secret that was pasted in a wrong place must not be found in a log.
        told = tuple(redacted_text(problem) for problem in problems)
        more = (f"and {len(told) - MAX_TOLD} more",) if len(told) > MAX_TOLD else ()
        self.problems = told[:MAX_TOLD] + more
        super().__init__("\n".join(self.problems))


@dataclass(slots=True)
class TomlFile:
    """A file as it was written. Problems are collected while it is read."""

    name: str
    data: dict[str, Any]
    lines: Mapping[KeyPath, int]
    problems: list[tuple[str, str]] = field(default_factory=list, kw_only=True)
    refused: set[KeyPath] = field(default_factory=set, kw_only=True)

    def read_section(self, model: type[_Model], *path: str | int) -> _Model | None:
        """Read the section at a path, None when it is wrong; a missing one has its defaults."""
        try:
            return model.model_validate(self.get(path, {}))
        except ValidationError as error:
            for detail in error.errors(include_url=False)[:MAX_TOLD]:
                self._explain(model, path, detail)
            return None

    def get(self, path: KeyPath, default: Any = None) -> Any:
        """Return the value at a path, ``default`` where nothing was written."""
        value: Any = self.data
        for part in path:
            try:
                value = value[part]
            except (KeyError, IndexError, TypeError):
                return default
        return value

    def add_problem(self, path: KeyPath, text: str) -> None:
        """Note that what stands at a path is wrong; ``text`` goes on after its name.

        Nothing more is said of a value that was refused altogether.
        """
        if path in self.refused:
            return
        self.problems.append((str(path[0]), f"{self.locate(path)} {text}"))

    def locate(self, path: KeyPath) -> str:
        """Name the file, the line and the key of a path."""
        key = printable(format_key(path))
        line = self.line(path)
        return f"{self.name} line {line}: {key}" if line else f"{self.name}: {key}"

    def line(self, path: KeyPath) -> int | None:
        """Return the line of a key, or of the nearest thing that it stands in."""
        known = (path[:length] for length in range(len(path), 0, -1))
        return next((self.lines[part] for part in known if part in self.lines), None)

    def check(self, *sections: str) -> None:
        """Finish reading these sections; all of them where none is named.

        Raises:
            SettingsError: there were problems in them.
        """
        problems = [text for section, text in self.problems if not sections or section in sections]
        if problems:
            raise SettingsError(dict.fromkeys(problems))

    def _explain(self, model: type[BaseModel], base: KeyPath, detail: ErrorDetails) -> None:
        path = self._keep_existing((*base, *detail["loc"]))
        kind, context, given = detail["type"], detail.get("ctx", {}), shown(detail["input"])
        if kind == "extra_forbidden":
            text = explain_unknown_key(str(path[-1]), model.model_fields)
        elif kind == "missing":
            path = self._keep_existing((*base, *detail["loc"][:-1]))
            text = f"has no {detail['loc'][-1]!r}; add one"
        elif kind == "tuple_type" and isinstance(detail["input"], dict):
            text = f"is one table; write [[{format_key(path)}]] over each"
        elif kind in _TABLE_TYPES:
            text = f"{_explain_table(path, detail['input'])}, not {given}"
        elif kind in _SENTENCES:
            text = f"{_SENTENCES[kind].format_map(context)}, not {given}"
        elif kind == "value_error":
            text = f"{given} {context['error']}"
        else:
            text = f"is wrong: {detail['msg']}; it is {given}"
        self.add_problem(path, text)

    def _keep_existing(self, path: KeyPath) -> KeyPath:
        """Return as much of a path as was written: validation may put a lone value in a list."""
        value: Any = self.data
        for depth, part in enumerate(path):
            if isinstance(value, str):
                return path[:depth]
            try:
                value = value[part]
            except (KeyError, IndexError, TypeError):
                return path[:depth]
        return path


_TABLE_TYPES = frozenset({"model_type", "dict_type", "mapping_type"})
_SENTENCES = {
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "int_type": "must be a whole number such as 10",
    "int_parsing": "must be a whole number such as 10",
    "int_from_float": "must be a whole number such as 10",
    "string_type": 'must be a string in "quotes"',
    "tuple_type": 'must be a list such as ["…"]',
    "greater_than_equal": "must be at least {ge}",
    "greater_than": "must be more than {gt}",
    "less_than_equal": "must be at most {le}",
    "less_than": "must be less than {lt}",
    "literal_error": "must be {expected}",
}


def format_key(path: KeyPath) -> str:
    """Write a key in words, its lists counted as people count, from 1: ``policy 1.deny 2.tool``."""
    parts = (f" {part + 1}" if isinstance(part, int) else f".{part}" for part in path)
    return "".join(parts).lstrip(". ")


def _explain_table(path: KeyPath, written: object) -> str:
    """Return a table as it is written in the place of something else."""
    if isinstance(path[-1], int):
        return f"must be a table: write [[{format_key(path[:-1])}]], and its settings below"
    once = ", once" if isinstance(written, list) else ""
    return f"must be one table: write [{format_key(path)}]{once}, and its settings below"


def explain_unknown_key(key: str, known: Iterable[str], otherwise: str = "") -> str:
    """Explain that a key is no setting: name the nearest one, or all there are.

    ``otherwise`` goes on where none is near.
    """
    names = list(known)
    import difflib  # only for what is mistyped

    if near := difflib.get_close_matches(key, names, n=1, cutoff=0.6):
        return f"is not a setting; did you mean {near[0]}?"
    return f"is not a setting; settings here are {', '.join(names)}{otherwise}"


def read_text(name: str, *, fix: str = "") -> str:
    """Read a file; ``fix`` is what to do where there is none.

    Raises:
        SettingsError: it cannot be read.
    """
    try:
        with Path(name).open("rb") as file:
            # One byte more than allowed tells that there are more; some files have no end.
            return file.read(MAX_BYTES + 1).decode("utf-8-sig")
    except FileNotFoundError:
        raise SettingsError([f"{name}: no such file{fix}"]) from None
    except (OSError, ValueError) as error:
        raise SettingsError([f"{name} cannot be read: {_explain_unreadable(error)}"]) from None


def parse_toml(text: str, name: str) -> tuple[dict[str, Any], Mapping[KeyPath, int]]:
    """Parse a text; return its values, and the lines of its keys.

    Raises:
        SettingsError: the text is not TOML.
    """
    if len(text) > MAX_BYTES:
        raise SettingsError([f"{name} is longer than {MAX_BYTES:,} bytes; it is no settings file"])
    if any(line.partition("=")[0].count(".") > _MAX_PARTS for line in text.split("\n")):
        raise SettingsError([_explain_depth(name)])
    try:
        data = tomllib.loads(text)
    except RecursionError:
        raise SettingsError([_explain_depth(name)]) from None
    except tomllib.TOMLDecodeError as error:
        said = str(error)
        hint = "; is a closing quote missing in that line?" if _OPEN_STRING in said else ""
        raise SettingsError([f"{name} is not valid TOML: {printable(said)}{hint}"]) from None
    except ValueError:
        # Python reads no number of more than 4,300 digits.
        raise SettingsError([f"{name} holds a number that is too long to be read"]) from None
    if _count_levels(data) > MAX_DEPTH:
        raise SettingsError([_explain_depth(name)])
    return data, _Scanner(text).lines


def _count_levels(data: Any) -> int:
    """Count how deep tables and lists are nested, level by level."""
    depth, level = 0, [data]
    while level and depth <= MAX_DEPTH:
        inner = (each.values() if isinstance(each, dict) else each for each in level)
        level = [one for some in inner for one in some if isinstance(one, dict | list)]
        depth += 1
    return depth


def _explain_depth(name: str) -> str:
    return f"{name} is nested more than {MAX_DEPTH} levels deep; no setting is"


def _explain_unreadable(error: Exception) -> str:
    return "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error.args[-1])


class _Scanner:
    """Walks over text that ``tomllib`` has accepted already, so it checks nothing."""

    def __init__(self, text: str) -> None:
        self.lines: dict[KeyPath, int] = {}
        self._text = text.replace("\r\n", "\n")
        self._at = 0
        self._tables: dict[KeyPath, int] = {}
        table: KeyPath = ()
        while self._skip_blank() < len(self._text):
            if self._text[self._at] == "[":
                table = self._read_header()
            else:
                self._read_pair(table)

    def _read_header(self) -> KeyPath:
        is_list = self._text.startswith("[[", self._at)
        line = self._count_line()
        self._at += 2 if is_list else 1
        path = self._place_header(self._read_key(), is_list=is_list)
        self._at += 2 if is_list else 1
        self.lines.setdefault(path, line)
        return path

    def _place_header(self, key: KeyPath, *, is_list: bool) -> KeyPath:
        """Return the path of a header; the tables of a list belong to its last item."""
        path: KeyPath = ()
        for depth, part in enumerate(key):
            path = (*path, part)
            if is_list and depth == len(key) - 1:
                self._tables[path] = self._tables.get(path, -1) + 1
            if path in self._tables:
                path = (*path, self._tables[path])
        return path

    def _read_pair(self, table: KeyPath) -> None:
        line = self._count_line()
        path = (*table, *self._read_key())
        self.lines[path] = line
        self._at += 1  # =
        self._read_value(path)

    def _read_key(self) -> KeyPath:
        parts: list[str | int] = []
        while match := _KEY_PART.match(self._text, self._at):
            self._at = match.end()
            written = match[1]
            quoted = written[0] in "\"'"
            parts.append(str(tomllib.loads(f"k={written}")["k"]) if quoted else written)
            if not self._text.startswith(".", self._at):
                break
            self._at += 1
        return tuple(parts)

    def _read_value(self, path: KeyPath) -> None:
        self._skip_blank()
        first = self._text[self._at]
        if first == "[":
            self._read_items(path)
        elif first == "{":
            self._read_inline_table(path)
        else:
            pattern = _STRING if first in "\"'" else _SCALAR
            match = pattern.match(self._text, self._at)
            self._at = match.end() if match else len(self._text)

    def _read_items(self, path: KeyPath) -> None:
        self._at += 1
        number = 0
        while self._skip_blank() < len(self._text) and self._text[self._at] != "]":
            self.lines[(*path, number)] = self._count_line()
            self._read_value((*path, number))
            number += 1
            self._skip_comma()
        self._at += 1

    def _read_inline_table(self, path: KeyPath) -> None:
        self._at += 1
        while self._skip_blank() < len(self._text) and self._text[self._at] != "}":
            self._read_pair(path)
            self._skip_comma()
        self._at += 1

    def _skip_comma(self) -> None:
        self._skip_blank()
        if self._text.startswith(",", self._at):
            self._at += 1

    def _skip_blank(self) -> int:
        match = _BLANK.match(self._text, self._at)
        if match:
            self._at = match.end()
        return self._at

    def _count_line(self) -> int:
        return self._text.count("\n", 0, self._at) + 1
