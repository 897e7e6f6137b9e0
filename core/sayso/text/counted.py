"""A sentence that counts: English has two forms of it, and every language its own."""

from __future__ import annotations

from dataclasses import dataclass

from sayso.formats import ENGLISH, Formats


@dataclass(frozen=True, slots=True)
class Counted:
    """A sentence for one and a sentence for any other number; ``{count}`` is that number.

    Numbers are written as the language does: see ``formats``.
    """

    one: str
    other: str
    formats: Formats = ENGLISH

    def of(self, count: float, **more: object) -> str:
        """The sentence for so many; other numbers in it are written in the same way."""
        said = {name: self._written(value) for name, value in more.items()}
        template = self.one if count == 1 else self.other
        return template.format(count=self._written(count), **said)

    def _written(self, value: object) -> object:
        return self.formats.number(value) if isinstance(value, int | float) else value
