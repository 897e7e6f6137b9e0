"""The words of Telegram's toasts that the desk has no part in, with those of dialogues."""

from __future__ import annotations

from dataclasses import dataclass

from sayso.calling import words as calling
from sayso.calling.words import CallWords
from sayso.dialogues import words as dialogues
from sayso.dialogues.words import DialogueWords


@dataclass(frozen=True, slots=True)
class TelegramWords:
    """One language of what Telegram's adapter says besides cards. Another is another value."""

    not_stored: str
    not_shown: str
    seen_before: str
    not_ours: str

    calls: CallWords
    dialogues: DialogueWords


ENGLISH = TelegramWords(
    not_stored="Not recorded: the store cannot be reached. Trying again for two minutes.",
    not_shown="Telegram or the store does not answer. Trying again for two minutes.",
    seen_before="This press was taken before.",
    not_ours="This button does nothing here.",
    calls=calling.ENGLISH,
    dialogues=dialogues.ENGLISH,
)
