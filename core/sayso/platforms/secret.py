"""Secrets of a platform: which variable holds which, and how to tell one."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret that only the environment may hold.

    ``where`` says where its value comes from. ``keys`` are the keys of the
    platform's section under which people put it into the settings file, where
    it must not stand. ``looks`` is a regular expression for what can be nothing
    but such a secret, wherever it stands: no settings file may hold it, and
    bots that have loaded the platform hide it in cards, logs and messages. A
    value has to match all of ``form``; ``misfit`` says what to do about one
    that does not, after the variable's name. ``several`` allows more than one,
    separated by commas, so that a secret can be replaced without losing a press.
    """

    variable: str
    where: str
    keys: tuple[str, ...] = ()
    looks: re.Pattern[str] | None = None
    form: str = ""
    misfit: str = "does not have the form of such a secret; copy it again"
    several: bool = False

    @property
    def missing(self) -> str:
        """What to say when it is not set."""
        return f"{self.variable} is not set; {self.where}"

    def values(self, written: str) -> tuple[str, ...]:
        """The values in what the variable holds; none where it is empty."""
        parts = written.split(",") if self.several else [written]
        return tuple(part for part in map(str.strip, parts) if part)

    def problem(self, value: str) -> str:
        """What is wrong with the form of a value, without quoting it; empty when nothing is."""
        if self.form and not re.fullmatch(self.form, value, re.ASCII):
            return f"{self.variable} {self.misfit}"
        if any(character.isspace() for character in value):
            return f"{self.variable} holds a space or a line break; copy it again"
        return ""

    def is_in(self, text: str) -> bool:
        """Whether a text holds what looks like this secret."""
        return self.looks is not None and self.looks.search(text) is not None
