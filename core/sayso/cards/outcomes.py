"""Outcomes of a question, as people read them."""

from __future__ import annotations

from gettext import NullTranslations

from sayso.locales import gettext_noop

SUPERSEDED = "superseded"
"""How a card stands that another message shows by now, while its question is open."""

_TEXTS = {
    "approved": gettext_noop("approved"),
    "denied": gettext_noop("denied"),
    "expired": gettext_noop("expired"),
    "cancelled": gettext_noop("cancelled"),
    "answered": gettext_noop("answered"),
    "undeliverable": gettext_noop("undeliverable"),
    SUPERSEDED: gettext_noop("shown in another message here"),
}


def outcome_text(translations: NullTranslations, outcome: str) -> str:
    """Name an outcome in a word; a kind of one's own may have others."""
    text = _TEXTS.get(outcome)
    return outcome if text is None else translations.gettext(text)


def outcome_by(translations: NullTranslations, outcome: str, who: str = "") -> str:
    """Name an outcome, and who brought it about where somebody did."""
    text = outcome_text(translations, outcome)
    if not who:
        return text
    return translations.gettext("{outcome} by {who}").format(outcome=text, who=who)
