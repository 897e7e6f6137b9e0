"""What became of an approval, as the card says it."""

from __future__ import annotations

from gettext import NullTranslations
from typing import Protocol

from sayso.text.agents import from_agent
from sayso.text.visible import shortened

_LONGEST_NOTE = 300


class Told(Protocol):
    """How a call went, as whoever ran it says."""

    @property
    def went(self) -> str:
        """Succeeded or failed."""
        ...

    @property
    def note(self) -> str:
        """More about it."""
        ...


def afterwards(report: Told | None, translations: NullTranslations) -> tuple[str, str]:
    """How the call went that ran on an approval, and what whoever ran it says of it."""
    if report is None:
        return translations.gettext("started; how it went was not told"), ""
    went = (
        translations.gettext("failed") if report.went == "failed" else translations.gettext("ran")
    )
    return went, shortened(from_agent(report.note, one_line=True).strip(), _LONGEST_NOTE)
