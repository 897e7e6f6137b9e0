"""What Slack shows and takes, for the core to keep to."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from sayso.chats.limits import Limits
from sayso.forms.form import Form
from sayso_slack.card import presentable
from sayso_slack.card.everything import REVEAL_LIMIT
from sayso_slack.config import SlackConfig
from sayso_slack.forms.inputs import LONGEST_TEXT, MOST_OPTIONS
from sayso_slack.forms.modal import form_problem
from sayso_slack.pace import budgets_of

_KEPT_FORMS = 64

LIMITS = Limits(
    content=presentable.CONTENT_LIMIT,
    reveal=REVEAL_LIMIT,
    lines=presentable.LINES,
    lengths=True,
    private=True,
    button=presentable.LONGEST_BUTTON,
    menu=presentable.LONGEST_BELOW,
    dialog=presentable.LONGEST_ASKED,
    stores=presentable.MOST_STORED,
    options=MOST_OPTIONS,
    text=LONGEST_TEXT,
)


def limits_of(config: SlackConfig) -> Limits:
    """The limits of one app, which says in each language why a dialog cannot ask for a form."""
    # Whatever begins with nothing is the same on every card.
    known = lru_cache(maxsize=_KEPT_FORMS)(form_problem)
    return replace(
        LIMITS,
        budgets=budgets_of(config),
        form_problem=lambda form, translations: (known if _is_blank(form) else form_problem)(
            form, translations
        ),
    )


def _is_blank(form: Form) -> bool:
    return all(field.kind == "text" and field.initial is None for field in form.fields)
