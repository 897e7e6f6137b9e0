"""What became of an approval, as the card says it."""

from __future__ import annotations

from typing import Protocol

from sayso.cards.words import CardWords
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


def afterwards(report: Told | None, words: CardWords) -> tuple[str, str]:
    """How the call went that ran on an approval, and what whoever ran it says of it."""
    if report is None:
        return words.started, ""
    went = words.failed if report.went == "failed" else words.ran
    return went, shortened(from_agent(report.note, one_line=True).strip(), _LONGEST_NOTE)
