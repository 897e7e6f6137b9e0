"""A conversation as values to be shown: the board with its buttons, and the prompt to reply to.

A platform renders them: it decides how they look and cuts what has no room.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sayso.forms.form import FormField, describe_kind
from sayso.forms.words import FormWords
from sayso.platforms.conversation_steps import Conversation, FormButton, RawValue, Word
from sayso.platforms.words import ENGLISH, ConversationWords

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
    words: ConversationWords = ENGLISH


@dataclass(frozen=True, slots=True)
class Prompt:
    """The message that is replied to; it asks one person alone for what is ``wanted``."""

    person: Person
    label: str
    wanted: str
    which: str
    begins: str
    problem: str
    words: ConversationWords = ENGLISH


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence of ours, which may quote a name, a label or a pattern."""

    text: str
    words: ConversationWords = ENGLISH


def show_board(conversation: Conversation, words: ConversationWords = ENGLISH) -> Board:
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
            (one.label, describe_value(one, conversation.values[one.name], words.cards.forms))
            for one in given
            if one.name in conversation.values
        ),
        question=None if asked is None else _question(conversation, asked, words),
        ended=conversation.ended,
        rows=() if is_over else tuple(_rows(conversation, words)),
        is_quiet=conversation.is_typed,
        words=words,
    )


def show_prompt(conversation: Conversation, words: ConversationWords = ENGLISH) -> Prompt:
    """Return the message that asks for a typed answer.

    Raises:
        ValueError: nothing is asked now.
    """
    if (asked := conversation.field) is None:
        raise ValueError("a prompt needs a question")
    return Prompt(
        person=Person(conversation.actor, conversation.name),
        label=asked.label,
        wanted="" if asked.kind == "text" else _describe_wanted(asked, words),
        which=conversation.purpose.which,
        begins=conversation.purpose.begins,
        problem=conversation.problem,
        words=words,
    )


def describe_value(asked: FormField, raw: RawValue, words: FormWords) -> str:
    """Return a raw value as a person reads it."""
    if asked.kind == "boolean":
        return words.yes if raw == "true" else words.no
    if asked.kind == "option" and isinstance(raw, str):
        return asked.options[int(raw)].label
    if isinstance(raw, list):
        return ", ".join(asked.options[int(position)].label for position in raw)
    return raw


def _question(conversation: Conversation, asked: FormField, words: ConversationWords) -> Question:
    how = ""
    if conversation.is_typed:
        can_press = bool(asked.suggestions) or conversation.value is not None
        how = (words.reply_or_press if can_press else words.reply_with).format(
            what=_describe_wanted(asked, words)
        )
    elif asked.kind not in ("boolean", "option", "options"):
        how = words.press_a_button
    keep = _keep(conversation, asked, words)
    return Question(
        label=asked.label,
        hint=asked.hint,
        is_required=asked.required,
        is_typed=conversation.is_typed,
        problem=conversation.problem,
        so_far=_so_far(conversation, asked, words) if keep else "",
        keep=keep,
        choices=tuple(_labels(asked)),
        how=how,
    )


def _rows(conversation: Conversation, words: ConversationWords) -> Iterator[tuple[Offer, ...]]:
    """Yield the buttons: the answers, then the steps."""
    asked, forms = conversation.field, words.cards.forms
    if asked is None:
        send = conversation.form.submit or forms.send
        yield (_offer(conversation, send, "send", is_main=True),)
    else:
        yield from _answer_rows(conversation, asked, words)
    steps = []
    if conversation.step:
        steps.append(_offer(conversation, words.back.format(back=forms.back), "back"))
    if asked is not None and not asked.required:
        steps.append(_offer(conversation, forms.skip, "skip"))
    leave_out = conversation.form.leave_out or forms.leave_out
    leave = leave_out if conversation.purpose.falls_back else forms.cancel
    yield (*steps, _offer(conversation, leave, "cancel"))


def _answer_rows(
    conversation: Conversation, asked: FormField, words: ConversationWords
) -> Iterator[tuple[Offer, ...]]:
    forms, labels = words.cards.forms, _labels(asked)
    if asked.kind == "boolean":
        yield (
            _offer(conversation, forms.yes, "pick", 1),
            _offer(conversation, forms.no, "pick", 0),
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
        done = words.done if picked else words.done_with_none
        label = done.format(done=forms.done, count=picked)
        yield (_offer(conversation, label, "done", is_main=True),)
    elif keep := _keep(conversation, asked, words):
        yield (keep,)


def _keep(conversation: Conversation, asked: FormField, words: ConversationWords) -> Offer | None:
    """Return the button for the value that the field has; None where it has none."""
    if not (so_far := _so_far(conversation, asked, words)):
        return None
    label = words.keep.format(answer=so_far)
    return _offer(conversation, label, "keep", short=words.keep_it)


def _so_far(conversation: Conversation, asked: FormField, words: ConversationWords) -> str:
    value = conversation.value
    return describe_value(asked, value, words.cards.forms) if isinstance(value, str) else ""


def _describe_wanted(asked: FormField, words: ConversationWords) -> str:
    forms = words.cards.forms
    if asked.kind == "list":
        return forms.lines
    return words.your_answer if asked.kind == "text" else describe_kind(asked.kind, forms)


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
