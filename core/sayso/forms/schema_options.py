"""The listed values of a JSON Schema as the options of a field."""

from __future__ import annotations

import json
from collections.abc import Sequence
from gettext import NullTranslations
from typing import Any

from sayso.errors import SchemaError
from sayso.forms.form import MOST_OPTIONS, NULL, Option
from sayso.forms.form_values import is_same_json
from sayso.locales import gettext_noop
from sayso.text.secrets import redacted_text
from sayso.text.visible import looks, visible

_LABEL_LIMIT = 100


# What the buttons beside the options say in a form that is asked step by step.
_STEPS = (
    gettext_noop("Back"),
    gettext_noop("Cancel"),
    gettext_noop("Done"),
    gettext_noop("Leave it out"),
    gettext_noop("Send"),
    gettext_noop("Skip"),
)


def build_options(
    values: Sequence[tuple[Any, str]], at: str, translations: NullTranslations
) -> tuple[Option, ...]:
    """Build an option for each value with its title, if it has one.

    Raises:
        SchemaError: people could not tell the options apart.
    """
    if not 1 <= len(values) <= MOST_OPTIONS:
        raise SchemaError(at, f"a choice has 1 to {MOST_OPTIONS} values")
    for number, (value, _) in enumerate(values):
        if any(is_same_json(value, other) for other, _ in values[:number]):
            raise SchemaError(f"{at}/{number}", "this value appears twice")
    labels = _labels([title or value for value, title in values], at, translations)
    return tuple(
        Option(label, NULL if value is None else value)
        for label, (value, _) in zip(labels, values, strict=True)
    )


def _labels(texts: Sequence[Any], at: str, translations: NullTranslations) -> list[str]:
    labels = [
        visible(redacted_text(text), one_line=True)
        if isinstance(text, str)
        else _spell(text, translations)
        for text in texts
    ]
    others = {_spell(text, translations) for text in texts if not isinstance(text, str)}
    seen: set[str] = set()
    for number, text in enumerate(texts):
        label = labels[number]
        # "1" beside 1 is quoted, and so is what would be no words at all or a button's.
        if isinstance(text, str) and (
            not label.strip() or label in others or _is_a_step(label, translations)
        ):
            label = labels[number] = f'"{label}"'
        place = f"{at}/{number}"
        if len(label) > _LABEL_LIMIT:
            raise SchemaError(place, f"an option has at most {_LABEL_LIMIT} characters")
        if looks(label) in seen:
            raise SchemaError(place, "this option looks like another one")
        seen.add(looks(label))
    return labels


def _is_a_step(label: str, translations: NullTranslations) -> bool:
    """Return True if it passes for one of the buttons beside the options: « Back, Done (2)."""
    shown = looks(label).strip("«‹<← ").partition(" (")[0].partition(":")[0]
    return shown in (looks(translations.gettext(step)) for step in _STEPS)


def _spell(value: Any, translations: NullTranslations) -> str:
    return translations.gettext("none") if value is None else json.dumps(value)
