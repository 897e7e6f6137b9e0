"""A conversation as values to be shown: the board with its buttons, and the prompt to reply to.

A platform renders them: it decides how they look and cuts what has no room.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from gettext import NullTranslations

from sayso.forms.field_texts import describe_kind
from sayso.forms.form import FormField
from sayso.locales import ENGLISH
from sayso.platforms.conversation_steps import Conversation, FormButton, RawValue, Word

_SHORT_LABEL = 10
_A_ROW = 3


@dataclass(frozen=True, slots=True)
class Person:
    """The person who fills in a form: the only one who may reply, and their name."""

    actor: str
    name: str


@dataclass(frozen=True, slots=True)
class Offer:
    """A button. ``short`` says as much where there is no room for ``label``.

    ``is_main`` is the one that leads on.
    """

    label: str
    button: FormButton
    short: str = ""
    is_main: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """The question of now.

    ``so_far`` is a typed answer that ``keep`` would keep. ``choices`` are the labels of
    the options in full. ``how`` says in which way to answer, empty where the buttons say it.
    """

    label: str
    hint: str
    is_required: bool
    is_typed: bool
    problem: str
    so_far: str
    keep: Offer | None
    choices: tuple[str, ...]
    how: str


@dataclass(frozen=True, slots=True)
class Board:
    """The answers so far and the question of now.

    Without a ``question`` it is the summary, or ``ended`` says why it is over.
    ``step`` counts the questions, as in *2 of 5*; None where there is nothing
    to count. A prompt follows one that ``is_quiet``: that notifies the person.
    """

    title: str
    which: str
    begins: str
    person: Person
    note: str
    step: tuple[int, int] | None
    answers: tuple[tuple[str, str], ...]
    question: Question | None
    ended: str
    rows: tuple[tuple[Offer, ...], ...]
    is_quiet: bool
    translations: NullTranslations = ENGLISH


@dataclass(frozen=True, slots=True)
class Prompt:
    """The message that is replied to; it asks one person alone for what is ``wanted``."""

    person: Person
    label: str
    wanted: str
    which: str
    begins: str
    problem: str
    translations: NullTranslations = ENGLISH


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence of ours, which may quote a name, a label or a pattern."""

    text: str
    translations: NullTranslations = ENGLISH


def show_board(conversation: Conversation, translations: NullTranslations = ENGLISH) -> Board:
    """Return the board as it is now."""
    asked, fields = conversation.field, conversation.form.fields
    is_over = conversation.state != "asking"
    given = fields if asked is None else fields[: conversation.reached]
    return Board(
        title=conversation.form.title,
        which=conversation.purpose.which,
        begins=conversation.purpose.begins,
        person=Person(conversation.actor, conversation.name),
        note="" if is_over else conversation.form.note,
        step=(conversation.step + 1, len(fields)) if asked and len(fields) > 1 else None,
        answers=tuple(
            (one.label, describe_value(one, conversation.values[one.name], translations))
            for one in given
            if one.name in conversation.values
        ),
        question=None if asked is None else _question(conversation, asked, translations),
        ended=conversation.ended,
        rows=() if is_over else tuple(_rows(conversation, translations)),
        is_quiet=conversation.is_typed,
        translations=translations,
    )


def show_prompt(conversation: Conversation, translations: NullTranslations = ENGLISH) -> Prompt:
    """Return the message that asks for a typed answer.

    Raises:
        ValueError: nothing is asked now.
    """
    if (asked := conversation.field) is None:
        raise ValueError("a prompt needs a question")
    return Prompt(
        person=Person(conversation.actor, conversation.name),
        label=asked.label,
        wanted="" if asked.kind == "text" else _describe_wanted(asked, translations),
        which=conversation.purpose.which,
        begins=conversation.purpose.begins,
        problem=conversation.problem,
        translations=translations,
    )


def describe_value(asked: FormField, raw: RawValue, translations: NullTranslations) -> str:
    """Return a raw value as a person reads it."""
    if asked.kind == "boolean":
        return translations.gettext("Yes") if raw == "true" else translations.gettext("No")
    if asked.kind == "option" and isinstance(raw, str):
        return asked.options[int(raw)].label
    if isinstance(raw, list):
        return ", ".join(asked.options[int(position)].label for position in raw)
    return raw


def _question(
    conversation: Conversation, asked: FormField, translations: NullTranslations
) -> Question:
    how = ""
    if conversation.is_typed:
        can_press = bool(asked.suggestions) or conversation.value is not None
        how = (
            translations.gettext("Reply with {what}, or press a button.")
            if can_press
            else translations.gettext("Reply with {what}.")
        ).format(what=_describe_wanted(asked, translations))
    elif asked.kind not in ("boolean", "option", "options"):
        how = translations.gettext("Nobody can type an answer here: press a button.")
    keep = _keep(conversation, asked, translations)
    return Question(
        label=asked.label,
        hint=asked.hint,
        is_required=asked.required,
        is_typed=conversation.is_typed,
        problem=conversation.problem,
        so_far=_so_far(conversation, asked, translations) if keep else "",
        keep=keep,
        choices=tuple(_labels(asked)),
        how=how,
    )


def _rows(
    conversation: Conversation, translations: NullTranslations
) -> Iterator[tuple[Offer, ...]]:
    """Yield the buttons: the answers, then the steps."""
    asked = conversation.field
    if asked is None:
        send = conversation.form.submit or translations.gettext("Send")
        yield (_offer(conversation, send, "send", is_main=True),)
    else:
        yield from _answer_rows(conversation, asked, translations)
    steps = []
    if conversation.step:
        steps.append(
            _offer(conversation, "« {back}".format(back=translations.gettext("Back")), "back")
        )
    if asked is not None and not asked.required:
        steps.append(_offer(conversation, translations.gettext("Skip"), "skip"))
    leave_out = conversation.form.leave_out or translations.gettext("Leave it out")
    leave = leave_out if conversation.purpose.falls_back else translations.gettext("Cancel")
    yield (*steps, _offer(conversation, leave, "cancel"))


def _answer_rows(
    conversation: Conversation, asked: FormField, translations: NullTranslations
) -> Iterator[tuple[Offer, ...]]:
    labels = _labels(asked)
    if asked.kind == "boolean":
        yield (
            _offer(conversation, translations.gettext("Yes"), "pick", 1),
            _offer(conversation, translations.gettext("No"), "pick", 0),
        )
    offers = []
    for number, label in enumerate(labels):
        if str(number) in conversation.picked:
            offers.append(_offer(conversation, f"✓ {label}", "unpick", number))
        else:
            offers.append(_offer(conversation, label, "pick", number))
    width = _A_ROW if all(len(label) <= _SHORT_LABEL for label in labels) else 1
    for start in range(0, len(offers), width):
        yield tuple(offers[start : start + width])
    if asked.kind == "options":
        picked = len(conversation.picked)
        done = "{done} ({count})" if picked else translations.gettext("{done}: none of them")
        label = done.format(done=translations.gettext("Done"), count=picked)
        yield (_offer(conversation, label, "done", is_main=True),)
    elif keep := _keep(conversation, asked, translations):
        yield (keep,)


def _keep(
    conversation: Conversation, asked: FormField, translations: NullTranslations
) -> Offer | None:
    """Return the button for the value that the field has; None where it has none."""
    if not (so_far := _so_far(conversation, asked, translations)):
        return None
    label = translations.gettext("Keep: {answer}").format(answer=so_far)
    return _offer(conversation, label, "keep", short=translations.gettext("Keep it as it is"))


def _so_far(conversation: Conversation, asked: FormField, translations: NullTranslations) -> str:
    value = conversation.value
    return describe_value(asked, value, translations) if isinstance(value, str) else ""


def _describe_wanted(asked: FormField, translations: NullTranslations) -> str:
    if asked.kind == "list":
        return translations.gettext("one on each line")
    return (
        translations.gettext("your answer")
        if asked.kind == "text"
        else describe_kind(asked.kind, translations)
    )


def _offer(
    conversation: Conversation,
    label: str,
    word: Word,
    number: int = 0,
    *,
    short: str = "",
    is_main: bool = False,
) -> Offer:
    button = FormButton(conversation.conversation_id, conversation.step, word, number)
    return Offer(label, button, short, is_main)


def _labels(asked: FormField) -> Sequence[str]:
    return [option.label for option in asked.options] or asked.suggestions
