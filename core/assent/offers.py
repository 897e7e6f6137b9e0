"""What Always can store for a call: from the literal call to wider rules, each in words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from assent.calls import RunRef, ToolCall
from assent.cards import Choice
from assent.globs import dangers
from assent.rules import Rule, Scope
from assent.text import redacted, shortened, visible

ALWAYS, ALWAYS_DENY, AGENT, WINDOW = "always", "deny-always", "agent", "window"

# How many rules from narrow to wide are offered: the call, the program, the tool.
MOST_WIDTHS = 3
# Slack's confirm dialog has 300 characters, for the words around this and for how long, too.
_MOST_WORDS = 230
_NAME = 60
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
    and without a secret in them.
    """
    fitting = [
        rule
        for rule in suggested
        if (rule.arguments_digest in (None, digest)) and rule.matches(call) and _is_showable(rule)
    ]
    if not fitting or fitting[0] != suggested[0]:
        return ()
    widths = list(dict.fromkeys(map(_identity, fitting)))[:MOST_WIDTHS]
    rules = [next(rule for rule in fitting if _identity(rule) == width) for width in widths]
    return tuple(_all(rules, call, run))


def _all(rules: Sequence[Rule], call: ToolCall, run: RunRef) -> Iterator[Offer]:
    narrowest = rules[0]
    made = [_offer(ALWAYS, "Always", narrowest, run)]
    made += [
        _offer(f"{ALWAYS}-{number}", _wider_label(rule), rule, run)
        for number, rule in enumerate(rules[1:], 2)
    ]
    made.append(_offer(AGENT, "Always, in all sessions", narrowest, run, scope="agent"))
    made.append(_offer(WINDOW, "Whole tool", Rule(call.name), run, scope="tool-window"))
    made.append(_offer(ALWAYS_DENY, "Always deny", narrowest, run, effect="deny"))
    yield from (offer for offer in made if len(offer.choice.stores) <= _MOST_WORDS)


def _offer(
    key: str,
    label: str,
    rule: Rule,
    run: RunRef,
    *,
    effect: Literal["allow", "deny"] = "allow",
    scope: Scope = "session",
) -> Offer:
    where = f"in session {_name(run.session_id)}"
    if scope == "agent":
        where = f"in all sessions of agent {_name(run.agent_id)}"
    never = "never " if effect == "deny" else ""
    choice = Choice(
        key,
        label,
        "danger" if effect == "deny" else "default",
        stores=f"{never}{_meaning(rule)} {where}",
        needs_sight=True,
        scope=scope,
        warning=_warning(rule) if effect == "allow" else "",
    )
    return Offer(choice, rule, effect)


def _meaning(rule: Rule) -> str:
    """Exactly what the rule is about."""
    tool = _name(rule.tool)
    if rule.arguments_digest is not None:
        return f"{tool} with exactly these arguments (digest {rule.arguments_digest[:12]})"
    if not rule.params:
        return f"{tool} with any arguments"
    patterns = (f"{_word(name)} matching {_quoted(p)}" for name, p in sorted(rule.params.items()))
    return f"{tool} with {' and '.join(patterns)}, whatever else"


def _wider_label(rule: Rule) -> str:
    if len(rule.params) == 1:
        (pattern,) = rule.params.values()
        return shortened(f"Always: {visible(pattern, one_line=True)}", _LABEL)
    return "Always: some arguments" if rule.params else "Always: the whole tool"


def _warning(rule: Rule) -> str:
    if rule.arguments_digest is not None:
        return ""
    if not rule.params:
        return "It allows every call of this tool, whatever its arguments"
    found = [text for pattern in rule.params.values() for text in dangers(pattern)]
    return visible(". ".join(dict.fromkeys(found)), one_line=True)


def _is_showable(rule: Rule) -> bool:
    return rule.arguments_digest is not None or redacted(dict(rule.params)) == dict(rule.params)


def _identity(rule: Rule) -> tuple[str, tuple[tuple[str, str], ...], str | None]:
    return rule.tool, tuple(sorted(rule.params.items())), rule.arguments_digest


def _name(text: str) -> str:
    return shortened(visible(text, one_line=True), _NAME)


def _word(name: str) -> str:
    return name if name.isidentifier() and name.isascii() else _quoted(name)


def _quoted(text: str) -> str:
    return json.dumps(visible(text, one_line=True), ensure_ascii=False)
