"""Sentences that count, with the plural forms of each language."""

from __future__ import annotations

from gettext import NullTranslations

from sayso.formats import formats_of


def format_count(
    translations: NullTranslations, one: str, other: str, count: float, **gaps: object
) -> str:
    """Fill in the sentence for so many; ``{count}`` and numbers in other gaps are written out."""
    formats = formats_of(translations)
    filled = {
        name: formats.number(value) if isinstance(value, int | float) else value
        for name, value in gaps.items()
    }
    message = translations.ngettext(one, other, int(count) if count == int(count) else 2)
    return message.format(count=formats.number(count), **filled)
