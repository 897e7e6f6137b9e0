"""Languages: everything that people read in chats, once more for each language but English.

Each has a folder here with the tables of the core; an adapter has its own beside its code.
English stands in the ``words.py`` of each room, which says what every word is for. Nothing is
decided here, and nothing else is in another language: logs, commands, the HTTP API and what
models are told are in English.
"""

from __future__ import annotations

from collections.abc import Mapping

NAMES: Mapping[str, str] = {"en": "English", "de": "Deutsch"}
"""What there is, by the tags that the settings write; no table is loaded for it."""
