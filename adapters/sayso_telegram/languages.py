"""What Telegram's adapter says besides cards, in each language that Sayso speaks."""

from __future__ import annotations

from collections.abc import Mapping

from sayso_telegram.german import GERMAN
from sayso_telegram.words import ENGLISH, TelegramWords

LANGUAGES: Mapping[str, TelegramWords] = {
    words.conversations.cards.tag: words for words in (ENGLISH, GERMAN)
}
"""By their tags; see ``sayso.languages``."""
