"""Texts that say what a field takes."""

from __future__ import annotations

from collections.abc import Mapping
from gettext import NullTranslations

from sayso.locales import gettext_noop
from sayso.text.visible import format_count

_TEXT = gettext_noop("text")
_KINDS: Mapping[str, str] = {
    "integer": gettext_noop("a whole number, such as 3"),
    "number": gettext_noop("a number, such as 2.5"),
    "date": gettext_noop("a date, such as 2026-11-21"),
    "datetime": gettext_noop("a date and a time with its zone, such as 2026-11-21 14:30 UTC"),
    "email": gettext_noop("an address such as ana@example.com"),
    "url": gettext_noop("an address such as https://example.com"),
    "json": gettext_noop("JSON"),
}


def describe_kind(kind: str, translations: NullTranslations) -> str:
    """Say what is typed for a field of a kind."""
    return translations.gettext(_KINDS.get(kind, _TEXT))


def describe_minimum(kind: str, count: int, translations: NullTranslations) -> str:
    """Say how long a text or how many items there must be."""
    if kind == "options":
        return format_count(
            translations,
            "at least {count} of the options",
            "at least {count} of the options",
            count,
        )
    if kind == "list":
        return format_count(
            translations, "a list of at least {count}", "a list of at least {count}", count
        )
    return format_count(
        translations, "at least {count} character", "at least {count} characters", count
    )


def describe_maximum(kind: str, count: int, translations: NullTranslations) -> str:
    """Say how long a text or how many items there may be."""
    if kind == "options":
        return format_count(
            translations, "at most {count} of the options", "at most {count} of the options", count
        )
    if kind == "list":
        return format_count(
            translations, "a list of at most {count}", "a list of at most {count}", count
        )
    return format_count(
        translations, "at most {count} character", "at most {count} characters", count
    )
