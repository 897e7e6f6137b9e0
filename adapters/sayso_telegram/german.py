"""The words of Telegram's adapter, in German; see ``sayso.languages.german``."""

from __future__ import annotations

from sayso.languages.german.calls import GERMAN as CALLS
from sayso.languages.german.conversations import GERMAN as CONVERSATIONS
from sayso_telegram.words import TelegramWords

GERMAN = TelegramWords(
    not_stored=(
        "Nicht gespeichert: der Speicher ist nicht erreichbar. Zwei Minuten lang wird es noch "
        "einmal versucht."
    ),
    not_shown=(
        "Telegram oder der Speicher antwortet nicht. Zwei Minuten lang wird es noch einmal "
        "versucht."
    ),
    seen_before="Dieser Klick ist schon angekommen.",
    not_ours="Diese Schaltfläche tut hier nichts.",
    long_options="die Möglichkeiten von {label} sind zusammen zu lang",
    calls=CALLS,
    conversations=CONVERSATIONS,
)
