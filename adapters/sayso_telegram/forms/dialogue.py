"""A form asked for question by question: where one person stands in it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import TypeAdapter, ValidationError

from sayso.forms.form import Form, FormField, Option

TYPED_KINDS = ("text", "integer", "number", "date")

RawValue = str | list[str]


@dataclass(frozen=True, slots=True)
class Dialogue:
    """One person's way through the form of one choice on one card. Every move makes a new one.

    ``at`` is the question asked now; after the last one come the summary,
    where there is one, and ``ready``: everything can be sent. ``visit`` counts
    the questions asked. ``board`` and ``prompt`` are the messages in the
    chat, ``seen`` those that were taken as answers. ``sent_at`` is when the
    values went to the desk, in Unix seconds, 0 while they are not with it;
    ``was_refused`` says that they came back and only ``to_fix`` is asked again.
    ``ended`` says why it is over, empty while it is not. What ``falls_back``
    is decided already, and only words for it are asked for: left out, the
    choice of that key is pressed. ``which`` and ``begins`` tell the card from
    others.
    """

    dialogue_id: str
    user_id: int
    name: str
    chat_id: int
    thread_id: int | None
    card_id: int
    handle: str
    choice: str
    label: str
    confirmed: bool
    falls_back: str
    expires_at: float
    form: Form
    which: str = ""
    begins: str = ""
    initial: dict[str, RawValue] = field(default_factory=dict)
    can_type: bool = True
    at: int = 0
    values: dict[str, RawValue] = field(default_factory=dict)
    picked: list[str] = field(default_factory=list)
    to_fix: list[int] = field(default_factory=list)
    page: int = 0
    problem: str = ""
    visit: int = 0
    board: int = 0
    prompt: int = 0
    seen: list[int] = field(default_factory=list)
    ready: bool = False
    left_out: bool = False
    sent_at: float = 0.0
    was_refused: bool = False
    ended: str = ""

    @property
    def field(self) -> FormField | None:
        """The field that is asked for now; None at the summary."""
        return self.form.fields[self.at] if self.at < len(self.form.fields) else None

    @property
    def is_typed(self) -> bool:
        """Whether the question is answered by typing."""
        return self.can_type and self.field is not None and self.field.kind in TYPED_KINDS

    @property
    def wants_buttons(self) -> bool:
        """Whether what is asked now is answered with buttons alone."""
        return not (self.ended or self.is_typed)

    @property
    def removed(self) -> list[FormField]:
        """The fields that began with a value and were answered with none."""
        asked = self.form.fields[: self.at]
        return [f for f in asked if f.name in self.initial and f.name not in self.values]

    @property
    def at_hand(self) -> RawValue | None:
        """The answer of before, or the one to begin with; None where there is neither."""
        name = self.field.name if self.field else ""
        return self.values.get(name) or self.initial.get(name)


def portable(form: Form) -> tuple[Form, dict[str, RawValue]]:
    """The form as it can be kept, and what its fields begin with as raw values.

    An option's value, which may be anything, stays behind: its position says which it is.
    """
    initial = {field.name: raw for field in form.fields if (raw := _initial(field))}
    fields = tuple(
        replace(
            field,
            options=tuple(Option(o.label, str(n)) for n, o in enumerate(field.options)),
            initial=None,
        )
        for field in form.fields
    )
    return replace(form, fields=fields), initial


def _initial(asked: FormField) -> RawValue | None:
    value = asked.initial
    if value is None:
        return None
    raw: RawValue | None
    if asked.kind == "options":
        positions = [_position(asked, one) for one in value]
        raw = [position for position in positions if position is not None]
    elif asked.kind == "option":
        raw = _position(asked, value)
    elif asked.kind == "boolean":
        raw = "true" if value else "false"
    else:
        raw = str(value)
    try:
        asked.read(raw)
    except ValueError:
        return None
    return raw


def _position(asked: FormField, value: Any) -> str | None:
    """True is no 1 here, as it is none in JSON."""
    return next(
        (
            str(number)
            for number, option in enumerate(asked.options)
            if type(option.value) is type(value) and option.value == value
        ),
        None,
    )


_KEPT: TypeAdapter[Dialogue] = TypeAdapter(Dialogue)


def dialogue_text(dialogue: Dialogue) -> str:
    """The dialogue as text, to be kept."""
    return _KEPT.dump_json(dialogue).decode()


def read_dialogue(text: str) -> Dialogue | None:
    """The dialogue that was kept; None when another version kept it and it cannot be read."""
    try:
        return _KEPT.validate_json(text)
    except ValidationError:
        return None
