"""All tables of the core, by the tags of their languages."""

from __future__ import annotations

from collections.abc import Mapping

from sayso.desk.words import ENGLISH as ENGLISH_DESK
from sayso.desk.words import DeskWords
from sayso.languages.german.conversations import GERMAN as GERMAN_CONVERSATIONS
from sayso.languages.german.desk import GERMAN as GERMAN_DESK
from sayso.platforms.words import ENGLISH as ENGLISH_CONVERSATIONS
from sayso.platforms.words import ConversationWords

DESK: Mapping[str, DeskWords] = {words.tag: words for words in (ENGLISH_DESK, GERMAN_DESK)}
"""What cards say, and what the desk does."""

CONVERSATIONS: Mapping[str, ConversationWords] = {
    words.cards.tag: words for words in (ENGLISH_CONVERSATIONS, GERMAN_CONVERSATIONS)
}
"""What is said in forms that are asked step by step."""
