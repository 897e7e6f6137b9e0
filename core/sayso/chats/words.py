"""The words for what does not fit a platform. Nothing decides on them."""

from __future__ import annotations

from dataclasses import dataclass

from sayso.text.counted import Counted


@dataclass(frozen=True, slots=True)
class LimitWords:
    """One language, by its ``tag``: templates with named gaps. Another one is another value."""

    tag: str

    not_offered: str
    left_out: str
    not_askable: str
    nothing_left: str

    long_label: str
    long_stored: Counted
    many_fields: Counted
    long_field: str
    many_options: str
    long_option: str
    long_text: Counted


ENGLISH = LimitWords(
    tag="en",
    not_offered="Not offered here",
    left_out="{choice}: {why}",
    not_askable="{choice!r} cannot be asked for: {why}",
    nothing_left="none of the choices fits: {why}",
    long_label="its label has {count} characters, and {fit} fit",
    long_stored=Counted(
        "what it would store has {count} character, and {fit} fit",
        "what it would store has {count} characters, and {fit} fit",
    ),
    many_fields=Counted(
        "the form has {count} field, and {fit} fit", "the form has {count} fields, and {fit} fit"
    ),
    long_field="the label {label!r} has more than {fit} characters",
    many_options="{label!r} has {count} options, and {fit} fit",
    long_option="an option of {label!r} has more than {fit} characters",
    long_text=Counted(
        "{label!r} needs a text of more than {count} character",
        "{label!r} needs a text of more than {count} characters",
    ),
)
