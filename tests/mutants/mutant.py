"""Mistakes against safety: one change of one file each, and the tests that must notice it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_LISTS = Path(__file__).parent / "lists"


class StaleMutantError(Exception):
    """The text to be changed does not stand in the file exactly once: correct the list."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A mistake that somebody could make: in ``file``, ``was`` becomes ``becomes``.

    ``tests`` are what pytest is given: files, or single tests. ``topic`` is the list it is in.
    """

    topic: str
    name: str
    file: str
    was: str
    becomes: str
    tests: tuple[str, ...]

    def planted(self, text: str) -> str:
        """The file's text with the mistake in it.

        Raises:
            StaleMutantError: what it changes is not there exactly once.
        """
        if (found := text.count(self.was)) != 1:
            raise StaleMutantError(
                f"{self.name}: its text stands {found} times in {self.file}, not once"
            )
        return text.replace(self.was, self.becomes)


def mutants() -> list[Mutant]:
    """All of them, in the order of the lists."""
    return [
        Mutant(path.stem, **entry | {"tests": tuple(entry["tests"])})
        for path in sorted(_LISTS.glob("*.toml"))
        for entry in tomllib.loads(path.read_text())["mutant"]
    ]
