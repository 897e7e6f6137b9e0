"""The words of Telegram's toasts that the desk has no part in, with those of conversations."""

from __future__ import annotations

from dataclasses import dataclass

from sayso.calling import words as calling
from sayso.calling.words import CallWords
from sayso.platforms import words as conversations
from sayso.platforms.words import ConversationWords


@dataclass(frozen=True, slots=True)
class TelegramWords:
    """One language of what Telegram's adapter says besides cards. Another is another value."""

    not_stored: str
    not_shown: str
    seen_before: str
    not_ours: str
    long_options: str

    calls: CallWords
    conversations: ConversationWords


ENGLISH = TelegramWords(
    not_stored="Not recorded: the store cannot be reached. Trying again for two minutes.",
    not_shown="Telegram or the store does not answer. Trying again for two minutes.",
    seen_before="This press was taken before.",
    not_ours="This button does nothing here.",
    long_options="the options of {label} are too long together",
    calls=calling.ENGLISH,
    conversations=conversations.ENGLISH,
)
