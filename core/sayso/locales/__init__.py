"""Translations of what people read in chats: a gettext catalog for each language but English.

English stands where it is said, and ``make locales`` collects it into the catalogs,
``<tag>/LC_MESSAGES/sayso.po``. Everything else is in English: logs, commands, the HTTP API and
what models are told.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from gettext import NullTranslations, translation
from pathlib import Path

NAMES: Mapping[str, str] = {"en": "English", "de": "Deutsch"}
"""The languages there are, by the tags that the settings write."""

ENGLISH = NullTranslations()


def load_translations(tag: str) -> NullTranslations:
    """Load the catalog of a language, once; English where there is none."""
    return _load(tag) if tag in NAMES and tag != "en" else ENGLISH


@cache
def _load(tag: str) -> NullTranslations:
    return translation("sayso", Path(__file__).parent, [tag])


def locale_of(translations: NullTranslations) -> str:
    """Return the tag of the language that these translate into."""
    return translations.info().get("language", "en")


def gettext_noop(message: str) -> str:
    """Mark a constant for the catalogs; it is translated where it is shown."""
    return message
