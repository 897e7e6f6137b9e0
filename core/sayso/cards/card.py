"""Cards: a request as a person sees it, before any platform renders it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property, lru_cache
from gettext import NullTranslations
from typing import Literal

from sayso.cards.buttons import is_key
from sayso.cards.called import NOBODY, Call
from sayso.cards.outcomes import SUPERSEDED
from sayso.cards.page import on_page
from sayso.forms.form import Form
from sayso.locales import ENGLISH, gettext_noop
from sayso.rules.rule import Scope
from sayso.text.visible import format_count, shortened
from sayso.values import screen
from sayso.values.screen import NARROW, UNLIMITED, OnScreen, on_screen, rows
from sayso.values.value import Value, headed, plain_text

Style = Literal["default", "primary", "danger"]

DESCRIPTION_LIMIT = 600
NAME_LIMIT = 120
_WHICH_LIMIT = 80
MOST_DANGERS = 6
"""More dangers than this are counted; the gravest are said."""
_SHARE = 6  # lines that a description, and the facts, have in any case
_LEAST = 6  # and those that the values have

LONGEST_LABEL = 80
LONGEST_STORED = 1_000
"""Bounds of our own: words on a button are read at a glance, and nobody agrees to a longer rule."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One button of a card.

    ``stores`` is what choosing it would remember, in words; a choice that stores something takes a
    second step. ``stores_briefly`` says it as exactly in fewer words, for a place without room for
    the others. ``scope`` says where it would hold, ``place`` says so in words (``for_run``: the
    session is one run), ``lasts`` for how long (the desk knows; ``for_long`` where it is for as
    long as anything), ``warning`` what a person may not expect of it. ``longer`` are the same for
    longer: its second step offers them, where each of them says its ``step``; what they would
    store is said by ``longer_said``. ``also`` are other tools that what it stores is about: where
    others may answer for one of them, it is offered as the choice ``alone`` that is about none.
    ``needs_sight`` says that it is not offered while a part of the card cannot be seen. A choice
    with a ``form`` is made by filling it in; with ``falls_back`` the choice of that key counts
    when nobody does in time, and pressing that one counts at once.

    Raises:
        ValueError: the key is not a lower-case word of 1 to 20 characters, or
            the label is not 1 to 80 characters long.
    """

    key: str
    label: str
    style: Style = "default"
    stores: str = ""
    stores_briefly: str = ""
    needs_sight: bool = False
    scope: Scope = "session"
    also: tuple[str, ...] = ()
    alone: Choice | None = None
    place: str = ""
    lasts: timedelta | None = None
    for_long: bool = False
    for_run: bool = False
    longer: tuple[Choice, ...] = ()
    longer_said: str = ""
    step: str = ""
    warning: str = ""
    form: Form | None = None
    falls_back: str = ""

    def __post_init__(self) -> None:
        if not is_key(self.key):
            raise ValueError(f"a choice's key is a word of 1 to 20 characters, not {self.key!r}")
        if not 1 <= len(self.label) <= LONGEST_LABEL:
            raise ValueError(
                f"a choice's label has 1 to {LONGEST_LABEL} characters, not {self.label!r}"
            )


def every(choices: Iterable[Choice]) -> Iterator[Choice]:
    """The choices, those that hold for longer, and those about one tool alone."""
    for choice in choices:
        yield choice
        yield from choice.longer
        if choice.alone is not None:
            yield from every((choice.alone,))


SHOW_ALL = Choice("show", gettext_noop("Show all"))
MORE = Choice("more", gettext_noop("More…"))
BACK = Choice("back", gettext_noop("Back"))
REVOKE = Choice("revoke", gettext_noop("Revoke"))
DETAILS = Choice("details", gettext_noop("Details"))
WHOLE = replace(SHOW_ALL, key="whole")
SHORTER = replace(BACK, key="shorter")


@lru_cache(maxsize=256)  # a few buttons in a few languages
def _labelled(choice: Choice, translations: NullTranslations) -> Choice:
    return replace(choice, label=translations.gettext(choice.label))


@dataclass(frozen=True, slots=True)
class CardBody:
    """What a request puts on its card. All texts are plain and made visible already.

    ``values`` are what a person decides on, complete, the thing itself first; ``raw``
    says what some of them are told of, as it is in the call, for *Show all*. ``question``
    is what is asked about it, in a few constant words; ``facts`` are short
    pairs of a label and a value. ``described`` is what the description is
    called, if not a reason given. ``more`` are the choices one level below ``choices``, where
    ``details`` and the digest are to be seen too: they tell requests apart, and decide
    nothing. ``granted`` is the word for what a card that is cut holds back, if that is
    not to be allowed. ``dangers`` are constant words, the gravest first, for a line of ours
    above the buttons.
    """

    title: str
    description: str = ""
    described: str = ""
    values: tuple[Value, ...] = ()
    raw: tuple[Value, ...] = ()
    question: str = ""
    digest: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    details: tuple[tuple[str, str], ...] = ()
    choices: tuple[Choice, ...] = ()
    more: tuple[Choice, ...] = ()
    granted: str = ""
    dangers: tuple[str, ...] = ()
    tool: str = ""
    matters: str = ""

    @property
    def content(self) -> str:
        """The values as one text, for where there is no card."""
        return plain_text(self.values)


@dataclass(frozen=True, slots=True)
class Open:
    """The card waits for a person.

    With ``more`` for one of the choices a level down, with ``confirming`` for
    the second step of that choice. ``notice`` is what else is under way, in words.
    With ``details`` it shows all of itself once it has ended.
    """

    confirming: Choice | None = None
    more: bool = False
    notice: str = ""
    details: bool = False


@dataclass(frozen=True, slots=True)
class Ended:
    """The request ended: how, by whom, when and why; ``by`` is an actor, ``by_name`` a name.

    ``facts`` are pairs of a label and what was answered: plain, visible, possibly long.
    ``choices`` are what can still be done about it: to take back what it ``stored``, which
    holds ``until`` then. ``went`` says in our words what came of an approval, ``note`` in those
    of whoever ran the call. Only with ``details`` the card shows more than that, and
    what is ``below``: it tells answers apart.
    """

    outcome: str
    at: datetime
    by: str = ""
    reason: str = ""
    stored: str = ""
    by_name: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    choices: tuple[Choice, ...] = ()
    until: datetime | None = None
    below: tuple[tuple[str, str], ...] = ()
    went: str = ""
    note: str = ""
    details: bool = False

    @property
    def who(self) -> str:
        """Who ended it, in words: the name where there is one, and the account."""
        return f"{self.by_name} ({self.by})" if self.by_name else self.by


@dataclass(frozen=True)  # no slots: what it shows is worked out once, and kept
class Card:
    """One copy of a request, shown in one place.

    ``handle`` is what its buttons carry. ``limit`` is how many characters of
    content the place can show; ``reveal_limit`` how many it can show on
    request. ``lines`` are those of a screen that it may take with its buttons still in
    sight, of so many ``columns``. Content over a limit is cut, and then the choices that need
    sight are offered only after the whole was shown (``revealed``). The same
    goes for a description over ``description_limit``. On a message with
    several cards, of which there are ``count``, it has a ``number`` from 1 on.
    ``call`` is whom its message calls, ``waits`` in how long it expired when it was made.
    """

    handle: str
    body: CardBody
    asker: str
    expires_at: datetime
    limit: int
    reveal_limit: int
    revealed: bool = False
    state: Open | Ended = Open()
    description_limit: int = DESCRIPTION_LIMIT
    number: int = 1
    count: int = 1
    lines: int = UNLIMITED
    columns: int = NARROW
    translations: NullTranslations = ENGLISH
    call: Call = NOBODY
    waits: str = ""

    @property
    def is_short(self) -> bool:
        """True if it shows what came of it and no more: the rest is behind *Details*."""
        return isinstance(self.state, Ended) and not self.state.details

    @cached_property
    def on_screen(self) -> OnScreen:
        """The values as far as the place can show them, and what of them is left out."""
        if self.is_short:
            return OnScreen(())
        described = rows(self.body.description, self.columns, _SHARE) if self.lines else 0
        beside = min(described, _SHARE) + min(self._fact_lines, _SHARE)
        least = min(self.lines, _LEAST)
        room = screen.Room(self.limit, max(self.lines - beside, least), self.columns)
        return on_screen(self.body.values, room)

    @property
    def content(self) -> str:
        """The values as one text, as far as the place can show them."""
        return plain_text(self.on_screen.values)

    @cached_property
    def description(self) -> str:
        """The description as far as the place can show it."""
        if self.is_short:
            return ""
        said = shortened(self.body.description, self.description_limit)
        if rows(said, self.columns, self._described_lines) <= self._described_lines:
            return said
        room = screen.Room(len(said), self._described_lines, self.columns)
        return f"{screen.beginning(said, room)}…"

    @cached_property
    def _described_lines(self) -> int:
        """The lines that the values leave for the description."""
        if self.lines >= UNLIMITED:
            return UNLIMITED
        shown = screen.Room(self.limit, self.lines, self.columns)
        taken = sum(screen.lines_of(value, shown) for value in self.body.values)
        return max(self.lines - taken - self._fact_lines, min(_SHARE, self.lines))

    @cached_property
    def _fact_lines(self) -> int:
        said = [*(f"{name} {value}" for name, value in self.body.facts), *self.body.dangers]
        return sum(rows(one, self.columns) for one in said)

    @property
    def described(self) -> str:
        """What the description is called."""
        return self.body.described or self.translations.gettext("Reason given")

    def danger(self, most: int = MOST_DANGERS) -> str:
        """What a person should not overlook before they press; empty where nothing was found."""
        dangers, left = self.body.dangers, len(self.body.dangers) - most
        if not dangers or not self._is_open:
            return ""
        more = format_count(self.translations, "{count} more", "{count} more", left)
        shown = " · ".join((*dangers[:most], *([more] if left > 0 else ())))
        return self.translations.gettext("Danger: {dangers}").format(dangers=shown)

    @property
    def which(self) -> str:
        """Which card it is, where it is spoken of elsewhere: its number, its title, its digest."""
        text = self.translations.gettext("Call {number} of {count}") if self.count > 1 else ""
        number = text.format(number=self.number, count=self.count)
        parts = (number, shortened(self.body.title, _WHICH_LIMIT), self.body.digest)
        return " · ".join(filter(None, parts))

    @cached_property
    def is_cut(self) -> bool:
        """True if a part of what is decided on is missing from the card."""
        is_whole = self.on_screen.is_whole and self.description == self.body.description
        return not (self.is_short or is_whole)

    @property
    def can_reveal(self) -> bool:
        """True if the place can show the whole when asked to."""
        return self.is_cut and len(self.everything) <= self.reveal_limit

    @property
    def everything(self) -> str:
        """The complete text behind *Show all*: what is decided on, then what the agent says of it.

        What stands in it cannot look like a heading, and every line of the agent's words is
        marked, so that none passes for an argument.
        """
        parts = [on_page(value) for value in (*self.body.values, *self.body.raw)]
        if self.body.description:
            heading = self.translations.gettext("{described} by the agent:")
            heading = heading.format(described=self.described)
            parts.append(headed(heading, self.body.description, bar=True))
        parts += [headed(label, value) for label, value in self.beside]
        return "\n\n".join(parts)

    @property
    def beside(self) -> tuple[tuple[str, str], ...]:
        """What stands on no value: facts, what was answered, and what tells it from others."""
        told = self.state.facts if isinstance(self.state, Ended) else ()
        return (*self.body.facts, *told, *self.details)

    @property
    def details(self) -> tuple[tuple[str, str], ...]:
        """What tells the request from others, a level down: its digest and its ids."""
        digest = self.body.digest
        labelled = ((self.translations.gettext("Digest"), digest),) if digest else ()
        below = self.state.below if isinstance(self.state, Ended) else ()
        return (*labelled, *below, *self.body.details)

    @cached_property
    def choices(self) -> tuple[Choice, ...]:
        """The choices offered now, in order; once the request has ended, what is left to do."""
        whole = WHOLE if isinstance(self.state, Ended) else SHOW_ALL
        show_all = (_labelled(whole, self.translations),) if self.can_reveal else ()
        if not isinstance(self.state, Ended):
            return (*self._offered(self.body.choices), *show_all)
        if self.state.details:
            return (*show_all, *self.state.choices, _labelled(SHORTER, self.translations))
        rest = (_labelled(DETAILS, self.translations),) if self.has_details else ()
        return (*rest, *self.state.choices)

    @cached_property
    def more(self) -> tuple[Choice, ...]:
        """The choices offered now behind *More…*, in order."""
        return self._offered(self.body.more)

    @property
    def leads_on(self) -> bool:
        """True if there is a level down: choices, or a digest to be seen."""
        return self._is_open and bool(self.more or (self.body.digest and self.body.choices))

    @property
    def has_details(self) -> bool:
        """True if an ended card has more to say than what it shows."""
        is_here = isinstance(self.state, Ended) and self.state.outcome != SUPERSEDED
        return is_here and bool(self.everything)

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """What is known besides, and below it, where the card is opened up, the details."""
        if self.is_short:
            return ()
        return (*self.body.facts, *(self.details if self.shows_details else ()))

    @property
    def shows_details(self) -> bool:
        """True if the details are to be seen now: a level down, or where there is none."""
        is_opened_up = isinstance(self.state, Open) and self.state.more
        return not self.is_short and (is_opened_up or not self.leads_on)

    @property
    def show_more(self) -> Choice:
        """The choice that leads one level down."""
        return _labelled(MORE, self.translations)

    @property
    def step_back(self) -> Choice:
        """The choice that leads back to where the card was."""
        return _labelled(BACK, self.translations)

    def choice(self, key: str) -> Choice | None:
        """The offered choice with this key, on either level, or at the second step of one."""
        return next((one for one in every((*self.choices, *self.more)) if one.key == key), None)

    def confirming(self, choice: Choice) -> Card:
        """The card at the second step of a choice."""
        return replace(self, state=Open(confirming=choice))

    @property
    def _is_open(self) -> bool:
        return isinstance(self.state, Open)

    def _offered(self, choices: tuple[Choice, ...]) -> tuple[Choice, ...]:
        hidden = self.is_cut and not self.revealed
        return tuple(c for c in choices if self._is_open and not (hidden and c.needs_sight))
