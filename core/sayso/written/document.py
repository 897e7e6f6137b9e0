"""A file in TOML as it was written: its values, their lines, and what is wrong with them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from sayso.errors import ConfigError
from sayso.text.printable import printable, shown
from sayso.written.lines import KeyPath, key_lines

MOST_BYTES = 256 * 1024
MOST_DEPTH = 50
"""Bounds of a file: no setting needs more, and reading one ends in a clear line."""

MOST_TOLD = 50
"""So many problems are told at once; whoever has more of them wrote something else."""

# A key of more parts takes the reader seconds before it can be told how deep it is.
_MOST_PARTS = 500

# What tomllib says of a string that the end of its line cuts off.
_OPEN_STRING = "Illegal character '\\n'"

_Model = TypeVar("_Model", bound=BaseModel)


class SettingsError(ConfigError):
    """The settings are wrong: one line for each problem, which names the key and the fix."""

    def __init__(self, problems: Iterable[str]) -> None:
        told = tuple(problems)
        more = (f"and {len(told) - MOST_TOLD} more",) if len(told) > MOST_TOLD else ()
        self.problems = told[:MOST_TOLD] + more
        super().__init__("\n".join(self.problems))


@dataclass(slots=True)
class Document:
    """A file as it was written. Problems are collected while it is read."""

    name: str
    data: dict[str, Any]
    lines: Mapping[KeyPath, int]
    problems: list[tuple[str, str]] = field(default_factory=list, kw_only=True)
    refused: set[KeyPath] = field(default_factory=set, kw_only=True)

    def section(self, model: type[_Model], *path: str | int) -> _Model | None:
        """The section at a path, None when it is wrong; a missing one has its defaults."""
        try:
            return model.model_validate(self.written(path, {}))
        except ValidationError as error:
            for detail in error.errors(include_url=False)[:MOST_TOLD]:
                self._explain(model, path, detail)
            return None

    def written(self, path: KeyPath, default: Any = None) -> Any:
        """What was written at a path, ``default`` where nothing was."""
        value: Any = self.data
        for part in path:
            try:
                value = value[part]
            except (KeyError, IndexError, TypeError):
                return default
        return value

    def problem(self, path: KeyPath, text: str) -> None:
        """Note that what stands at a path is wrong; ``text`` goes on after its name.

        Nothing more is said of a value that was refused altogether.
        """
        if path in self.refused:
            return
        self.problems.append((str(path[0]), f"{self.place(path)} {text}"))

    def place(self, path: KeyPath) -> str:
        """Where a key stands: file, line and key."""
        key = printable(key_name(path))
        line = self.line(path)
        return f"{self.name} line {line}: {key}" if line else f"{self.name}: {key}"

    def line(self, path: KeyPath) -> int | None:
        """The line of a key, or of the nearest thing that it stands in."""
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
        path = self._existing((*base, *detail["loc"]))
        kind, context = detail["type"], detail.get("ctx", {})
        if kind == "extra_forbidden":
            self.problem(path, unknown(str(path[-1]), model.model_fields))
        elif kind == "missing":
            table = self._existing((*base, *detail["loc"][:-1]))
            self.problem(table, f"has no {detail['loc'][-1]!r}; add one")
        elif kind == "tuple_type" and isinstance(detail["input"], dict):
            self.problem(path, f"is one table; write [[{key_name(path)}]] over each")
        elif kind in _TABLE_TYPES:
            self.problem(path, f"{_as_table(path, detail['input'])}, not {shown(detail['input'])}")
        elif kind in _SENTENCES:
            self.problem(path, f"{_SENTENCES[kind]}, not {shown(detail['input'])}")
        elif kind in _BOUNDS:
            bound = _BOUNDS[kind].format_map(context)
            self.problem(path, f"{bound}, not {shown(detail['input'])}")
        elif kind == "literal_error":
            self.problem(path, f"must be {context['expected']}, not {shown(detail['input'])}")
        elif kind == "value_error":
            self.problem(path, f"{shown(detail['input'])} {context['error']}")
        else:
            self.problem(path, f"is wrong: {detail['msg']}; it is {shown(detail['input'])}")

    def _existing(self, path: KeyPath) -> KeyPath:
        """As much of a path as was written: validation may have put a lone value in a list."""
        value: Any = self.data
        for depth, part in enumerate(path):
            if isinstance(value, str):
                return path[:depth]
            try:
                value = value[part]
            except (KeyError, IndexError, TypeError):
                return path[:depth]
        return path


_SENTENCES = {
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "int_type": "must be a whole number such as 10",
    "int_parsing": "must be a whole number such as 10",
    "int_from_float": "must be a whole number such as 10",
    "string_type": 'must be a string in "quotes"',
    "tuple_type": 'must be a list such as ["…"]',
}
_TABLE_TYPES = frozenset({"model_type", "dict_type", "mapping_type"})
_BOUNDS = {
    "greater_than_equal": "must be at least {ge}",
    "greater_than": "must be more than {gt}",
    "less_than_equal": "must be at most {le}",
    "less_than": "must be less than {lt}",
}


def key_name(path: KeyPath) -> str:
    """A key in words, its lists counted as people count, from 1: ``policy 1.deny 2.tool``."""
    parts = (f" {part + 1}" if isinstance(part, int) else f".{part}" for part in path)
    return "".join(parts).lstrip(". ")


def _as_table(path: KeyPath, written: object) -> str:
    """Return a table as it is written in the place of something else."""
    if isinstance(path[-1], int):
        return f"must be a table: write [[{key_name(path[:-1])}]], and its settings below"
    once = ", once" if isinstance(written, list) else ""
    return f"must be one table: write [{key_name(path)}]{once}, and its settings below"


def unknown(key: str, known: Iterable[str], otherwise: str = "") -> str:
    """What to say of a key that is not a setting: the nearest one, or all there are.

    ``otherwise`` goes on where none is near.
    """
    names = list(known)
    import difflib  # only for what is mistyped

    if near := difflib.get_close_matches(key, names, n=1, cutoff=0.6):
        return f"is not a setting; did you mean {near[0]}?"
    return f"is not a setting; settings here are {', '.join(names)}{otherwise}"


def read_text(name: str, *, fix: str = "") -> str:
    """The text of a file; ``fix`` is what to do where there is none.

    Raises:
        SettingsError: it cannot be read.
    """
    try:
        with Path(name).open("rb") as file:
            # One byte more than allowed tells that there are more; some files have no end.
            return file.read(MOST_BYTES + 1).decode("utf-8-sig")
    except FileNotFoundError:
        raise SettingsError([f"{name}: no such file{fix}"]) from None
    except (OSError, ValueError) as error:
        raise SettingsError([f"{name} cannot be read: {_why(error)}"]) from None


def parsed(text: str, name: str) -> tuple[dict[str, Any], Mapping[KeyPath, int]]:
    """What stands in a text, and on which lines.

    Raises:
        SettingsError: the text is not TOML.
    """
    if len(text) > MOST_BYTES:
        raise SettingsError([f"{name} is longer than {MOST_BYTES:,} bytes; it is no settings file"])
    if any(line.partition("=")[0].count(".") > _MOST_PARTS for line in text.split("\n")):
        raise SettingsError([_too_deep(name)])
    try:
        data = tomllib.loads(text)
    except RecursionError:
        raise SettingsError([_too_deep(name)]) from None
    except tomllib.TOMLDecodeError as error:
        said = str(error)
        hint = "; is a closing quote missing in that line?" if _OPEN_STRING in said else ""
        raise SettingsError([f"{name} is not valid TOML: {printable(said)}{hint}"]) from None
    except ValueError:
        # Python reads no number of more than 4,300 digits.
        raise SettingsError([f"{name} holds a number that is too long to be read"]) from None
    if _depth(data) > MOST_DEPTH:
        raise SettingsError([_too_deep(name)])
    return data, key_lines(text)


def _depth(data: Any) -> int:
    """How deep tables and lists are nested, level by level."""
    depth, level = 0, [data]
    while level and depth <= MOST_DEPTH:
        inner = (each.values() if isinstance(each, dict) else each for each in level)
        level = [one for some in inner for one in some if isinstance(one, dict | list)]
        depth += 1
    return depth


def _too_deep(name: str) -> str:
    return f"{name} is nested more than {MOST_DEPTH} levels deep; no setting is"


def _why(error: Exception) -> str:
    return "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error.args[-1])
