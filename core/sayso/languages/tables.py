"""All tables of the core, by the tags of their languages."""

from __future__ import annotations

from collections.abc import Mapping

from sayso.desk.words import ENGLISH as ENGLISH_DESK
from sayso.desk.words import DeskWords
from sayso.dialogues.words import ENGLISH as ENGLISH_DIALOGUES
from sayso.dialogues.words import DialogueWords
from sayso.languages.german.desk import GERMAN as GERMAN_DESK
from sayso.languages.german.dialogues import GERMAN as GERMAN_DIALOGUES

DESK: Mapping[str, DeskWords] = {words.tag: words for words in (ENGLISH_DESK, GERMAN_DESK)}
"""What cards say, and what the desk does."""

DIALOGUES: Mapping[str, DialogueWords] = {
    words.cards.tag: words for words in (ENGLISH_DIALOGUES, GERMAN_DIALOGUES)
}
"""What is said in forms that are asked step by step."""
