"""What one platform can show and ask for; whatever it says, the core has bounds of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from gettext import NullTranslations
from itertools import chain
from typing import Literal

from sayso.cards.card import LONGEST_LABEL, LONGEST_STORED, CardBody, Choice
from sayso.chats.budgets import Budget
from sayso.chats.places import Place
from sayso.forms.form import (
    LONGEST_FIELD_LABEL,
    LONGEST_OPTION,
    LONGEST_TEXT,
    MOST_FIELDS,
    MOST_OPTIONS,
    Form,
    FormField,
)
from sayso.locales import ENGLISH
from sayso.text.visible import format_count, shortened
from sayso.values.screen import NARROW, UNLIMITED

Sending = Literal["show", "update"]
"""What is done to a message: it is posted, or one that stands is changed."""


def _no_budgets(place: Place, sending: Sending) -> tuple[Budget, ...]:
    del place, sending
    return ()


def _no_problem(form: Form, translations: NullTranslations) -> str:
    del form, translations
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """One platform's limits, unless said otherwise as wide as the core's own.

    ``content`` is how many characters of content a card shows, ``reveal`` how
    many *Show all* can show. ``lines`` are those of a screen that content and description
    may take with the buttons still in sight, of so many ``columns``. ``button`` and
    ``menu`` are the longest labels of a
    choice on the card and of one behind *More…*. ``stores`` is how much of what a
    choice would store a second step can say, ``dialog`` how much it says where
    that step is easiest: of several exact wordings, the first that fits there
    is shown. ``fields`` are those of one form, ``label`` the longest label of a
    field, ``options`` those of one field, ``option`` the longest label of one of
    them, ``text`` the longest text that can be begun with or insisted on.
    ``stores``, ``dialog`` and ``text`` are counted by ``measure``, the others in
    characters. ``form_problem`` says why a form that keeps all of this does
    not fit nevertheless, in a language, and nothing where it does. ``budgets`` are those that a
    message to a place uses up. With ``lengths`` a second step offers the ``longer`` ones of a
    choice, too; without, only the choice itself is offered. What *Show all* shows is ``private``
    where nobody but the presser sees it.
    """

    content: int
    reveal: int
    lines: int = UNLIMITED
    columns: int = NARROW
    button: int = LONGEST_LABEL
    menu: int = LONGEST_LABEL
    dialog: int = LONGEST_STORED
    stores: int = LONGEST_STORED
    fields: int = MOST_FIELDS
    label: int = LONGEST_FIELD_LABEL
    options: int = MOST_OPTIONS
    option: int = LONGEST_OPTION
    text: int = LONGEST_TEXT
    measure: Callable[[str], int] = len
    form_problem: Callable[[Form, NullTranslations], str] = _no_problem
    budgets: Callable[[Place, Sending], tuple[Budget, ...]] = _no_budgets
    lengths: bool = False
    private: bool = False

    def problem(self, body: CardBody, translations: NullTranslations = ENGLISH) -> str:
        """Why the question cannot be answered here; empty when it can.

        What a person can decide without is left out instead, see ``fitted``.
        """
        fitting = _Fitting(self, translations, self.stores)
        for choice in body.choices:
            if not _is_optional(choice) and (why := fitting.why_not(choice, self.button)):
                return translations.gettext("{choice!r} cannot be asked for: {why}").format(
                    choice=choice.label, why=why
                )
        left = chain(
            fitting.offered(body.choices, self.button),
            fitting.offered(body.more, self.menu, are_optional=True),
        )
        # One is enough: of the others, ``fitted`` says which fit.
        if body.choices and next(left, None) is None:
            return translations.gettext("none of the choices fits: {why}").format(
                why=fitting.reasons[0]
            )
        return ""

    def fitted(
        self, body: CardBody, stores: int = LONGEST_STORED, translations: NullTranslations = ENGLISH
    ) -> CardBody:
        """The question as it can be asked here, where a second step has room for ``stores``.

        A choice that a person can decide without is left out where its form, its
        label, or what it would store does not fit; a fact says which and why.
        """
        fitting = _Fitting(self, translations, min(self.stores, stores))
        choices = tuple(fitting.offered(body.choices, self.button))
        more = tuple(fitting.offered(body.more, self.menu, are_optional=True))
        if not fitting.reasons:
            return replace(body, choices=choices, more=more)
        left_out = (translations.gettext("Not offered here"), "; ".join(fitting.reasons))
        return replace(body, choices=choices, more=more, facts=(*body.facts, left_out))


@dataclass(frozen=True, slots=True)
class _Fitting:
    """Holds the choices of a card against the limits; ``reasons`` say what is left out and why."""

    limits: Limits
    translations: NullTranslations
    stores: int
    reasons: list[str] = field(default_factory=list)

    def offered(
        self, choices: Sequence[Choice], label: int, *, are_optional: bool = False
    ) -> Iterator[Choice]:
        for choice in choices:
            here = self._worded(choice, label) if choice.stores else choice
            is_optional = are_optional or _is_optional(choice)
            if is_optional and (why := self.why_not(here, label)):
                self.reasons.append(f"{choice.label}: {why}")
            else:
                yield here

    def why_not(self, choice: Choice, label: int) -> str:
        """What of the choice does not fit; empty when all of it does."""
        if (count := len(choice.label)) > label:
            return self.translations.gettext(
                "its label has {count} characters, and {fit} fit"
            ).format(count=count, fit=label)
        if (count := self.limits.measure(choice.stores)) > self.stores:
            return format_count(
                self.translations,
                "what it would store has {count} character, and {fit} fit",
                "what it would store has {count} characters, and {fit} fit",
                count,
                fit=self.stores,
            )
        return self._of_form(choice.form) if choice.form is not None else ""

    def _worded(self, choice: Choice, label: int) -> Choice:
        """With the wording that fits best. It is said in full before: the label may be cut."""
        wordings = [words for words in (choice.stores, choice.stores_briefly) if words]
        rooms = [min(self.limits.dialog, self.stores), self.stores]
        name = shortened(choice.label, label)
        if choice.longer and self.limits.lengths:
            # Not in a dialog, which asks one question: all that can be chosen is said at once.
            whole = [f"{words}{choice.longer_said}" for words in wordings]
            if (said := self._first_fitting(whole, [self.stores])) is not None:
                return replace(choice, label=name, stores=said, stores_briefly="", longer_said="")
        said = self._first_fitting(wordings, rooms) or wordings[-1]
        return replace(
            choice,
            label=name,
            stores=said,
            stores_briefly="",
            longer=(),
            longer_said="",
            step="",
        )

    def _first_fitting(self, wordings: Sequence[str], rooms: Sequence[int]) -> str | None:
        measure = self.limits.measure
        fitting = (words for room in rooms for words in wordings if measure(words) <= room)
        return next(fitting, None)

    def _of_form(self, form: Form) -> str:
        fit = self.limits.fields
        if len(form.fields) > fit:
            return format_count(
                self.translations,
                "the form has {count} field, and {fit} fit",
                "the form has {count} fields, and {fit} fit",
                len(form.fields),
                fit=fit,
            )
        problems = filter(None, map(self._of_field, form.fields))
        return next(problems, "") or self.limits.form_problem(form, self.translations)

    def _of_field(self, asked: FormField) -> str:
        limits, translations, label = self.limits, self.translations, asked.label
        if len(label) > limits.label:
            return translations.gettext(
                "the label {label!r} has more than {fit} characters"
            ).format(label=label, fit=limits.label)
        if (count := len(asked.options)) > limits.options:
            return translations.gettext("{label!r} has {count} options, and {fit} fit").format(
                label=label, count=count, fit=limits.options
            )
        if any(len(option.label) > limits.option for option in asked.options):
            return translations.gettext(
                "an option of {label!r} has more than {fit} characters"
            ).format(label=label, fit=limits.option)
        initial = asked.lines if asked.kind == "list" else asked.initial
        begun = limits.measure(initial) if isinstance(initial, str) else 0
        least = asked.minimum if asked.kind == "text" and asked.minimum else 0
        if max(begun, least) > limits.text:
            return format_count(
                translations,
                "{label!r} needs a text of more than {count} character",
                "{label!r} needs a text of more than {count} characters",
                limits.text,
                label=label,
            )
        return ""


def _is_optional(choice: Choice) -> bool:
    """Whether a person can decide without it."""
    return bool(choice.stores or choice.falls_back)
