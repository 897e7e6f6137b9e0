"""What became of an update, and what its presser is told."""

from __future__ import annotations

from dataclasses import dataclass, field

from sayso_telegram.card.formatted import fitted, sound

# answerCallbackQuery, text: 0-200 characters.
_MOST_UNITS = 200


@dataclass(frozen=True, slots=True)
class Toast:
    """The answer to a callback query; without one the button would keep spinning.

    It stands in a line at the top of the chat, or in a dialog if it is an ``alert``.
    """

    query_id: str = field(repr=False)
    text: str
    alert: bool = False


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of an update: whether Telegram may forget it, and what to tell the presser.

    ``retry_after`` is in how many seconds it is worth coming again, None where nobody said.
    """

    stored: bool
    toast: Toast | None = None
    retry_after: float | None = None


def toast_text(text: str) -> str:
    """The text as far as Telegram shows it."""
    return fitted(sound(text), _MOST_UNITS)
