"""What Always can store for a call: from the literal call to wider rules, each in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from sayso.always.programs import program_of
from sayso.always.wording import is_the_tool, meanings, name_in_words, warning
from sayso.calls import RunRef, ToolCall
from sayso.cards.card import Choice
from sayso.rules.rule import Rule, Scope
from sayso.text.text import redacted, shortened, visible

ALWAYS, ALWAYS_DENY, AGENT, WINDOW = "always", "deny-always", "agent", "window"

# How many rules from narrow to wide are offered beside the whole tool.
MOST_WIDTHS = 3
# Slack's confirm dialog has 300 characters, for the words around this and for how long, too.
_MOST_WORDS = 230
_LABEL = 30


@dataclass(frozen=True, slots=True)
class Offer:
    """A choice that stores something, and exactly the rule it stores."""

    choice: Choice
    rule: Rule
    effect: Literal["allow", "deny"]


def offers(
    call: ToolCall, digest: str, suggested: Sequence[Rule], run: RunRef
) -> tuple[Offer, ...]:
    """What can be stored for a call, from narrow to wide.

    Only rules that mean this call, and that can be shown as they are, in full
    and without a secret in them. A rule for all that the tool can do is offered
    in the scope ``tool-window`` alone, whoever suggests it.
    """
    rules = _fitting(call, digest, suggested)
    if not rules or rules[0] != suggested[0]:
        return ()
    return tuple(offer for offer in _all(rules, call, run) if offer is not None)


def _fitting(call: ToolCall, digest: str, suggested: Sequence[Rule]) -> list[Rule]:
    rules: list[Rule] = []
    for rule in suggested:
        fits = rule.arguments_digest in (None, digest) and rule.matches(call)
        if fits and _is_showable(rule) and rule not in rules:
            rules.append(rule)
        if len(rules) == MOST_WIDTHS:
            break
    return rules


def _all(rules: Sequence[Rule], call: ToolCall, run: RunRef) -> Iterator[Offer | None]:
    widths = [rule for rule in rules if not is_the_tool(rule)]
    for number, rule in enumerate(widths, 1):
        key, label = (ALWAYS, "Always") if number == 1 else (f"{ALWAYS}-{number}", _label(rule))
        yield _offer(key, label, rule, call, run)
    yield _offer(WINDOW, "Whole tool", Rule(call.name), call, run, scope="tool-window")
    if widths:
        yield _offer(AGENT, "Always, in all sessions", widths[0], call, run, scope="agent")
    yield _offer(ALWAYS_DENY, "Always deny", rules[0], call, run, effect="deny")


def _offer(
    key: str,
    label: str,
    rule: Rule,
    call: ToolCall,
    run: RunRef,
    *,
    effect: Literal["allow", "deny"] = "allow",
    scope: Scope = "session",
) -> Offer | None:
    """None where what is stored is too long to be said in full."""
    where = f"in session {name_in_words(run.session_id)}"
    if scope == "agent":
        where = f"in all sessions of agent {name_in_words(run.agent_id)}"
    never = "never " if effect == "deny" else ""
    said = (f"{never}{meaning} {where}" for meaning in meanings(rule, call))
    stores = next((words for words in said if len(words) <= _MOST_WORDS), None)
    if stores is None:
        return None
    choice = Choice(
        key,
        label,
        "danger" if effect == "deny" else "default",
        stores=stores,
        needs_sight=True,
        scope=scope,
        warning=warning(rule) if effect == "allow" else "",
    )
    return Offer(choice, rule, effect)


def _label(rule: Rule) -> str:
    """A few words on a button; what is stored is said in full before it is."""
    patterns = [*rule.params.values()]
    if len(patterns) == 1:
        words = program_of(patterns[0]) or visible(patterns[0], one_line=True)
    else:
        names = " and ".join(map(name_in_words, sorted(rule.params)))
        words = f"by {names}" if names else "these arguments"
    return shortened(f"Always: {words}", _LABEL)


def _is_showable(rule: Rule) -> bool:
    return rule.arguments_digest is not None or redacted(dict(rule.params)) == dict(rule.params)
