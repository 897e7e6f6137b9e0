"""A form asked question by question: one person's state, and the step after each answer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from gettext import NullTranslations
from typing import Literal, get_args

from pydantic import TypeAdapter, ValidationError

from sayso.chats.places import MessageRef
from sayso.forms.form import Form, FormField, Option
from sayso.locales import ENGLISH, locale_of

RawValue = str | list[str]
State = Literal["asking", "filled", "left_out", "ended"]
Word = Literal["pick", "unpick", "done", "keep", "skip", "back", "send", "cancel"]

MAX_OPTIONS = 90
"""A keyboard holds 100 buttons; the steps need some of them."""

_PRESSED_KINDS = ("boolean", "option", "options")
_MAX_SEEN = 50
# `f1:` + 22 + `:` + 3 + `:` + 6 + `:` + 3 takes 39 bytes; a button of the strictest chat holds 64.
_DATA = re.compile(
    r"f1:(?P<conversation>[A-Za-z0-9_-]{16,39}):(?P<step>\d{1,3}):(?P<word>[a-z]{2,6})"
    r":(?P<number>\d{1,3})",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class FormButton:
    """A button of a form: an answer to the question of one step, or another step.

    ``number`` is the position of an option or a suggestion; of a boolean, 1 is yes.
    """

    conversation: str
    step: int
    word: Word
    number: int = 0


@dataclass(frozen=True, slots=True)
class Purpose:
    """The choice on a card that a form is filled in for.

    A choice that ``falls_back`` is decided already: a person who leaves the form presses
    the choice of that key. ``confirmed`` says that a second step was taken already. ``which``
    and ``begins`` tell the card from others.
    """

    handle: str
    choice: str
    label: str
    confirmed: bool
    falls_back: str
    which: str = ""
    begins: str = ""


@dataclass(frozen=True, slots=True)
class Conversation:
    """One person's way through a form. Every step makes a new one.

    ``step`` is the position of the question; after the last one comes the summary. ``reached``
    is the last step so far.
    ``values`` begin with what the form begins with. ``picked`` are the options chosen so far,
    ``problem`` says why the last answer was not taken. ``board`` and ``prompt`` are the ids of its
    messages. ``seen`` are the messages that were taken as answers. ``sent_at`` is set while the
    worker has the values, ``ended`` says why it is over.
    """

    conversation_id: str
    actor: str
    name: str
    card: MessageRef
    purpose: Purpose
    form: Form
    expires_at: float
    values: dict[str, RawValue] = field(default_factory=dict)
    can_type: bool = True
    language: str = locale_of(ENGLISH)
    state: State = "asking"
    step: int = 0
    reached: int = 0
    picked: list[str] = field(default_factory=list)
    problem: str = ""
    board: str = ""
    prompt: str = ""
    seen: list[str] = field(default_factory=list)
    sent_at: float = 0.0
    ended: str = ""

    @property
    def field(self) -> FormField | None:
        """The field that is asked for now; None at the summary and where nothing is asked."""
        if self.state != "asking" or self.step >= len(self.form.fields):
            return None
        return self.form.fields[self.step]

    @property
    def is_typed(self) -> bool:
        """True if the question of now is answered by typing."""
        return self.can_type and self.field is not None and self.field.kind not in _PRESSED_KINDS

    @property
    def value(self) -> RawValue | None:
        """The value of the field that is asked for now, if it has one."""
        return self.values.get(self.field.name) if self.field else None

    def message(self, message_id: str) -> MessageRef:
        """Return the address of one of its messages."""
        return MessageRef(self.card.place, message_id)


def write_button(button: FormButton) -> str:
    """Write the button as at most 64 bytes for a platform to hand back.

    Raises:
        ValueError: our own reader would not take it.
    """
    data = f"f1:{button.conversation}:{button.step}:{button.word}:{button.number}"
    if read_button(data) != button:
        raise ValueError("a form's button carries a conversation, a step, a word and a number")
    return data


def read_button(data: str) -> FormButton | None:
    """Read a button of a form; None for any other string, which clients can send at will."""
    match = _DATA.fullmatch(data)
    words: Mapping[str, Word] = {word: word for word in get_args(Word)}
    word = words.get(match["word"]) if match else None
    if match is None or word is None:
        return None
    return FormButton(match["conversation"], int(match["step"]), word, int(match["number"]))


def needs_typing(conversation: Conversation) -> bool:
    """Return True if the form has a question that no button answers."""
    return any(
        one.kind not in _PRESSED_KINDS
        and one.required
        and not one.suggestions
        and one.name not in conversation.values
        for one in conversation.form.fields
    )


def detach_values(form: Form) -> tuple[Form, dict[str, RawValue]]:
    """Return the form as it can be kept, and the raw values that it begins with.

    The value of an option, which may be anything, is replaced by its position.
    """
    values = {one.name: raw for one in form.fields if (raw := _initial(one))}
    fields = tuple(
        replace(
            one,
            options=tuple(Option(o.label, str(n)) for n, o in enumerate(one.options)),
            schema="" if one.options else one.schema,  # it is about the values
            initial=None,
        )
        for one in form.fields
    )
    return replace(form, fields=fields), values


def go_to(conversation: Conversation, step: int, problem: str = "") -> Conversation:
    """Ask the question of a step, or show the summary after the last one."""
    reached = max(conversation.reached, step)
    there = replace(conversation, state="asking", step=step, reached=reached, problem=problem)
    value = there.value
    return replace(there, picked=list(value) if isinstance(value, list) else [])


def type_answer(
    conversation: Conversation, text: str, message_id: str, translations: NullTranslations = ENGLISH
) -> Conversation:
    """Take a typed answer.

    Raises:
        ValueError: nothing is asked now.
    """
    if (asked := conversation.field) is None:
        raise ValueError("a typed answer needs a question")
    raw = text if asked.kind in ("text", "list", "json") else text.strip()
    seen = [*conversation.seen, message_id][-_MAX_SEEN:]
    return _answer(replace(conversation, seen=seen), asked, raw, translations)


def press_button(
    conversation: Conversation, button: FormButton, translations: NullTranslations = ENGLISH
) -> Conversation | None:
    """Take a press; None where the question of now has no such button."""
    asked = conversation.field
    if button.step != conversation.step or conversation.state != "asking":
        return None
    match button.word:
        case "cancel":
            if conversation.purpose.falls_back:
                return replace(conversation, state="left_out", values={})
            return end(conversation, translations.gettext("Cancelled: nothing was decided."))
        case "back":
            return go_to(conversation, button.step - 1) if button.step else None
        case "send":
            return replace(conversation, state="filled") if asked is None else None
    if asked is None:
        return None
    match button.word:
        case "skip":
            others = {k: raw for k, raw in conversation.values.items() if k != asked.name}
            return None if asked.required else _next(replace(conversation, values=others))
        case "keep":
            raw = conversation.value
        case "done":
            raw = conversation.picked if asked.kind == "options" else None
        case _:
            return _pick(conversation, asked, button, translations)
    return None if raw is None else _answer(conversation, asked, raw, translations)


def correct(
    conversation: Conversation,
    problems: Mapping[str, str],
    translations: NullTranslations = ENGLISH,
) -> Conversation:
    """Go back to the first field whose value was refused, with all values kept."""
    conversation = replace(conversation, reached=len(conversation.form.fields))
    for step, one in enumerate(conversation.form.fields):
        if one.name in problems:
            return go_to(conversation, step, problems[one.name])
    problem = "; ".join(problems.values()) or translations.gettext(
        "these answers do not fit together"
    )
    return go_to(conversation, len(conversation.form.fields) - 1, problem)


def end(conversation: Conversation, why: str) -> Conversation:
    """Close the conversation and forget its values."""
    return replace(conversation, state="ended", ended=why, values={}, picked=[], problem="")


def _answer(
    conversation: Conversation, asked: FormField, raw: RawValue, translations: NullTranslations
) -> Conversation:
    try:
        asked.read(raw, translations)
    except ValueError as error:
        return go_to(conversation, conversation.step, str(error))
    values = {name: one for name, one in conversation.values.items() if name != asked.name}
    return _next(replace(conversation, values={**values, asked.name: raw} if raw else values))


def _pick(
    conversation: Conversation, asked: FormField, button: FormButton, translations: NullTranslations
) -> Conversation | None:
    """Take an option, a suggestion, or yes or no; add or remove one of several options."""
    number = button.number
    if asked.kind == "boolean":
        return _answer(conversation, asked, "true" if number else "false", translations)
    if number >= len(asked.options or asked.suggestions):
        return None
    if asked.kind == "option":
        return _answer(conversation, asked, str(number), translations)
    if asked.kind == "text":
        return _answer(conversation, asked, asked.suggestions[number], translations)
    # A press that is delivered twice picks once.
    picked = {int(position) for position in conversation.picked} - {number}
    picked |= {number} if button.word == "pick" else set()
    return replace(conversation, picked=[str(one) for one in sorted(picked)], problem="")


def _next(conversation: Conversation) -> Conversation:
    """Ask the next question; after the last one, show the summary or send the values."""
    count, step = len(conversation.form.fields), conversation.step + 1
    if step < count or (conversation.form.confirms and count > 1):
        return go_to(conversation, step)
    return replace(conversation, state="filled", problem="")


def _initial(asked: FormField) -> RawValue | None:
    """Return the raw value that a field begins with; None where an input cannot stand for it."""
    try:
        if asked.kind == "json":
            raw = asked.initial
        else:
            raw = asked.lines if asked.kind == "list" else asked.to_raw(asked.initial)
        asked.read(raw)
    except ValueError:
        return None
    if isinstance(raw, bool):
        return "true" if raw else "false"
    return raw if isinstance(raw, str) else list(raw or ())


_KEPT: TypeAdapter[Conversation] = TypeAdapter(Conversation)


def write_conversation(conversation: Conversation) -> str:
    """Write the conversation as text."""
    return _KEPT.dump_json(conversation).decode()


def read_conversation(text: str) -> Conversation | None:
    """Read a conversation; None where another version wrote it and it cannot be read."""
    try:
        return _KEPT.validate_json(text)
    except ValidationError:
        return None
