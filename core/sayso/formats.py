"""How a language writes numbers and times; what people type themselves is read in one way only."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from gettext import NullTranslations


@dataclass(frozen=True, slots=True)
class Formats:
    """The marks in a number, and a time to the minute; ``at`` is that time, in UTC."""

    thousands: str
    decimal: str
    moment: str

    def number(self, number: float) -> str:
        """A number as people read it."""
        return self.marked(f"{int(number) if number == int(number) else number:,}")

    def marked(self, text: str) -> str:
        """A number in English, such as ``48,500.00``, with the marks of this language."""
        return text.translate({ord(","): self.thousands, ord("."): self.decimal})

    def time(self, moment: datetime) -> str:
        """A time in plain words, to the minute."""
        return self.moment.format(at=moment.astimezone(UTC))


ENGLISH = Formats(",", ".", "{at:%Y-%m-%d %H:%M} UTC")


@lru_cache(maxsize=16)
def formats_of(translations: NullTranslations) -> Formats:
    """Return how the language of these translations writes numbers and times."""
    return Formats(
        thousands=translations.pgettext("thousands separator", ","),
        decimal=translations.pgettext("decimal separator", "."),
        moment=translations.gettext("{at:%Y-%m-%d %H:%M} UTC"),
    )
