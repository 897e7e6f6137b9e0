"""Forms: what a person is asked to fill in, before any platform renders it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any, Literal

from sayso.errors import InvalidInputError
from sayso.forms.form_values import Inputs, Raw, is_same_json
from sayso.forms.formats import FORMATS
from sayso.forms.json_text import SchemaValidator, parse_json
from sayso.forms.words import ENGLISH, FormWords
from sayso.text.counted import Counted
from sayso.text.unicode import is_unicode

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

    def read(self, raw: Raw, words: FormWords = ENGLISH) -> Any:
        """Return the value that a raw input stands for; None when nothing was given for it.

        Raises:
            ValueError: it does not fit; the message says what would.
        """
        value = None if raw is None or raw in ("", []) else self.parse(raw, words)
        if value is None and self.required:
            raise ValueError(words.needed)
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

    def parse(self, raw: Any, words: FormWords = ENGLISH) -> Any:
        """Return the value of an input that is there, also where that is an empty text.

        Raises:
            ValueError: it does not fit; the message says what would.
        """
        value: Any
        match self.kind:
            case "list":
                value = self._read_items(raw, words)
            case "integer" | "number":
                value = self._read_number(raw, words)
            case "boolean":
                value = {"true": True, "false": False}.get(raw) if isinstance(raw, str) else raw
                if not isinstance(value, bool):
                    raise _misfit(words, words.yes_or_no)
            case "option":
                value = self._read_option(raw, words)
            case "options":
                value = self._read_options(raw, words)
            case _:
                value = self._read_text(raw, words)
        if self.schema and value is not None:
            self._check_schema(value, words)
        return value

    def _read_text(self, raw: Any, words: FormWords) -> Any:
        text = raw if isinstance(raw, str) else None
        if text is not None and self.kind in FORMATS:
            text = FORMATS[self.kind](text)
        if text is None:
            raise _misfit(words, describe_kind(self.kind, words))
        if not is_unicode(text):
            raise ValueError(words.unfit)
        self._check_size(
            len(text), LONGEST_TEXT, words.least_characters, words.most_characters, words
        )
        if self.kind != "json":
            return text
        value = parse_json(text, words)
        if not is_unicode(value):
            raise ValueError(words.unfit)
        return NULL if value is None else value

    def _read_number(self, raw: Any, words: FormWords) -> float:
        is_whole = self.kind == "integer"
        text = raw.strip() if isinstance(raw, str) else ""
        if _NOT_FINITE.fullmatch(text) and not is_whole:
            raise _misfit(words, words.finite)
        if not (_WHOLE if is_whole else _DECIMAL).fullmatch(text):
            raise _misfit(words, describe_kind(self.kind, words))
        value: float = int(text.partition(".")[0]) if is_whole else float(text)
        if not is_whole and not math.isfinite(value):
            raise _misfit(words, words.finite)
        # Beyond this not every whole number is a float.
        if text.lstrip("+-").isdecimal() and abs(value) <= 2**53:
            value = int(text)
        if self.minimum is not None and value < self.minimum:
            raise _misfit(words, words.least.format(number=number_text(self.minimum)))
        if self.maximum is not None and value > self.maximum:
            raise _misfit(words, words.most.format(number=number_text(self.maximum)))
        return value

    def _read_option(self, position: Any, words: FormWords) -> Any:
        if not isinstance(position, str) or not _POSITION.fullmatch(position):
            raise ValueError(words.one_option)
        if int(position) >= len(self.options):
            raise ValueError(words.one_option)
        return self.options[int(position)].value

    def _read_options(self, raw: Any, words: FormWords) -> list[Any]:
        if not isinstance(raw, list | tuple):
            raise _misfit(words, words.several_options)
        values = [self._read_option(position, words) for position in raw]
        if len(set(map(int, raw))) < len(raw):
            raise ValueError(words.each_once)
        self._check_size(len(raw), MOST_OPTIONS, words.least_options, words.most_options, words)
        return values

    def _read_items(self, raw: Any, words: FormWords) -> list[Any] | None:
        """Read the items of a list; an empty line is no item."""
        lines = [line.strip() for line in raw.split("\n")] if isinstance(raw, str) else raw
        if not isinstance(lines, Sequence):
            raise _misfit(words, words.text)
        if not _are_texts(lines) or not all(map(is_unicode, lines)):
            raise _misfit(words, words.text)
        values = [line for line in lines if line or not isinstance(raw, str)]
        if not values:
            return None
        self._check_size(len(values), MOST_ITEMS, words.least_items, words.most_items, words)
        if self.distinct and any(value in values[:at] for at, value in enumerate(values)):
            raise ValueError(words.item_once)
        return values

    def _check_size(
        self, size: int, limit: int, least: Counted, most: Counted, words: FormWords
    ) -> None:
        """Check a length against the bounds of the field, and a limit of our own."""
        upper = limit if self.maximum is None else min(int(self.maximum), limit)
        if self.minimum is not None and size < self.minimum:
            raise _misfit(words, least.of(int(self.minimum)))
        if size > upper:
            raise _misfit(words, most.of(upper))

    def _check_schema(self, value: Any, words: FormWords) -> None:
        problems = []
        for place, keyword, message in self._validator.find_problems(without_null(value)):
            if keyword == "pattern" and not place:
                pattern = json.loads(self.schema).get("pattern", "")
                raise _misfit(words, words.pattern.format(pattern=pattern))
            if self.kind == "list" and place:
                said = words.unfit_for_schema.format(problem=message)
                raise ValueError(words.on_line.format(number=int(place[0]) + 1, problem=said))
            at = "".join(f"/{part}" for part in place)
            problems.append(f"{at}: {message}" if at else message)
        if problems:
            raise ValueError(words.unfit_for_schema.format(problem="; ".join(problems)))

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

    def read(self, inputs: Inputs, words: FormWords = ENGLISH) -> dict[str, Any]:
        """Return the values of all fields that were answered.

        Raises:
            InvalidInputError: some of them do not fit; it says which and why.
        """
        values: dict[str, Any] = {}
        problems: dict[str, str] = {}
        for field in self.fields:
            try:
                value = field.read(inputs.get(field.name), words)
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


def describe_kind(kind: FieldKind, words: FormWords) -> str:
    """Say what is typed for a field of a kind."""
    described: Mapping[str, str] = {
        "integer": words.whole_number,
        "number": words.number,
        "date": words.date,
        "datetime": words.moment,
        "email": words.email,
        "url": words.url,
        "json": words.json,
    }
    return described.get(kind, words.text)


def _are_texts(values: Sequence[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def _misfit(words: FormWords, what: str) -> ValueError:
    return ValueError(words.must_be.format(what=what))
