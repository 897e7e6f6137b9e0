"""Rooms whose names are loaded when they are first used, so that one of them costs no other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def later(
    room: dict[str, Any], files: Mapping[str, tuple[str, ...]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a room, of its ``globals()`` and each file's names."""
    file_of = {name: file for file, names in files.items() for name in names}

    def found_later(name: str) -> Any:
        if name not in file_of:
            raise AttributeError(f"module {room['__name__']!r} has no attribute {name!r}")
        found = room[name] = getattr(import_module(file_of[name]), name)
        return found

    def all_names() -> list[str]:
        return sorted({*room, *file_of})

    return found_later, all_names
