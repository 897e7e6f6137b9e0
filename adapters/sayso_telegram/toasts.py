"""What a presser is told, in a line at the top of the chat or in a dialog."""

from __future__ import annotations

from dataclasses import dataclass, field

from sayso_telegram.card.formatted import fitted, sound

# answerCallbackQuery, text: 0-200 characters.
_MOST_UNITS = 200


@dataclass(frozen=True, slots=True)
class Toast:
    """The answer to a callback query; without one the button would keep spinning."""

    query_id: str = field(repr=False)
    text: str
    alert: bool = False


def toast_text(text: str) -> str:
    """The text as far as Telegram shows it."""
    return fitted(sound(text), _MOST_UNITS)
