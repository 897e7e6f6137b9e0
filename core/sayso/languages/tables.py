"""All tables of the core, by the tags of their languages."""

from __future__ import annotations

from collections.abc import Mapping

from sayso.desk import words as desk
from sayso.desk.words import DeskWords
from sayso.dialogues import words as dialogues
from sayso.dialogues.words import DialogueWords

DESK: Mapping[str, DeskWords] = {"en": desk.ENGLISH}
"""What cards say, and what the desk does."""

DIALOGUES: Mapping[str, DialogueWords] = {"en": dialogues.ENGLISH}
"""What is said in forms that are asked step by step."""
