"""Slack's limits: what a message shows, what a dialog takes, how many messages go out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from gettext import NullTranslations
from typing import Any, TypeVar

from sayso.cards.card import Card, CardBody, Choice
from sayso.chats.budgets import Budget, Rate
from sayso.chats.limits import Limits, Sending
from sayso.chats.places import Place
from sayso.forms.form import Form
from sayso.text.visible import format_count, one_line, shortened, visible
from sayso.values import Value
from sayso_slack.config import SlackConfig
from sayso_slack.errors import PLATFORM
from sayso_slack.form_inputs import LONGEST_TEXT, MOST_OPTIONS
from sayso_slack.modal import REVEAL_LIMIT, everything_modal, fits, form_problem
from sayso_slack.value_blocks import BUTTON, button_label

CONTENT_LIMIT = 2_900
"""docs.slack.dev, text object: 3,000 characters; the total of a message is a matter of budget."""

LINES = 20
"""Lines of a phone of 390 × 844 pixels beside the app's own bars, the heading and the buttons."""

# All blocks of a message may hold about 12,000 characters (undocumented; slackapi/bolt-js issues
# 2509 and 2867, one rejection at 11,341). The limits below add up to less than 10,000.
CONFIRM_TEXT = 300  # docs.slack.dev, confirmation dialog: title 100, text 300, confirm, deny 30
MOST_FACTS = 8
MOST_CHOICES = 20  # docs.slack.dev, actions block: 25 elements
MOST_STORING = 5
MOST_BELOW = 20  # choices a level down; with Back fewer than 25 elements
_MOST_DETAILS = 4
_TITLE = 150  # docs.slack.dev, header block
_ASKER = 300
_LABEL = 40
_VALUE = 120
_HANDLE = 120  # with a key what `read_button` takes
LONGEST_BELOW = 40  # of the 75 of a button: 20 of these share a message
_WARNING = 500
MOST_STORED = 600
"""Characters of a stored rule in a second step, which has no other buttons."""

LONGEST_BUTTON = BUTTON - len("Yes, ")  # in no language longer


Shown = TypeVar("Shown", Card, CardBody, Value)


def fit_card(card: Card) -> Card:
    """The same card with every text visible and every field within its limit.

    Content over the limit becomes a cut that the card's own rules know of, so
    that choices which need sight go. *Show all* is only offered when the
    dialog holds everything for certain.
    """
    most = MOST_BELOW if len(card.handle) <= _HANDLE else 0
    moved = tuple(_without_dialog(card.body.choices, card.translations))
    direct = tuple(choice for choice in card.body.choices if choice not in moved)
    body = _with(
        card.body,
        title=one_line(card.body.title, _TITLE),
        description=visible(card.body.description),
        values=tuple(map(_visible, card.body.values)),
        raw=tuple(map(_visible, card.body.raw)),
        question=one_line(card.body.question, _TITLE) if card.body.question else "",
        digest=one_line(card.body.digest, 64) if card.body.digest else "",
        facts=_facts(card.body.facts, MOST_FACTS, card.translations),
        details=_facts(card.body.details, _MOST_DETAILS, card.translations),
        choices=direct[:MOST_CHOICES],
        # What a choice a level down stores is only spelled out at its second step, one at a time.
        more=_sayable((*moved, *card.body.more))[:most],
    )
    shown = _with(
        card,
        body=body,
        asker=one_line(card.asker, _ASKER),
        limit=min(card.limit, CONTENT_LIMIT),
        lines=min(card.lines, LINES),
        reveal_limit=min(card.reveal_limit, REVEAL_LIMIT),
    )
    if shown.can_reveal and not fits(everything_modal(shown)):
        return replace(shown, reveal_limit=0)
    return shown


def stored_question(choice: Choice, translations: NullTranslations) -> str:
    """Build the question of a confirmation dialog: exactly the rule that would be remembered.

    A warning that finds no room in full is cut; the card says all of it before.
    """
    question = translations.gettext("This will be remembered: {stored}.").format(
        stored=visible(choice.stores, one_line=True)
    )
    warning = visible(choice.warning, one_line=True)
    room = CONFIRM_TEXT - len(question) - 3
    return f"{question} ⚠ {shortened(warning, room)}" if warning and room > 0 else question


def stored_words(choice: Choice) -> str:
    """Build the rule that would be remembered, and its unexpected effects."""
    words = f"{visible(choice.stores, one_line=True)}."
    return f"{words} {one_line(choice.warning, _WARNING)}." if choice.warning else words


def _with(shown: Shown, **fields: Any) -> Shown:
    """The same with these fields; itself, with all that it has worked out, where it has them."""
    has_them = all(getattr(shown, name) == value for name, value in fields.items())
    return shown if has_them else replace(shown, **fields)


def _visible(value: Value) -> Value:
    return _with(
        value,
        name=one_line(value.name, _LABEL) if value.name else "",
        note=one_line(value.note, _LABEL) if value.note else "",
        text=visible(value.text),
        brief=visible(value.brief),
    )


def _facts(
    facts: tuple[tuple[str, str], ...], most: int, translations: NullTranslations
) -> tuple[tuple[str, str], ...]:
    facts = tuple((one_line(label, _LABEL), one_line(value, _VALUE)) for label, value in facts)
    if len(facts) <= most:
        return facts
    kept = facts[: most - 1]
    return (*kept, count_hidden_facts(len(facts) - len(kept), translations))


def count_hidden_facts(count: int, translations: NullTranslations) -> tuple[str, str]:
    """Build the fact that says how many facts are not shown."""
    text = format_count(
        translations, "{count} fact is not shown here", "{count} facts are not shown here", count
    )
    return translations.gettext("More"), text


def fits_dialog(choice: Choice, translations: NullTranslations) -> bool:
    """Return True if a confirmation dialog has room for all that the choice stores."""
    return not choice.longer and len(stored_question(choice, translations)) <= CONFIRM_TEXT


def _without_dialog(
    choices: tuple[Choice, ...], translations: NullTranslations
) -> Iterator[Choice]:
    """The choices that store something and find no room for a dialog: they go a level down."""
    dialogs = 0
    for choice in choices:
        if choice.stores and not choice.longer:
            fits = fits_dialog(choice, translations)
            dialogs += fits
            if not fits or dialogs > MOST_STORING:
                yield choice


def _sayable(choices: tuple[Choice, ...]) -> tuple[Choice, ...]:
    """Keep the choices whose rule can be read in full before it is stored."""
    return tuple(c for c in choices if len(visible(c.stores, one_line=True)) <= MOST_STORED)


LONGEST_ASKED = CONFIRM_TEXT - len("This will be remembered: .")  # in no language longer
"""Characters of a stored rule that a confirmation dialog has room for."""


def confirmed_label(choice: Choice, translations: NullTranslations) -> str:
    """The words on the button of a second step."""
    said = choice.step or translations.gettext("Yes, {label}").format(label=button_label(choice))
    return one_line(said, BUTTON)


# "Several hundred messages per minute per workspace" of chat.postMessage.
_WORKSPACE = Rate(300, 60)


def build_budgets(config: SlackConfig) -> Callable[[Place, Sending], tuple[Budget, ...]]:
    """Return the budgets that a message to a channel uses up; a change of one has its own."""

    def budgets(place: Place, sending: Sending) -> tuple[Budget, ...]:
        if config.per_channel is None:
            return ()
        channel = Budget(f"{PLATFORM}:{place.address}:{sending}", config.per_channel)
        return (channel, Budget(PLATFORM, _WORKSPACE)) if sending == "show" else (channel,)

    return budgets


_KEPT_FORMS = 64

LIMITS = Limits(
    content=CONTENT_LIMIT,
    reveal=REVEAL_LIMIT,
    lines=LINES,
    lengths=True,
    private=True,
    button=LONGEST_BUTTON,
    menu=LONGEST_BELOW,
    dialog=LONGEST_ASKED,
    stores=MOST_STORED,
    options=MOST_OPTIONS,
    text=LONGEST_TEXT,
)


def build_limits(config: SlackConfig) -> Limits:
    """The limits of one app, which says in each language why a dialog cannot ask for a form."""
    # Whatever begins with nothing is the same on every card.
    known = lru_cache(maxsize=_KEPT_FORMS)(form_problem)
    return replace(
        LIMITS,
        budgets=build_budgets(config),
        form_problem=lambda form, translations: (known if _is_blank(form) else form_problem)(
            form, translations
        ),
    )


def _is_blank(form: Form) -> bool:
    return all(field.kind == "text" and field.initial is None for field in form.fields)
