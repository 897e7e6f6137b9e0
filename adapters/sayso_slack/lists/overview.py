"""What one person sees alone: the answer to ``/approvals``, and the App Home.

docs.slack.dev, blocks: at most 50 in a message, 100 in a view. An agent's words are literal, on
one line, and behind a bar.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from sayso.cards.plain import OUTCOME_ICONS
from sayso.chats.overview import Decided, Overview, Remembered
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
from sayso_slack.words import SlackWords

REVOKE = "sayso-home:revoke"
LONGEST_ID = 100

_MOST = 20
_TITLE, _WHAT, _WHO, _SAID = 80, 120, 80, 300


def waiting_message(overview: Overview, words: SlackWords) -> dict[str, Any]:
    """The answer to a slash command, shown to whoever gave it and to nobody else."""
    heading = words.calls.waiting if overview.waiting else words.calls.nothing_waits
    blocks = [rich_text(section(literal(heading, bold=True))), *_waiting(overview, words)]
    return {"response_type": "ephemeral", "text": heading, "blocks": blocks, **UNPARSED}


def home(overview: Overview, words: SlackWords, *, said: str = "") -> dict[str, Any]:
    """The App Home of one person; ``said`` is what became of their last press there."""
    calls = words.calls
    blocks = [context(plain_text(one_line(said, _SAID)))] if said else []
    blocks.append(_header(calls.waiting))
    blocks += _waiting(overview, words) or _nothing(calls.nothing_waits)
    blocks.append(_header(calls.your_rules))
    blocks += _rules(overview, words) or _nothing(calls.no_rules)
    blocks.append(_header(calls.decisions))
    blocks += _decisions(overview.decisions, words) or _nothing(calls.no_decisions)
    return {"type": "home", "blocks": blocks}


def _nothing(text: str) -> list[Block]:
    return [context(plain_text(text))]


def _header(text: str) -> Block:
    return {"type": "header", "text": plain_text(text)}


def _waiting(overview: Overview, words: SlackWords) -> list[Block]:
    if not overview.waiting:
        return []
    shown = overview.waiting[:_MOST]
    blocks = [rich_text(*lines(shown, words))]
    if more := overview.more_waiting + len(overview.waiting) - len(shown):
        blocks.append(context(plain_text(words.calls.more_waiting.of(more))))
    return blocks


def _rules(overview: Overview, words: SlackWords) -> list[Block]:
    shown = overview.rules[:_MOST]
    blocks = [block for rule in shown for block in _rule(rule, words)]
    if more := overview.more_rules + len(overview.rules) - len(shown):
        blocks.append(context(plain_text(words.calls.more_rules.of(more))))
    return blocks


def _rule(rule: Remembered, words: SlackWords) -> Iterator[Block]:
    calls = words.calls
    effect = f"{'✅' if rule.allows else '⛔'} {calls.allows if rule.allows else calls.denies}"
    what = one_line(rule.what, _WHAT) if rule.what else calls.any_arguments
    yield rich_text(
        section(literal(effect, bold=True)),
        quote(
            literal(one_line(rule.tool, _TITLE), bold=True),
            literal(f" · {what}\n"),
            literal(f"{calls.of_agent} {one_line(rule.agent, _WHO)} · "),
            literal(f"{calls.stored_by} {one_line(rule.stored_by, _WHO)} · {calls.until} "),
            _until(rule.expires_at, words),
        ),
    )
    if len(rule.rule_id) <= LONGEST_ID:
        yield {"type": "actions", "elements": [_revoke(rule, words)]}


def _revoke(rule: Remembered, words: SlackWords) -> Block:
    """docs.slack.dev, confirmation dialog: title 100, text 300, confirm and deny 30."""
    calls = words.calls
    return {
        "type": "button",
        "action_id": REVOKE,
        "value": rule.rule_id,
        "text": plain_text(calls.revoke),
        "style": "danger",
        "confirm": {
            "title": plain_text(calls.revoke),
            "text": plain_text(f"{one_line(rule.tool, _TITLE)}: {calls.revoke_really}"),
            "confirm": plain_text(calls.revoke),
            "deny": plain_text(calls.keep),
        },
    }


def _decisions(decisions: Sequence[Decided], words: SlackWords) -> list[Block]:
    lines = [
        quote(
            literal(f"{OUTCOME_ICONS.get(one.outcome, '•')} "),
            literal(one_line(one.subject, _TITLE), bold=True),
            literal(f" · {words.calls.of_agent} {one_line(one.agent, _WHO)} · "),
            literal(f"{words.cards.how(one.outcome, one_line(one.by, _WHO) if one.by else '')} · "),
            _until(one.at, words),
        )
        for one in decisions[:_MOST]
    ]
    return [rich_text(*lines)] if lines else []


def _until(at: datetime, words: SlackWords) -> Block:
    return moment(at, words.cards) if at.timestamp() > 0 else literal(words.cards.formats.time(at))
