"""What one person sees alone: the answer to ``/approvals``, and the App Home.

docs.slack.dev, blocks: at most 50 in a message, 100 in a view. An agent's words are literal, on
one line, and behind a bar.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from gettext import NullTranslations
from typing import Any

from sayso.cards.outcomes import outcome_by
from sayso.cards.plain import OUTCOME_ICONS
from sayso.chats.overview import Decided, Overview, Remembered
from sayso.formats import formats_of
from sayso.text.counted import format_count
from sayso.text.visible import one_line
from sayso_slack.card.blocks import UNPARSED
from sayso_slack.card.elements import (
    Block,
    context,
    literal,
    moment,
    plain_text,
    quote,
    rich_text,
    section,
)
from sayso_slack.lists.waiting import lines

REVOKE = "sayso-home:revoke"
LONGEST_ID = 100

_MOST = 20
_TITLE, _WHAT, _WHO, _SAID = 80, 120, 80, 300


def waiting_message(overview: Overview, translations: NullTranslations) -> dict[str, Any]:
    """The answer to a slash command, shown to whoever gave it and to nobody else."""
    heading = translations.gettext("Nothing waits for you.")
    if overview.waiting:
        heading = translations.gettext("Waiting for you")
    blocks = [rich_text(section(literal(heading, bold=True))), *_waiting(overview, translations)]
    return {"response_type": "ephemeral", "text": heading, "blocks": blocks, **UNPARSED}


def home(overview: Overview, translations: NullTranslations, *, said: str = "") -> dict[str, Any]:
    """The App Home of one person; ``said`` is what became of their last press there."""
    blocks = [context(plain_text(one_line(said, _SAID)))] if said else []
    blocks.append(_header(translations.gettext("Waiting for you")))
    blocks += _waiting(overview, translations) or _nothing(
        translations.gettext("Nothing waits for you.")
    )
    blocks.append(_header(translations.gettext("Your rules")))
    blocks += _rules(overview, translations) or _nothing(
        translations.gettext("No rule of yours is remembered.")
    )
    blocks.append(_header(translations.gettext("Last decisions")))
    blocks += _decisions(overview.decisions, translations) or _nothing(
        translations.gettext("Nothing was decided yet.")
    )
    return {"type": "home", "blocks": blocks}


def _nothing(text: str) -> list[Block]:
    return [context(plain_text(text))]


def _header(text: str) -> Block:
    return {"type": "header", "text": plain_text(text)}


def _waiting(overview: Overview, translations: NullTranslations) -> list[Block]:
    if not overview.waiting:
        return []
    shown = overview.waiting[:_MOST]
    blocks = [rich_text(*lines(shown, translations))]
    if more := overview.more_waiting + len(overview.waiting) - len(shown):
        blocks.append(
            context(
                plain_text(
                    format_count(
                        translations,
                        "{count} more question waits",
                        "{count} more questions wait",
                        more,
                    )
                )
            )
        )
    return blocks


def _rules(overview: Overview, translations: NullTranslations) -> list[Block]:
    shown = overview.rules[:_MOST]
    blocks = [block for rule in shown for block in _rule(rule, translations)]
    if more := overview.more_rules + len(overview.rules) - len(shown):
        blocks.append(
            context(
                plain_text(
                    format_count(
                        translations,
                        "{count} more rule is kept",
                        "{count} more rules are kept",
                        more,
                    )
                )
            )
        )
    return blocks


def _rule(rule: Remembered, translations: NullTranslations) -> Iterator[Block]:
    effect = translations.gettext("Allows") if rule.allows else translations.gettext("Denies")
    what = one_line(rule.what, _WHAT) if rule.what else translations.gettext("with any arguments")
    of_agent = translations.gettext("of agent")
    stored_by, until = translations.gettext("stored by"), translations.gettext("until")
    yield rich_text(
        section(literal(f"{'✅' if rule.allows else '⛔'} {effect}", bold=True)),
        quote(
            literal(one_line(rule.tool, _TITLE), bold=True),
            literal(f" · {what}\n"),
            literal(f"{of_agent} {one_line(rule.agent, _WHO)} · "),
            literal(f"{stored_by} {one_line(rule.stored_by, _WHO)} · {until} "),
            _until(rule.expires_at, translations),
        ),
    )
    if len(rule.rule_id) <= LONGEST_ID:
        yield {"type": "actions", "elements": [_revoke(rule, translations)]}


def _revoke(rule: Remembered, translations: NullTranslations) -> Block:
    """docs.slack.dev, confirmation dialog: title 100, text 300, confirm and deny 30."""
    revoke_really = translations.gettext("From now on people are asked again about such calls.")
    return {
        "type": "button",
        "action_id": REVOKE,
        "value": rule.rule_id,
        "text": plain_text(translations.gettext("Revoke")),
        "style": "danger",
        "confirm": {
            "title": plain_text(translations.gettext("Revoke")),
            "text": plain_text(f"{one_line(rule.tool, _TITLE)}: {revoke_really}"),
            "confirm": plain_text(translations.gettext("Revoke")),
            "deny": plain_text(translations.gettext("Keep it")),
        },
    }


def _decisions(decisions: Sequence[Decided], translations: NullTranslations) -> list[Block]:
    of_agent = translations.gettext("of agent")
    lines = [
        quote(
            literal(f"{OUTCOME_ICONS.get(one.outcome, '•')} "),
            literal(one_line(one.subject, _TITLE), bold=True),
            literal(f" · {of_agent} {one_line(one.agent, _WHO)} · "),
            literal(f"{_outcome(one, translations)} · "),
            _until(one.at, translations),
        )
        for one in decisions[:_MOST]
    ]
    return [rich_text(*lines)] if lines else []


def _outcome(one: Decided, translations: NullTranslations) -> str:
    return outcome_by(translations, one.outcome, one_line(one.by, _WHO) if one.by else "")


def _until(at: datetime, translations: NullTranslations) -> Block:
    return (
        moment(at, translations)
        if at.timestamp() > 0
        else literal(formats_of(translations).time(at))
    )
