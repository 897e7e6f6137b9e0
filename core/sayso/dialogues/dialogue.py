"""A form asked for question by question: where one person stands in it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from sayso.chats.places import MessageRef
from sayso.dialogues.words import ENGLISH
from sayso.forms.form import Form, FormField, Option

TYPED_KINDS = ("text", "integer", "number", "date", "datetime", "email", "url", "list", "json")

RawValue = str | list[str]


@dataclass(frozen=True, slots=True)
class Purpose:
    """What a form is filled in for: one choice on one card.

    What ``falls_back`` is decided already and only words for it are asked
    for: whoever leaves them out presses the choice of that key. ``confirmed``
    says that a second step was taken already. ``which`` and ``begins`` tell
    the card from others.
    """

    handle: str
    choice: str
    label: str
    confirmed: bool
    falls_back: str
    which: str = ""
    begins: str = ""


@dataclass(frozen=True, slots=True)
class Asking:
    """A question is asked, the one ``at`` this position; after the last one comes the summary.

    ``picked`` are the options chosen so far, ``page`` says which of them are
    shown and ``problem`` why the last answer was not taken. ``again`` are the
    fields still to be put right once the desk has refused the values; None
    while the fields are asked in order.
    """

    at: int = 0
    picked: list[str] = field(default_factory=list)
    page: int = 0
    problem: str = ""
    again: list[int] | None = None
    kind: Literal["asking"] = "asking"


@dataclass(frozen=True, slots=True)
class Filled:
    """Everything is answered: the values can go to the desk."""

    kind: Literal["filled"] = "filled"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The person wants what the choice falls back to, without words for it."""

    kind: Literal["left_out"] = "left_out"


@dataclass(frozen=True, slots=True)
class Sending:
    """The values went to the desk ``since`` then, in Unix seconds.

    Only a kept dialogue is in this state: if whoever sent the values dies, the
    next move is made from ``before``.
    """

    since: float
    before: Asking
    kind: Literal["sending"] = "sending"


@dataclass(frozen=True, slots=True)
class Ended:
    """It is over, and why."""

    why: str
    kind: Literal["ended"] = "ended"


State = Asking | Filled | LeftOut | Sending | Ended


@dataclass(frozen=True, slots=True)
class Dialogue:
    """One person's way through the form of one choice on one card. Every move makes a new one.

    ``board`` and ``prompt`` are the ids of its messages, which stand where the
    card stands; they are empty while there are none. ``visit`` counts the
    questions asked, ``seen`` are the messages that were taken as answers. ``language`` is that of
    the card.
    """

    dialogue_id: str
    actor: str
    name: str
    card: MessageRef
    purpose: Purpose
    form: Form
    expires_at: float
    initial: dict[str, RawValue] = field(default_factory=dict)
    can_type: bool = True
    values: dict[str, RawValue] = field(default_factory=dict)
    visit: int = 0
    board: str = ""
    prompt: str = ""
    seen: list[str] = field(default_factory=list)
    state: State = field(default_factory=Asking)
    language: str = ENGLISH.cards.tag

    @property
    def field(self) -> FormField | None:
        """The field that is asked for now; None at the summary and where nothing is asked."""
        if not isinstance(self.state, Asking) or self.state.at >= len(self.form.fields):
            return None
        return self.form.fields[self.state.at]

    @property
    def is_typed(self) -> bool:
        """Whether what is asked now is answered by typing."""
        return self.can_type and self.field is not None and self.field.kind in TYPED_KINDS

    @property
    def wants_buttons(self) -> bool:
        """Whether what is asked now is answered with buttons alone."""
        return isinstance(self.state, Asking) and not self.is_typed

    @property
    def ended(self) -> str:
        """Why it is over; empty while it is not."""
        return self.state.why if isinstance(self.state, Ended) else ""

    @property
    def asked(self) -> list[int]:
        """The positions of the fields that are asked for, after what was answered so far."""
        fields = enumerate(self.form.fields)
        return [at for at, _ in fields]

    @property
    def removed(self) -> list[FormField]:
        """The fields that began with a value and were answered with none."""
        end = self.state.at if isinstance(self.state, Asking) else len(self.form.fields)
        gone = [self.form.fields[at] for at in self.asked if at < end]
        return [f for f in gone if f.name in self.initial and f.name not in self.values]

    @property
    def at_hand(self) -> RawValue | None:
        """The answer given before, or the one to begin with; None where there is neither."""
        name = self.field.name if self.field else ""
        return self.values.get(name) or self.initial.get(name)

    def message(self, message_id: str) -> MessageRef:
        """One of its messages."""
        return MessageRef(self.card.place, message_id)


def typing_is_needed(dialogue: Dialogue) -> bool:
    """Whether the form has a question that no button answers."""
    return any(
        asked.kind in TYPED_KINDS
        and asked.required
        and not asked.suggestions
        and asked.name not in dialogue.initial
        for asked in dialogue.form.fields
    )


def portable(form: Form) -> tuple[Form, dict[str, RawValue]]:
    """The form as it can be kept, and what its fields begin with as raw values.

    An option's value, which may be anything, stays behind: its position says which it is.
    """
    initial = {field.name: raw for field in form.fields if (raw := _initial(field))}
    fields = tuple(
        replace(
            field,
            options=tuple(Option(o.label, str(n)) for n, o in enumerate(field.options)),
            schema="" if field.options else field.schema,  # it is about the values
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
    elif asked.kind == "list":
        raw = asked.lines
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
    """Which option has this value. True is not 1 here, as in JSON."""
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
    """The dialogue as a string, to be kept."""
    return _KEPT.dump_json(dialogue).decode()


def read_dialogue(text: str) -> Dialogue | None:
    """The dialogue that was kept; None when another version kept it and it cannot be read."""
    try:
        return _KEPT.validate_json(text)
    except ValidationError:
        return None
