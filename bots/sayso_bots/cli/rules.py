"""``sayso rules``: what Always has stored."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sayso.clock import utc_now
from sayso.digests import short_digest
from sayso.durations import duration_text
from sayso.rules.matchers import told
from sayso.rules.rule import RememberedRule, Rule
from sayso.stores.protocols import KeptRule
from sayso.text.secrets import hiding, redacted
from sayso_bots.cli.arguments import add_json, add_store
from sayso_bots.cli.parser import Parser
from sayso_bots.cli.store import json_time, with_store
from sayso_bots.config.settings import read_hiding
from sayso_bots.process.terminal import table

_RULES = (
    *("RULE", "EFFECT", "TOOL", "WHERE", "SCOPE", "AGENT", "SESSION"),
    *("STORED BY", "ENDS (UTC)", "ENDS IN", "USES", "LAST USED", "WHY"),
)


_IDLE = (
    "sayso: {count} of them decided nothing for 14 days; `sayso revoke` takes them back: {rules}"
)


def add_arguments(parser: Parser) -> None:
    """Add the store."""
    add_json(parser)
    add_store(parser)
    parser.set_defaults(run=rules_command)


def rules_command(args: argparse.Namespace, env: Mapping[str, str]) -> int:
    """List what is remembered, the oldest first."""
    kept, now = with_store(args, env, lambda backend: backend.rules.all()), utc_now()
    if args.json:
        print(json.dumps([_rule_as_json(one, now) for one in kept]))
    elif kept:
        with hiding(read_hiding(args.config, env)):
            print(table(_RULES, _rule_rows(kept, now), whole=("SESSION",)))
        if idle := [one.remembered.rule_id for one in kept if one.remembered.is_idle(now)]:
            print(_IDLE.format(count=len(idle), rules=" ".join(idle)), file=sys.stderr)
    else:
        print("Nothing is remembered. Always on a card stores a rule.")
    return 0


def _rule_rows(kept: Sequence[KeptRule], now: datetime) -> list[tuple[str, ...]]:
    return [
        (
            one.remembered.rule_id,
            one.remembered.effect,
            ", ".join(one.remembered.rule.tools),
            where(one.remembered.rule),
            one.remembered.scope,
            one.agent_id,
            one.session_id or (f"(all on {one.project})" if one.project else "(all)"),
            one.remembered.stored_by,
            one.remembered.expires_at.strftime("%Y-%m-%d %H:%M"),
            duration_text(one.remembered.expires_at - now),
            str(one.remembered.uses),
            _ago(one.remembered, now),
            one.remembered.reason,
        )
        for one in kept
    ]


def where(rule: Rule) -> str:
    """The patterns, without secrets; of one call alone its values, or the digest of long ones."""
    if rule.arguments_digest is not None and not rule.params and not rule.talk:
        return f"exactly arguments {short_digest(rule.arguments_digest)}"
    parts = [f"{name} = {pattern}" for name, pattern in patterns(rule).items()]
    parts += [f"{name}: {told(fit)}" for name, fit in rule.matchers.items()]
    parts += [f"any {name}" for name in rule.talk]
    if rule.others_digest is not None:
        parts.append(f"others {short_digest(rule.others_digest)}")
    where = ", ".join(parts) or "any arguments"
    return where if rule.arguments_digest is None else f"exactly {where}"


def patterns(rule: Rule) -> dict[str, str]:
    """The patterns, without secrets: the backslashes of a glob would break the shape of one."""
    plain = {name: pattern.replace("\\", "") for name, pattern in rule.params.items()}
    hidden: dict[str, str] = redacted(plain)
    rows = zip(rule.params.values(), plain.values(), hidden.items(), strict=True)
    return {name: pattern if text == bare else text for pattern, bare, (name, text) in rows}


def _ago(kept: RememberedRule, now: datetime) -> str:
    last = kept.last_used_at
    said = "never" if last is None else f"{duration_text(now - last)} ago"
    return f"{said} (idle)" if kept.is_idle(now) else said


def _rule_as_json(kept: KeptRule, now: datetime) -> Mapping[str, Any]:
    remembered = kept.remembered
    last = remembered.last_used_at
    return {
        "id": remembered.rule_id,
        "effect": remembered.effect,
        "tool": remembered.rule.tool,
        "also": list(remembered.rule.also),
        "params": patterns(remembered.rule),
        "matchers": {name: asdict(fit) for name, fit in remembered.rule.matchers.items()},
        "talk": list(remembered.rule.talk),
        "argumentsDigest": remembered.rule.arguments_digest,
        "othersDigest": remembered.rule.others_digest,
        "scope": remembered.scope,
        "agent": kept.agent_id,
        "session": kept.session_id or None,
        "project": kept.project or None,
        "storedBy": remembered.stored_by,
        "storedAt": json_time(remembered.stored_at),
        "expiresAt": json_time(remembered.expires_at),
        "reason": remembered.reason or None,
        "uses": remembered.uses,
        "lastUsedAt": json_time(last),
        "idle": remembered.is_idle(now),
    }
