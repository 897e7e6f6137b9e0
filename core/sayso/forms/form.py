"""Forms: what a person is asked to fill in, before any platform renders it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from sayso.errors import InvalidInputError
from sayso.forms.formats import FORMATS
from sayso.forms.inputs import Inputs, Raw
from sayso.forms.words import ENGLISH, FormWords

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
]

MOST_FIELDS = 40
MOST_OPTIONS = 250
MOST_ITEMS = 250
LONGEST_OPTION = 1_000
LONGEST_TEXT = 4_000
LONGEST_FIELD_LABEL = 100
"""Bounds of our own: nobody fills in more than this in a chat. A platform may have closer ones."""

_WHOLE = re.compile(r"[+-]?[0-9]+")
_NO_OPTION, _TWICE, _NOT_SO = "no_option", "option_twice", "not_of_the_format"
_NAME_LIMIT = 100


@dataclass(frozen=True, slots=True)
class Option:
    """One of several values to choose from, and the words for it."""

    label: str
    value: Any


@dataclass(frozen=True, slots=True)
class When:
    """A field that must be answered before another is asked for.

    ``options`` are the positions of those that lead there; empty: any answer does.
    """

    field: str
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class FormField:
    """One value that a person is asked for.

    ``minimum`` and ``maximum`` bound a number, and the length of a text in
    characters, or of a list or a choice of several options. ``item`` is what each
    item of a list is, ``distinct`` that none comes twice. With ``when`` it is
    asked for only after a certain answer to another field. ``pattern`` is a regular
    expression that must be found in a text (the syntax of Rust's regex: linear
    in time); people are told ``written_pattern`` where it was written in
    another syntax. ``suggestions`` are ready-made answers of a text. ``initial`` is
    the value to begin with, as ``read`` would give it.

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
    pattern: str = ""
    written_pattern: str = ""
    item: FormField | None = None
    distinct: bool = False
    when: When | None = None

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
        if (self.kind == "list") != (self.item is not None):
            raise ValueError(f"field {self.name!r}: a list has an item, and nothing else has")
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
        """The value that a raw input stands for; None when nothing was given for it.

        Raises:
            ValueError: it does not fit; the message says what would.
        """
        if raw is None or raw in ("", []):
            if self.required:
                raise ValueError(words.needed)
            return None
        if self.item is not None:
            return self._items(self.item, raw, words)
        return self._value(raw, words)

    @property
    def lines(self) -> str:
        """What a list begins with, an item a line."""
        return "\n".join(map(str, self.initial or ()))

    def _items(self, item: FormField, raw: Raw, words: FormWords) -> Any:
        """The items of a list; lines with nothing on them are none."""
        if isinstance(raw, str):
            lines = raw.split("\n")
            given: Sequence[Raw] = [line.strip() for line in lines]
        elif isinstance(raw, Sequence):
            given = raw
        else:
            raise ValueError(words.must_be.format(what=words.text))  # noqa: TRY004
        values: list[Any] = []
        for number, one in enumerate(given, 1):
            if one == "" and isinstance(raw, str):
                continue
            try:
                values.append(item._value(one, words))
            except ValueError as error:
                raise ValueError(words.on_line.format(number=number, problem=error)) from None
        return self._counted(values, words)

    def _counted(self, values: list[Any], words: FormWords) -> list[Any] | None:
        if not values:
            if self.required:
                raise ValueError(words.needed)
            return None
        most = MOST_ITEMS if self.maximum is None else min(int(self.maximum), MOST_ITEMS)
        if self.minimum is not None and len(values) < self.minimum:
            raise ValueError(words.must_be.format(what=words.least_items.of(int(self.minimum))))
        if len(values) > most:
            raise ValueError(words.must_be.format(what=words.most_items.of(most)))
        if self.distinct and any(value in values[:at] for at, value in enumerate(values)):
            raise ValueError(words.item_once)
        return values

    def _value(self, raw: Any, words: FormWords) -> Any:
        if isinstance(raw, bool) and self.kind in ("integer", "number"):
            # To pydantic, true is a 1.
            raw = repr(raw)
        try:
            value = self._reader.validate_python(raw)
        except ValidationError as error:
            pattern = self.written_pattern or self.pattern
            raise ValueError(_told(error, pattern, self.kind, words)) from None
        if self.kind == "number" and isinstance(raw, str) and _WHOLE.fullmatch(raw.strip()):
            # Beyond this not every whole number is a float.
            return int(value) if abs(value) <= 2**53 else value
        return value

    @cached_property
    def _reader(self) -> TypeAdapter[Any]:
        kinds: dict[FieldKind, Any] = {
            "text": self._text,
            "integer": Annotated[int, Field(ge=self.minimum, le=self.maximum)],
            "number": Annotated[
                float, Field(ge=self.minimum, le=self.maximum, allow_inf_nan=False)
            ],
            "boolean": Annotated[bool, BeforeValidator(_boolean)],
            "date": Annotated[Any, BeforeValidator(self._formatted)],
            "datetime": Annotated[Any, BeforeValidator(self._formatted)],
            "email": Annotated[self._text, BeforeValidator(self._formatted)],
            "url": Annotated[self._text, BeforeValidator(self._formatted)],
            "option": Annotated[Any, BeforeValidator(self._option)],
            "options": Annotated[
                list[Annotated[Any, BeforeValidator(self._option)]],
                AfterValidator(_distinct),
                *self._length(),
            ],
        }
        return TypeAdapter(kinds[self.kind])

    @property
    def _text(self) -> Any:
        pattern = [Field(pattern=self.pattern)] if self.pattern else []
        return Annotated[str, *self._length(LONGEST_TEXT), *pattern]

    def _length(self, most: int | None = None) -> Sequence[Any]:
        least = None if self.minimum is None else int(self.minimum)
        limits = [limit for limit in (self.maximum, most) if limit is not None]
        return [Field(min_length=least, max_length=int(min(limits)) if limits else None)]

    def _formatted(self, raw: Any) -> str:
        found = FORMATS[self.kind](raw) if isinstance(raw, str) else None
        if found is None:
            raise PydanticCustomError(_NOT_SO, "not of its format")
        return found

    def _option(self, position: Any) -> Any:
        if not isinstance(position, str) or not position.isascii() or not position.isdecimal():
            raise PydanticCustomError(_NO_OPTION, "not an option")
        if int(position) >= len(self.options):
            raise PydanticCustomError(_NO_OPTION, "not an option")
        return self.options[int(position)].value


@dataclass(frozen=True)
class Form:
    """Fields that are filled in together.

    ``submit`` are the words on the button that sends it, if not the usual ones.
    ``note`` is shown above the fields. ``confirms`` asks to look at all values
    once more where they were asked for one by one. Where something counts even
    if it is left unfilled, ``leave_out`` are the words on the button that leaves
    it, if not the usual ones, and ``if_closed`` says what happens then.

    Raises:
        ValueError: it has no fields, more than 40, two of one name, or one that
            hangs on a field that does not come before it.
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
        for number, field in enumerate(self.fields):
            if field.when is not None and field.when.field not in names[:number]:
                raise ValueError(f"field {field.name!r} hangs on a field that is not before it")

    def asks(self, field: FormField, inputs: Inputs) -> bool:
        """Whether the field is asked for, after what was answered to those before it."""
        if field.when is None:
            return True
        on = next(other for other in self.fields if other.name == field.when.field)
        raw = inputs.get(on.name)
        fits = raw in field.when.options if field.when.options else raw not in (None, "", [])
        return fits and self.asks(on, inputs)

    def read(self, inputs: Inputs, words: FormWords = ENGLISH) -> dict[str, Any]:
        """The values of all fields that were answered.

        Raises:
            InvalidInputError: some of them do not fit; it says which and why.
        """
        values: dict[str, Any] = {}
        problems: dict[str, str] = {}
        for field in self.fields:
            raw = inputs.get(field.name)
            if not self.asks(field, inputs):
                if not _says_nothing(field, raw):
                    problems[field.name] = words.not_asked
                continue
            try:
                value = field.read(raw, words)
            except ValueError as error:
                problems[field.name] = str(error)
            else:
                if value is not None:
                    values[field.name] = value
        if problems:
            raise InvalidInputError(problems)
        return values


def number_text(number: float) -> str:
    """A number as people write it: a whole one has no decimals."""
    return str(int(number)) if float(number).is_integer() and abs(number) < 1e15 else str(number)


def _boolean(raw: Any) -> Any:
    """To pydantic, "on", "y" and 1 would be yes, too."""
    return {"true": True, "false": False}.get(raw, "") if isinstance(raw, str) else raw


def _says_nothing(field: FormField, raw: Raw) -> bool:
    """Whether it is no answer, or what the field began with and nobody touched."""
    if raw is None or raw in ("", []):
        return True
    with suppress(ValueError):
        return field.initial is not None and bool(field.read(raw) == field.initial)
    return False


def _distinct(values: list[Any]) -> list[Any]:
    if any(value in values[:number] for number, value in enumerate(values)):
        raise PydanticCustomError(_TWICE, "an option twice")
    return values


# How each of pydantic's errors reads.
_TOLD: Mapping[str, Callable[[FormWords, Mapping[str, Any]], str]] = {
    "int_type": lambda words, _: words.whole_number,
    "int_parsing": lambda words, _: words.whole_number,
    "int_parsing_size": lambda words, _: words.whole_number,
    "int_from_float": lambda words, _: words.whole_number,
    "float_type": lambda words, _: words.number,
    "float_parsing": lambda words, _: words.number,
    "finite_number": lambda words, _: words.finite,
    "bool_parsing": lambda words, _: words.yes_or_no,
    "bool_type": lambda words, _: words.yes_or_no,
    "string_type": lambda words, _: words.text,
    "string_too_short": lambda words, about: words.least_characters.of(about["min_length"]),
    "string_too_long": lambda words, about: words.most_characters.of(about["max_length"]),
    "greater_than_equal": lambda words, about: words.least.format(number=number_text(about["ge"])),
    "less_than_equal": lambda words, about: words.most.format(number=number_text(about["le"])),
    "too_short": lambda words, about: words.least_options.of(about["min_length"]),
    "too_long": lambda words, about: words.most_options.of(about["max_length"]),
    "list_type": lambda words, _: words.several_options,
}


# How a text that is of no format should have been.
_FORMATS: Mapping[FieldKind, Callable[[FormWords], str]] = {
    "date": lambda words: words.date,
    "datetime": lambda words: words.moment,
    "email": lambda words: words.email,
    "url": lambda words: words.url,
}


def wanted(kind: FieldKind, words: FormWords) -> str:
    """What is to be typed for a field of a kind; empty where any text will do."""
    numbers = {"integer": words.whole_number, "number": words.number}
    return numbers.get(kind) or (_FORMATS[kind](words) if kind in _FORMATS else "")


def _told(error: ValidationError, pattern: str, of: FieldKind, words: FormWords) -> str:
    """The first problem in words, without the input, which may be anybody's secret."""
    problem = error.errors(include_url=False, include_input=False)[0]
    kind = problem["type"]
    if kind == _NO_OPTION:
        return words.one_option
    if kind == _TWICE:
        return words.each_once
    if kind == _NOT_SO:
        return words.must_be.format(what=wanted(of, words))
    if kind == "string_pattern_mismatch":
        return words.must_be.format(what=words.pattern.format(pattern=pattern))
    told = _TOLD.get(kind)
    return words.must_be.format(what=told(words, problem.get("ctx", {}))) if told else words.unfit
