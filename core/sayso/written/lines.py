"""On which line each key of a TOML file stands, for messages that point at it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping

KeyPath = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY_PART = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+)\s*""")
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}' + r"|'''.*?'{3,5}" + r'|"(?:[^"\\\n]|\\.)*"' + r"|'[^'\n]*'",
    re.DOTALL,
)
_SCALAR = re.compile(r"[^,\]}\n#]+")


def key_lines(text: str) -> Mapping[KeyPath, int]:
    """The line of every key, table and list item in a text that is valid TOML."""
    return _Scanner(text).lines


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
                table = self._header()
            else:
                self._pair(table)

    def _header(self) -> KeyPath:
        is_list = self._text.startswith("[[", self._at)
        line = self._line()
        self._at += 2 if is_list else 1
        path = self._placed(self._key(), is_list=is_list)
        self._at += 2 if is_list else 1
        self.lines.setdefault(path, line)
        return path

    def _placed(self, key: KeyPath, *, is_list: bool) -> KeyPath:
        """The path of a header: a list of tables counts, and its tables belong to its last item."""
        path: KeyPath = ()
        for depth, part in enumerate(key):
            path = (*path, part)
            if is_list and depth == len(key) - 1:
                self._tables[path] = self._tables.get(path, -1) + 1
            if path in self._tables:
                path = (*path, self._tables[path])
        return path

    def _pair(self, table: KeyPath) -> None:
        line = self._line()
        path = (*table, *self._key())
        self.lines[path] = line
        self._at += 1  # =
        self._value(path)

    def _key(self) -> KeyPath:
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

    def _value(self, path: KeyPath) -> None:
        self._skip_blank()
        first = self._text[self._at]
        if first == "[":
            self._items(path)
        elif first == "{":
            self._inline_table(path)
        else:
            pattern = _STRING if first in "\"'" else _SCALAR
            match = pattern.match(self._text, self._at)
            self._at = match.end() if match else len(self._text)

    def _items(self, path: KeyPath) -> None:
        self._at += 1
        number = 0
        while self._skip_blank() < len(self._text) and self._text[self._at] != "]":
            self.lines[(*path, number)] = self._line()
            self._value((*path, number))
            number += 1
            self._skip_comma()
        self._at += 1

    def _inline_table(self, path: KeyPath) -> None:
        self._at += 1
        while self._skip_blank() < len(self._text) and self._text[self._at] != "}":
            self._pair(path)
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

    def _line(self) -> int:
        return self._text.count("\n", 0, self._at) + 1
