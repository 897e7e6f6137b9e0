"""A dialogue as values to be shown: the board with its buttons, and the prompt to reply to.

A platform renders them: it decides how they look and cuts what has no room.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sayso.dialogues.buttons import FormButton, Word
from sayso.dialogues.dialogue import TYPED_KINDS, Asking, Dialogue, RawValue
from sayso.dialogues.words import ENGLISH, DialogueWords
from sayso.forms.form import FormField, describe_kind
from sayso.forms.words import FormWords

_SHORT_LABEL = 10
_A_ROW = 3


@dataclass(frozen=True, slots=True)
class Person:
    """Whose dialogue it is: who may reply, and what they are called."""

    actor: str
    name: str


@dataclass(frozen=True, slots=True)
class Offer:
    """A button. ``short`` says as much where there is no room for ``label``, if anything does.

    ``is_main`` is the one that leads on.
    """

    label: str
    button: FormButton
    short: str = ""
    is_main: bool = False


@dataclass(frozen=True, slots=True)
class Given:
    """What a field was answered with; ``was_removed``: with nothing, and it began with this."""

    label: str
    value: str
    was_removed: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked now.

    ``so_far`` is an answer that can be kept; ``keep`` the button for it.
    ``choices`` are the labels of this page in full, numbered from ``first``.
    ``how`` says in which way to answer, empty where the buttons say it.
    """

    label: str
    hint: str
    is_required: bool
    is_typed: bool
    problem: str
    so_far: str
    keep: Offer | None
    choices: tuple[str, ...]
    first: int
    how: str


@dataclass(frozen=True, slots=True)
class Board:
    """Where the form stands: what was answered, and what is asked now.

    Without a ``question`` it is the summary, or ``ended`` says why it is over.
    ``step`` counts the questions, as in *2 of 5*; None where there is nothing
    to count. A prompt follows one that ``is_quiet``: that is what notifies the
    person.
    """

    title: str
    which: str
    begins: str
    person: Person
    note: str
    step: tuple[int, int] | None
    answers: tuple[Given, ...]
    question: Question | None
    ended: str
    rows: tuple[tuple[Offer, ...], ...]
    is_quiet: bool
    words: DialogueWords = ENGLISH


@dataclass(frozen=True, slots=True)
class Prompt:
    """The message that is replied to; it asks one person alone. ``wanted`` is what for."""

    person: Person
    label: str
    wanted: str
    which: str
    begins: str
    problem: str
    words: DialogueWords = ENGLISH


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence of ours, which may quote a name, a label or a pattern."""

    said: str
    words: DialogueWords = ENGLISH


def board(dialogue: Dialogue, *, options_a_page: int, words: DialogueWords = ENGLISH) -> Board:
    """The board as it is now, with so many buttons of a choice at a time."""
    state, asked = dialogue.state, dialogue.field
    is_over = not isinstance(state, Asking)
    shown = _Shown(dialogue, options_a_page, words)
    return Board(
        title=dialogue.form.title,
        which=dialogue.purpose.which,
        begins=dialogue.purpose.begins,
        person=Person(dialogue.actor, dialogue.name),
        note="" if is_over else dialogue.form.note,
        step=_step(dialogue, state) if isinstance(state, Asking) and asked else None,
        answers=tuple(_answers(dialogue, words)),
        question=None if asked is None else shown.question(asked),
        ended=dialogue.ended,
        rows=() if is_over else tuple(shown.rows()),
        is_quiet=dialogue.is_typed,
        words=words,
    )


def _step(dialogue: Dialogue, state: Asking) -> tuple[int, int] | None:
    """Which of the questions it is; how many there are may hang on what is answered."""
    asked = dialogue.asked
    return (asked.index(state.at) + 1, len(asked)) if len(dialogue.form.fields) > 1 else None


def prompt(dialogue: Dialogue, words: DialogueWords = ENGLISH) -> Prompt:
    """The message that asks for what is typed.

    Raises:
        ValueError: nothing is asked now.
    """
    state, asked = dialogue.state, dialogue.field
    if not isinstance(state, Asking) or asked is None:
        raise ValueError("a dialogue has a prompt only while it asks a question")
    return Prompt(
        person=Person(dialogue.actor, dialogue.name),
        label=asked.label,
        wanted="" if asked.kind == "text" else _wanted(asked, words),
        which=dialogue.purpose.which,
        begins=dialogue.purpose.begins,
        problem=state.problem,
        words=words,
    )


def in_words(asked: FormField, raw: RawValue, words: FormWords) -> str:
    """A raw value as a person reads it."""
    if asked.kind == "boolean":
        return words.yes if raw == "true" else words.no
    if asked.kind == "option" and isinstance(raw, str):
        return asked.options[int(raw)].label
    if isinstance(raw, list):
        return ", ".join(asked.options[int(position)].label for position in raw)
    return raw


def _answers(dialogue: Dialogue, words: DialogueWords) -> Iterator[Given]:
    forms = words.cards.forms
    for asked in dialogue.form.fields:
        if asked.name in dialogue.values:
            yield Given(asked.label, in_words(asked, dialogue.values[asked.name], forms))
    for asked in dialogue.removed:
        value = in_words(asked, dialogue.initial[asked.name], forms)
        yield Given(asked.label, value, was_removed=True)


def _wanted(asked: FormField, words: DialogueWords) -> str:
    """What is to be typed."""
    forms = words.cards.forms
    if asked.kind == "list":
        return forms.lines
    return words.your_answer if asked.kind == "text" else describe_kind(asked.kind, forms)


class _Shown:
    """A dialogue and how much of it is shown at a time."""

    def __init__(self, dialogue: Dialogue, options_a_page: int, words: DialogueWords) -> None:
        self._dialogue = dialogue
        self._state = dialogue.state if isinstance(dialogue.state, Asking) else Asking()
        self._a_page = options_a_page
        self._words = words
        self._forms = words.cards.forms

    def question(self, asked: FormField) -> Question:
        """What is asked now."""
        labels = _labels(asked)
        page = self._on_page(labels)
        keep = self._keep(asked)
        return Question(
            label=asked.label,
            hint=asked.hint,
            is_required=asked.required,
            is_typed=self._dialogue.is_typed,
            problem=self._state.problem,
            so_far=self._so_far(asked),
            keep=keep,
            choices=tuple(labels[number] for number in page),
            first=page.start + 1,
            how=self._how(asked),
        )

    def rows(self) -> Iterator[tuple[Offer, ...]]:
        """The buttons: the answers, then the steps."""
        dialogue, asked, forms = self._dialogue, self._dialogue.field, self._forms
        back = self._words.back.format(back=forms.back)
        yield from self._answer_rows(asked)
        steps = [self._offer(back, "back")] if self._state.at > 0 else []
        if asked is not None and not asked.required:
            words = forms.remove if asked.name in dialogue.initial else forms.skip
            steps.append(self._offer(words, "skip"))
        leave_out = dialogue.form.leave_out or forms.leave_out
        words = leave_out if dialogue.purpose.falls_back else forms.cancel
        yield (*steps, self._offer(words, "cancel"))

    def _answer_rows(self, asked: FormField | None) -> Iterator[tuple[Offer, ...]]:
        if asked is None:
            yield (
                self._offer(self._dialogue.form.submit or self._forms.send, "send", is_main=True),
            )
            return
        if asked.kind == "boolean":
            yield self._offer(self._forms.yes, "yes"), self._offer(self._forms.no, "no")
        else:
            yield from self._choice_rows(asked)
        if asked.kind == "options":
            picked = len(self._state.picked)
            done = self._words.done if picked else self._words.done_with_none
            words = done.format(done=self._forms.done, count=picked)
            yield (self._offer(words, "done", is_main=True),)
        elif keep := self._keep(asked):
            yield (keep,)

    def _choice_rows(self, asked: FormField) -> Iterator[tuple[Offer, ...]]:
        labels = _labels(asked)
        shown = self._on_page(labels)
        offers = [self._choice(asked, number, labels[number]) for number in shown]
        width = _A_ROW if all(len(labels[number]) <= _SHORT_LABEL for number in shown) else 1
        for start in range(0, len(offers), width):
            yield tuple(offers[start : start + width])
        pages = -(-len(labels) // self._a_page)
        if pages > 1:
            here = min(self._state.page, pages - 1)
            before, after = (here - 1) % pages, (here + 1) % pages
            yield (
                self._offer("‹", "page", before),
                self._offer(f"{here + 1}/{pages}", "page", here),
                self._offer("›", "page", after),
            )

    def _choice(self, asked: FormField, number: int, label: str) -> Offer:
        if asked.kind == "option":
            return self._offer(label, "option", number)
        if asked.kind == "text":
            return self._offer(label, "suggest", number)
        is_picked = str(number) in self._state.picked
        words = f"✓ {label}" if is_picked else label
        return self._offer(words, "unpick" if is_picked else "pick", number)

    def _so_far(self, asked: FormField) -> str:
        at_hand = self._dialogue.at_hand
        return in_words(asked, at_hand, self._forms) if isinstance(at_hand, str) else ""

    def _keep(self, asked: FormField) -> Offer | None:
        """The button for an answer that can be kept; None where there is none."""
        if not (so_far := self._so_far(asked)):
            return None
        label = self._words.keep.format(answer=so_far)
        return self._offer(label, "keep", short=self._words.keep_it)

    def _how(self, asked: FormField) -> str:
        if self._dialogue.is_typed:
            or_press = bool(asked.suggestions) or self._dialogue.at_hand is not None
            how = self._words.reply_or_press if or_press else self._words.reply_with
            return how.format(what=_wanted(asked, self._words))
        if asked.kind in TYPED_KINDS:
            return self._words.press_a_button
        return ""

    def _on_page(self, labels: Sequence[str]) -> range:
        last = max(0, (len(labels) - 1) // self._a_page)
        start = min(self._state.page, last) * self._a_page
        return range(start, min(start + self._a_page, len(labels)))

    def _offer(
        self, label: str, word: Word, number: int = 0, *, short: str = "", is_main: bool = False
    ) -> Offer:
        button = FormButton(self._dialogue.dialogue_id, self._dialogue.visit, word, number)
        return Offer(label, button, short, is_main)


def _labels(asked: FormField) -> Sequence[str]:
    return [option.label for option in asked.options] or asked.suggestions
