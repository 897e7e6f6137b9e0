"""Tables of words as texts by their paths: what a translator has to write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from string import Formatter
from typing import Any

from sayso.formats import Formats
from sayso.text.counted import Counted


def texts_of(table: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every template of a table and of those in it, with the name that it is said by."""
    if isinstance(table, str):
        yield path, table
    elif isinstance(table, Mapping):
        for key, value in table.items():
            name = key.name if isinstance(key, Enum) else str(key)
            yield from texts_of(value, f"{path}[{name}]")
    elif isinstance(table, Counted):
        yield f"{path}.one", table.one
        yield f"{path}.other", table.other
    elif is_dataclass(table) and not isinstance(table, Formats):
        for field in fields(table):
            yield from texts_of(getattr(table, field.name), f"{path}.{field.name}".lstrip("."))


def counted_of(table: Any, path: str = "") -> Iterator[tuple[str, Counted]]:
    """Every sentence that counts."""
    if isinstance(table, Counted):
        yield path, table
    elif is_dataclass(table) and not isinstance(table, Formats):
        for field in fields(table):
            yield from counted_of(getattr(table, field.name), f"{path}.{field.name}".lstrip("."))


def gaps_of(template: str) -> list[str]:
    """What is filled in, however often and in whatever order; gaps without names in theirs."""
    return [gap for _, gap, _, _ in Formatter().parse(template) if gap is not None]
