"""Forms: what a person is asked to fill in, before any platform renders it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from gettext import NullTranslations
from typing import Any, Literal

from sayso.errors import InvalidInputError
from sayso.forms.field_texts import describe_kind, describe_maximum, describe_minimum
from sayso.forms.form_values import Inputs, Raw, is_same_json
from sayso.forms.formats import FORMATS
from sayso.forms.json_text import SchemaValidator, parse_json
from sayso.locales import ENGLISH
from sayso.text.visible import is_unicode

FieldKind = Literal[
    "text",
    "integer",
    "number",
    "boolean",
    "option",
    "options",
    "date",
    "datetime",
    "email",
    "url",
    "list",
    "json",
]

MOST_FIELDS = 40
MOST_OPTIONS = 250
MOST_ITEMS = 250
LONGEST_OPTION = 1_000
LONGEST_TEXT = 4_000
LONGEST_FIELD_LABEL = 100
"""Bounds of our own: nobody fills in more than this in a chat. A platform may have closer ones."""

_NAME_LIMIT = 100
_WHOLE = re.compile(r"[+-]?[0-9]{1,300}(?:\.0*)?")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]{1,300}(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
_POSITION = re.compile(r"[0-9]{1,3}")
_NOT_FINITE = re.compile(r"[+-]?(?:inf|infinity|nan)", re.IGNORECASE)


class Null(Enum):
    """A null that was chosen or written, which is not the same as no answer."""

    NULL = None


NULL = Null.NULL


@dataclass(frozen=True, slots=True)
class Option:
    """One of several values to choose from, and the words for it."""

    label: str
    value: Any


@dataclass(frozen=True)
class FormField:
    """One value that a person is asked for.

    ``minimum`` and ``maximum`` bound a number, and the length of a text in
    characters, or of a list of texts or a choice of several options. ``distinct`` says
    that no text of a list comes twice. ``schema`` is a JSON Schema, as JSON text, that the
    value must fit besides; it needs the extra ``schema``.
    ``suggestions`` are ready-made answers of a text. ``initial`` is the value to begin
    with, as ``read`` would give it; of JSON, its text.

    Raises:
        ValueError: the field cannot be asked; the message says why.
    """

    name: str
    label: str
    kind: FieldKind = "text"
    required: bool = True
    hint: str = ""
    options: tuple[Option, ...] = ()
    suggestions: tuple[str, ...] = ()
    initial: Any = None
    multiline: bool = False
    minimum: float | None = None
    maximum: float | None = None
    schema: str = ""
    distinct: bool = False

    def __post_init__(self) -> None:
        # A list is taken, too: what is said of a form is kept by the form, and no list is a key.
        object.__setattr__(self, "options", tuple(self.options))
        object.__setattr__(self, "suggestions", tuple(self.suggestions))
        for what, text, limit in (
            ("name", self.name, _NAME_LIMIT),
            ("label", self.label, LONGEST_FIELD_LABEL),
        ):
            if not 1 <= len(text) <= limit:
                raise ValueError(f"a field's {what} has 1 to {limit} characters, not {len(text)}")
        if (self.kind in ("option", "options")) != bool(self.options):
            raise ValueError(f"field {self.name!r}: options are for choosing from, and only for it")
        if len(self.options) > MOST_OPTIONS:
            raise ValueError(
                f"field {self.name!r} has {len(self.options)} options, over {MOST_OPTIONS}"
            )
        if any(len(option.label) > LONGEST_OPTION for option in self.options):
            raise ValueError(
                f"field {self.name!r}: an option has more than {LONGEST_OPTION:,} characters"
            )
        if self.suggestions and self.kind != "text":
            raise ValueError(f"field {self.name!r}: only a text field can have suggestions")

    def read(self, raw: Raw, translations: NullTranslations = ENGLISH) -> Any:
        """Return the value that a raw input stands for; None when nothing was given for it.

        Raises:
            ValueError: it does not fit; the message says what would.
        """
        value = None if raw is None or raw in ("", []) else self.parse(raw, translations)
        if value is None and self.required:
            raise ValueError(translations.gettext("an answer is needed here"))
        return value

    def check_usable(self) -> None:
        """Check that values can be checked against the schema of the field.

        Raises:
            SchemaError: the schema cannot be used.
        """
        if self.schema:
            _ = self._validator

    def to_raw(self, value: Any) -> Raw:
        """Return the raw input that stands for a value; None for None.

        Raises:
            ValueError: no input can stand for the value.
        """
        if value is None:
            return None
        if self.kind == "json":
            return json.dumps(None if value is NULL else value, ensure_ascii=False)
        if self.kind == "option":
            return self._position(value)
        if self.kind == "options" and isinstance(value, list):
            return [self._position(item) for item in value]
        if self.kind == "list" and isinstance(value, list) and _are_texts(value):
            return value
        if self.kind == "boolean" and isinstance(value, bool):
            return value
        if self.kind in ("integer", "number") and isinstance(value, int | float):
            if not isinstance(value, bool):
                return str(value)
        elif self.kind in ("text", *FORMATS) and isinstance(value, str):
            return value
        raise ValueError(f"this is not a value of a field of kind {self.kind}")

    @property
    def lines(self) -> str:
        """The items that a list begins with, one a line."""
        return "\n".join(map(str, self.initial or ()))

    def parse(self, raw: Any, translations: NullTranslations = ENGLISH) -> Any:
        """Return the value of an input that is there, also where that is an empty text.

        Raises:
            ValueError: it does not fit; the message says what would.
        """
        value: Any
        match self.kind:
            case "list":
                value = self._read_items(raw, translations)
            case "integer" | "number":
                value = self._read_number(raw, translations)
            case "boolean":
                value = {"true": True, "false": False}.get(raw) if isinstance(raw, str) else raw
                if not isinstance(value, bool):
                    raise _misfit(translations, translations.gettext("yes or no"))
            case "option":
                value = self._read_option(raw, translations)
            case "options":
                value = self._read_options(raw, translations)
            case _:
                value = self._read_text(raw, translations)
        if self.schema and value is not None:
            self._check_schema(value, translations)
        return value

    def _read_text(self, raw: Any, translations: NullTranslations) -> Any:
        text = raw if isinstance(raw, str) else None
        if text is not None and self.kind in FORMATS:
            text = FORMATS[self.kind](text)
        if text is None:
            raise _misfit(translations, describe_kind(self.kind, translations))
        if not is_unicode(text):
            raise ValueError(translations.gettext("this does not fit"))
        self._check_size(len(text), LONGEST_TEXT, translations)
        if self.kind != "json":
            return text
        value = parse_json(text, translations)
        if not is_unicode(value):
            raise ValueError(translations.gettext("this does not fit"))
        return NULL if value is None else value

    def _read_number(self, raw: Any, translations: NullTranslations) -> float:
        is_whole = self.kind == "integer"
        text = raw.strip() if isinstance(raw, str) else ""
        if _NOT_FINITE.fullmatch(text) and not is_whole:
            raise _misfit(translations, translations.gettext("a finite number"))
        if not (_WHOLE if is_whole else _DECIMAL).fullmatch(text):
            raise _misfit(translations, describe_kind(self.kind, translations))
        value: float = int(text.partition(".")[0]) if is_whole else float(text)
        if not is_whole and not math.isfinite(value):
            raise _misfit(translations, translations.gettext("a finite number"))
        # Beyond this not every whole number is a float.
        if text.lstrip("+-").isdecimal() and abs(value) <= 2**53:
            value = int(text)
        if self.minimum is not None and value < self.minimum:
            text = translations.gettext("at least {number}")
            raise _misfit(translations, text.format(number=number_text(self.minimum)))
        if self.maximum is not None and value > self.maximum:
            text = translations.gettext("at most {number}")
            raise _misfit(translations, text.format(number=number_text(self.maximum)))
        return value

    def _read_option(self, position: Any, translations: NullTranslations) -> Any:
        if not isinstance(position, str) or not _POSITION.fullmatch(position):
            raise ValueError(translations.gettext("choose one of the options"))
        if int(position) >= len(self.options):
            raise ValueError(translations.gettext("choose one of the options"))
        return self.options[int(position)].value

    def _read_options(self, raw: Any, translations: NullTranslations) -> list[Any]:
        if not isinstance(raw, list | tuple):
            raise _misfit(translations, translations.gettext("one or several of the options"))
        values = [self._read_option(position, translations) for position in raw]
        if len(set(map(int, raw))) < len(raw):
            raise ValueError(translations.gettext("choose each option once"))
        self._check_size(len(raw), MOST_OPTIONS, translations)
        return values

    def _read_items(self, raw: Any, translations: NullTranslations) -> list[Any] | None:
        """Read the items of a list; an empty line is no item."""
        lines = [line.strip() for line in raw.split("\n")] if isinstance(raw, str) else raw
        if not isinstance(lines, Sequence):
            raise _misfit(translations, translations.gettext("text"))
        if not _are_texts(lines) or not all(map(is_unicode, lines)):
            raise _misfit(translations, translations.gettext("text"))
        values = [line for line in lines if line or not isinstance(raw, str)]
        if not values:
            return None
        self._check_size(len(values), MOST_ITEMS, translations)
        if self.distinct and any(value in values[:at] for at, value in enumerate(values)):
            raise ValueError(translations.gettext("write each one once"))
        return values

    def _check_size(self, size: int, limit: int, translations: NullTranslations) -> None:
        """Check a length against the bounds of the field, and a limit of our own."""
        upper = limit if self.maximum is None else min(int(self.maximum), limit)
        if self.minimum is not None and size < self.minimum:
            least = describe_minimum(self.kind, int(self.minimum), translations)
            raise _misfit(translations, least)
        if size > upper:
            raise _misfit(translations, describe_maximum(self.kind, upper, translations))

    def _check_schema(self, value: Any, translations: NullTranslations) -> None:
        problems = []
        for place, keyword, message in self._validator.find_problems(without_null(value)):
            if keyword == "pattern" and not place:
                pattern = json.loads(self.schema).get("pattern", "")
                raise _misfit(
                    translations,
                    translations.gettext("text that matches {pattern}").format(pattern=pattern),
                )
            if self.kind == "list" and place:
                said = translations.gettext("this does not fit: {problem}").format(problem=message)
                raise ValueError(
                    translations.gettext("line {number}: {problem}").format(
                        number=int(place[0]) + 1, problem=said
                    )
                )
            at = "".join(f"/{part}" for part in place)
            problems.append(f"{at}: {message}" if at else message)
        if problems:
            raise ValueError(
                translations.gettext("this does not fit: {problem}").format(
                    problem="; ".join(problems)
                )
            )

    @cached_property
    def _validator(self) -> SchemaValidator:
        return SchemaValidator(json.loads(self.schema), formats=True)

    def _position(self, value: Any) -> str:
        for position, option in enumerate(self.options):
            if is_same_json(without_null(option.value), without_null(value)):
                return str(position)
        raise ValueError("this is not one of the options")


@dataclass(frozen=True)
class Form:
    """Fields that are filled in together.

    ``submit`` are the words on the button that sends it, if not the usual ones.
    ``note`` is shown above the fields. ``confirms`` asks to look at all values
    once more where they were asked for one by one. Where something counts even
    if it is left unfilled, ``leave_out`` are the words on the button that leaves
    it, if not the usual ones, and ``if_closed`` says what happens then.

    Raises:
        ValueError: it has no fields, more than 40, or two of one name.
    """

    title: str
    fields: tuple[FormField, ...]
    submit: str = ""
    note: str = ""
    leave_out: str = ""
    if_closed: str = ""
    confirms: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "fields", tuple(self.fields))
        names = [field.name for field in self.fields]
        if not 1 <= len(names) <= MOST_FIELDS:
            raise ValueError(f"a form has 1 to {MOST_FIELDS} fields, not {len(names)}")
        if len(set(names)) != len(names):
            raise ValueError("two fields of a form have the same name")

    def read(self, inputs: Inputs, translations: NullTranslations = ENGLISH) -> dict[str, Any]:
        """Return the values of all fields that were answered.

        Raises:
            InvalidInputError: some of them do not fit; it says which and why.
        """
        values: dict[str, Any] = {}
        problems: dict[str, str] = {}
        for field in self.fields:
            try:
                value = field.read(inputs.get(field.name), translations)
            except ValueError as error:
                problems[field.name] = str(error)
            else:
                if value is not None:
                    values[field.name] = value
        if problems:
            raise InvalidInputError(problems)
        return values

    def to_raw(self, values: Inputs) -> Inputs:
        """Return the raw inputs that stand for values by the names of the fields.

        Raises:
            InvalidInputError: there is no such field, or no input can stand for a value.
        """
        fields = {field.name: field for field in self.fields}
        problems = {name: "there is no such field" for name in values if name not in fields}
        raw: dict[str, Raw] = {}
        for name in values.keys() & fields.keys():
            try:
                raw[name] = fields[name].to_raw(values[name])
            except ValueError as error:
                problems[name] = str(error)
        if problems:
            raise InvalidInputError(problems)
        return raw


def without_null(value: Any) -> Any:
    """Return the value with None in place of each null that was chosen or written."""
    if isinstance(value, list):
        return [without_null(item) for item in value]
    return None if value is NULL else value


def number_text(number: float) -> str:
    """A number as people write it: a whole one has no decimals."""
    return str(int(number)) if float(number).is_integer() and abs(number) < 1e15 else str(number)


def _are_texts(values: Sequence[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def _misfit(translations: NullTranslations, what: str) -> ValueError:
    return ValueError(translations.gettext("this must be {what}").format(what=what))
