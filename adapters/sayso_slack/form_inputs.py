"""Fields of a form as Slack's input blocks, which block belongs to which, what comes back."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from gettext import NullTranslations
from typing import Any

from sayso.errors import CallbackError, DeliveryError
from sayso.forms.form import FormField
from sayso.locales import ENGLISH
from sayso.text.visible import format_count, one_line, visible
from sayso_slack.callback_guard import Payload, as_object
from sayso_slack.errors import PLATFORM
from sayso_slack.value_blocks import Block, chunks, literal, plain_text, rich_text, section

INPUT = "sayso:in:"
"""Before the encoded name of a field in the block_id of its input."""

READY_MADE = "sayso:or:"
"""The same for the choice of ready-made answers beside it."""

ACTION = "sayso:value"

# docs.slack.dev, block kit reference.
_OPTION = 75
_VALUE = 150
_HINT = 2_000
_BLOCK_ID = 255
_MOST_BUTTONS = 10  # options of radio buttons and of checkboxes
MOST_OPTIONS = 100  # of a menu
LONGEST_TEXT = 3_000  # of a plain-text input
_DATE = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])", re.ASCII)

# Slack echoes & < > of blocks as HTML entities (slackapi/bolt-python issue 513) and does not say
# where else it does.
_HELD_BACK = re.compile(r"[%&<>]")
_HELD = re.compile(r"%(25|26|3C|3E)")


def input_blocks(field: FormField, translations: NullTranslations = ENGLISH) -> Iterator[Block]:
    """Build the input of one field, and above it the text that has no room inside.

    Raises:
        DeliveryError: Slack has no input that could take an answer; it says why.
    """
    yield from _beforehand(field, translations)
    if field.suggestions:
        yield from _ready_made(field, translations)
    block: Block = {
        "type": "input",
        "block_id": _block_id(INPUT, field, translations),
        "label": plain_text(one_line(field.label, 2_000)),
        "element": {"action_id": ACTION, **_element(field, translations)},
        # One of two inputs is enough, which only the form itself can check.
        "optional": not field.required or bool(field.suggestions),
    }
    if hint := _hint(field, translations):
        block["hint"] = plain_text(hint)
    yield block


def literal_blocks(text: str) -> Iterator[Block]:
    """A text of any length as it is, in as few blocks as can hold it."""
    for chunk in chunks(visible(text)):
        yield rich_text(section(literal(chunk)))


def encode_id(text: str) -> str:
    """The text for a value or an id, so that it comes back the same whatever Slack escapes."""
    return _HELD_BACK.sub(lambda found: f"%{ord(found[0]):02X}", text)


def decode_id(text: str) -> str:
    """Decode a text that came back."""
    return _HELD.sub(lambda found: chr(int(found[1], 16)), text)


def decode_echo(text: str) -> str:
    """The text of one of our blocks as it was before Slack echoed it."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _beforehand(field: FormField, translations: NullTranslations) -> Iterator[Block]:
    """Texts that an input would cut: a long hint, and all options once one of them is too long."""
    if len(_whole_hint(field, translations)) > _HINT:
        yield from literal_blocks(f"{field.label}: {field.hint}")
    yield from _in_full(f"{field.label}:", _labels(field))


def _ready_made(field: FormField, translations: NullTranslations) -> Iterator[Block]:
    """Answers that need no typing; those that an option cannot carry are shown to be copied.

    What is shown is what is answered: also of these, nothing is invisible.
    """
    suggested = [text for text in dict.fromkeys(map(visible, field.suggestions)) if text.strip()]
    offered = [text for text in suggested if len(encode_id(text)) <= _VALUE][:MOST_OPTIONS]
    copied = [text for text in suggested if text not in offered]
    if copied:
        yield from literal_blocks(
            "\n".join((translations.gettext("Also suggested, to be copied:"), *copied))
        )
    labels = [visible(text, one_line=True).strip() for text in offered]
    title = translations.gettext("{label}: ready-made answers").format(
        label=one_line(field.label, 100)
    )
    yield from _in_full(title, labels)
    options = [
        _option(label, encode_id(text))
        for label, text in zip(_fitting(labels), offered, strict=True)
    ]
    if options:
        yield {
            "type": "input",
            "block_id": _block_id(READY_MADE, field, translations),
            "label": plain_text(title),
            "element": {"action_id": ACTION, **_one_of(options)},
            "optional": True,
        }


def _in_full(title: str, labels: list[str]) -> Iterator[Block]:
    """All labels with their numbers, where the options have to cut one."""
    if _is_cut(labels):
        lines = (f"{number}. {label}" for number, label in enumerate(labels, 1))
        yield from literal_blocks("\n".join((title, *lines)))


def _fitting(labels: list[str]) -> list[str]:
    """The labels as options have room for them; all are numbered where one has to be cut."""
    numbered = _is_cut(labels)
    return [
        one_line(f"{number}. {label}" if numbered else label, _OPTION)
        for number, label in enumerate(labels, 1)
    ]


def _is_cut(labels: list[str]) -> bool:
    return any(len(label) > _OPTION for label in labels)


def _hint(field: FormField, translations: NullTranslations) -> str:
    """The hint below the input, without the field's own where that is too long for it."""
    whole = _whole_hint(field, translations)
    return whole if len(whole) <= _HINT else _rule(field, translations)


def _whole_hint(field: FormField, translations: NullTranslations) -> str:
    return " ".join(filter(None, (visible(field.hint), _rule(field, translations))))


def _rule(field: FormField, translations: NullTranslations) -> str:
    """Say what may be left out, and what is taken instead."""
    gettext = translations.gettext
    rules: list[str] = []
    if field.kind == "list":
        rules.append(gettext("Write {lines}.").format(lines=gettext("one on each line")))
    if field.suggestions:
        if field.required:
            rules.append(gettext("One of the two is needed."))
        rules.append(gettext("What you write here counts instead of a ready-made answer."))
    if not field.required and field.initial is not None:
        rules.append(gettext("Left empty, it is removed."))
    return " ".join(rules)


def _element(field: FormField, translations: NullTranslations) -> Block:
    match field.kind:
        case "text" | "list" | "json":
            return _text_input(field, translations)
        case "email" | "url":
            return _address_input(field, translations)
        case "datetime":
            return _moment_input(field, translations)
        case "integer" | "number":
            return _number_input(field, translations)
        case "date":
            return _date_input(field)
        case "boolean":
            yes = _option(translations.gettext("Yes"), "true")
            no = _option(translations.gettext("No"), "false")
            chosen = [yes if field.initial else no] if isinstance(field.initial, bool) else []
            return _one_of([yes, no], chosen)
        case "option":
            return _one_of(
                _options(field, translations), _picked(field, [field.initial], translations)
            )
        case "options":
            initial = field.initial if isinstance(field.initial, (list, tuple)) else ()
            return _several_of(
                field, _options(field, translations), _picked(field, initial, translations)
            )


def _text_input(field: FormField, translations: NullTranslations) -> Block:
    """docs.slack.dev, plain-text input: min_length 0 to 3,000, max_length 1 to 3,000."""
    initial = "" if field.initial is None else str(field.initial)
    least, most = max(math.ceil(field.minimum or 0), 0), field.maximum
    if field.kind != "text":
        # Of a list, these count its items; a moment has none.
        initial, least, most = field.lines if field.kind == "list" else initial, 0, None
    most = LONGEST_TEXT if most is None else min(LONGEST_TEXT, int(most))
    _check_length(field, initial, translations)
    if most < max(least, 1):
        raise _unanswerable(
            field,
            translations.gettext("no text can meet both its minimum and its maximum length"),
            translations,
        )
    element: Block = {
        "type": "plain_text_input",
        "multiline": field.multiline or field.kind == "list" or "\n" in initial,
    }
    # A text to begin with that is too long can be shortened; the form itself insists on it.
    element["max_length"] = most if len(initial) <= most else LONGEST_TEXT
    if least:
        element["min_length"] = least
    if initial:
        element["initial_value"] = initial
    return element


def _check_length(field: FormField, initial: str, translations: NullTranslations) -> None:
    if len(initial) > LONGEST_TEXT:
        reason = format_count(
            translations,
            "its text has {count} character, over {most}",
            "its text has {count} characters, over {most}",
            len(initial),
            most=LONGEST_TEXT,
        )
        raise _unanswerable(field, reason, translations)


def _number_input(field: FormField, translations: NullTranslations) -> Block:
    """docs.slack.dev, number input: all numbers are strings."""
    whole = field.kind == "integer"
    low, high = _bound(field.minimum), _bound(field.maximum)
    if whole:
        low = None if low is None else Decimal(math.ceil(low))
        high = None if high is None else Decimal(math.floor(high))
    if low is not None and high is not None and low > high:
        raise _unanswerable(
            field,
            translations.gettext("no number can meet both its minimum and its maximum"),
            translations,
        )
    element: Block = {"type": "number_input", "is_decimal_allowed": not whole}
    for name, bound in (("min_value", low), ("max_value", high)):
        if bound is not None:
            element[name] = _decimal(bound)
    initial = field.initial
    if isinstance(initial, (int, float)) and math.isfinite(initial):
        number = Decimal(str(initial))
        in_range = (low is None or low <= number) and (high is None or number <= high)
        if in_range and (not whole or number == number.to_integral_value()):
            element["initial_value"] = _decimal(number)
    return element


def _address_input(field: FormField, translations: NullTranslations) -> Block:
    """docs.slack.dev, email input and URL input: they have no lengths."""
    element: Block = {"type": f"{field.kind}_text_input"}
    initial = field.initial if isinstance(field.initial, str) else ""
    _check_length(field, initial, translations)
    return {**element, "initial_value": initial} if initial else element


def _moment_input(field: FormField, translations: NullTranslations) -> Block:
    """docs.slack.dev, datetime picker: seconds since 1970, of 10 digits, in the reader's zone.

    A moment to begin with that it would not give back as it was written is a text.
    """
    element: Block = {"type": "datetimepicker"}
    if not isinstance(field.initial, str):
        return element
    seconds = int(datetime.fromisoformat(field.initial.upper()).timestamp())
    if format_moment(seconds) != field.initial or seconds % 60 or len(str(seconds)) != 10:
        return _text_input(field, translations)
    return {**element, "initial_date_time": seconds}


def format_moment(seconds: int) -> str:
    """Format a picked moment as RFC 3339."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _date_input(field: FormField) -> Block:
    element: Block = {"type": "datepicker"}
    if isinstance(field.initial, str) and _DATE.fullmatch(field.initial):
        element["initial_date"] = field.initial
    return element


def _one_of(options: list[Block], picked: Sequence[Block] = ()) -> Block:
    kind = "radio_buttons" if len(options) <= _MOST_BUTTONS else "static_select"
    element: Block = {"type": kind, "options": options}
    return {**element, "initial_option": picked[0]} if picked else element


def _several_of(field: FormField, options: list[Block], picked: list[Block]) -> Block:
    """docs.slack.dev, multi-select menu: max_selected_items is at least 1."""
    buttons = len(options) <= _MOST_BUTTONS
    element: Block = {"type": "checkboxes" if buttons else "multi_static_select"}
    element["options"] = options
    if picked:
        element["initial_options"] = picked
    most = None if field.maximum is None else int(field.maximum)
    if not buttons and most is not None and most >= max(len(picked), 1):
        element["max_selected_items"] = most
    return element


def _options(field: FormField, translations: NullTranslations) -> list[Block]:
    """Options by their positions."""
    if len(field.options) > MOST_OPTIONS:
        reason = translations.gettext("it has {count} options, over {most}").format(
            count=len(field.options), most=MOST_OPTIONS
        )
        raise _unanswerable(field, reason, translations)
    fitting = _fitting(_labels(field))
    return [_option(label, str(position)) for position, label in enumerate(fitting)]


def _picked(
    field: FormField, initial: Sequence[Any], translations: NullTranslations
) -> list[Block]:
    """The options whose values these are; any other value begins unpicked."""
    options = _options(field, translations)
    return [
        option
        for option, its in zip(options, field.options, strict=True)
        if any(type(value) is type(its.value) and value == its.value for value in initial)
        and (its.value is not None or field.kind == "options")
    ]


def _option(label: str, value: str) -> Block:
    """docs.slack.dev, option object: text 75, value 150 characters."""
    return {"text": plain_text(label), "value": value}


def _block_id(prefix: str, field: FormField, translations: NullTranslations) -> str:
    """docs.slack.dev, block kit: a block_id has at most 255 characters."""
    block_id = f"{prefix}{encode_id(field.name)}"
    if len(block_id) > _BLOCK_ID:
        raise _unanswerable(
            field, translations.gettext("its name is too long for Slack"), translations
        )
    return block_id


def _labels(field: FormField) -> list[str]:
    return [visible(option.label, one_line=True).strip() or "–" for option in field.options]


def _bound(value: float | None) -> Decimal | None:
    return None if value is None or not math.isfinite(value) else Decimal(str(value))


def _decimal(number: Decimal) -> str:
    """The number without an exponent."""
    return f"{number:f}"


def _unanswerable(field: FormField, reason: str, translations: NullTranslations) -> DeliveryError:
    label = one_line(field.label, 100)
    told = translations.gettext("Slack's dialog cannot ask for “{label}”: {reason}").format(
        label=label, reason=reason
    )
    return DeliveryError(PLATFORM, told, permanent=True)


def read_states(view: Payload) -> dict[str, Payload]:
    """The states of all inputs by block_id; docs.slack.dev: without values there is no key."""
    values = as_object(as_object(view.get("state")).get("values"))
    found: dict[str, Payload] = {}
    for block_id, elements in values.items():
        states = list(as_object(elements).values())
        if len(states) != 1 or not isinstance(states[0], dict):
            raise CallbackError("Slack form has a block without its one input")
        found[block_id] = states[0]
    return found
