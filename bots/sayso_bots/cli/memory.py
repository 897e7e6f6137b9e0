"""``sayso rules``, ``revoke`` and ``audit``: what is remembered, and what happened."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sayso.clock import utc_now
from sayso.rules.rule import Rule
from sayso.stores.audit import AuditEntry
from sayso.stores.ports import KeptRule
from sayso.text.secrets import redacted
from sayso.text.visible import visible
from sayso_bots.cli.ask import who_and_where
from sayso_bots.cli.requests import with_store
from sayso_bots.process.terminal import table
from sayso_bots.settings.durations import duration_text

_RULES = (
    *("RULE", "EFFECT", "TOOL", "WHERE", "SCOPE", "AGENT", "SESSION"),
    *("STORED BY", "ENDS IN", "USES", "LAST USED", "WHY"),
)
_AUDIT = ("AT", "WHAT", "TOOL", "AGENT", "SESSION", "BY", "MORE")


def rules_command(args: argparse.Namespace, env: Mapping[str, str]) -> int:
    """List what is remembered, the oldest first."""
    kept = with_store(args, env, lambda backend: backend.rules.all())
    if args.json:
        print(json.dumps([_rule_as_json(one) for one in kept]))
    elif kept:
        print(table(_RULES, _rule_rows(kept)))
    else:
        print("Nothing is remembered. Always on a card stores a rule.")
    return 0


def revoke_command(args: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Take a remembered rule back; 1 when there is none of this id."""
    by = f"cli:{who_and_where()}"
    revoked = with_store(args, env, lambda backend: backend.rules.revoke(args.rule, by=by))
    if args.json:
        print(json.dumps({"ruleId": args.rule, "revoked": revoked}))
    elif revoked:
        print(f"revoked {args.rule}: its calls are asked about again")
    else:
        print(f"not revoked: no rule {args.rule} is in force; `sayso rules` lists them")
    return 0 if revoked else 1


def audit_command(args: argparse.Namespace, env: Mapping[str, str]) -> int:
    """List what happened last, the newest at the end."""
    entries = with_store(args, env, lambda backend: backend.audit.read(args.last))
    if args.json:
        print(json.dumps([_entry_as_json(entry) for entry in entries]))
    elif entries:
        print(table(_AUDIT, [_entry_row(entry) for entry in entries]))
    else:
        print("Nothing has happened yet.")
    return 0


def _rule_rows(kept: Sequence[KeptRule]) -> list[tuple[str, ...]]:
    now = utc_now()
    return [
        (
            one.remembered.rule_id,
            one.remembered.effect,
            one.remembered.rule.tool,
            _where(one.remembered.rule),
            one.remembered.scope,
            one.agent_id,
            one.session_id or "(all)",
            one.remembered.stored_by,
            duration_text(one.remembered.expires_at - now),
            str(one.remembered.uses),
            _ago(one.remembered.last_used_at, now),
            one.remembered.reason,
        )
        for one in kept
    ]


def _where(rule: Rule) -> str:
    """The patterns, without secrets; of one call alone its values, or the digest of long ones."""
    if rule.arguments_digest is not None and not rule.params:
        return f"exactly arguments {rule.arguments_digest[:12]}"
    parts = [f"{name} = {pattern}" for name, pattern in _patterns(rule).items()]
    if rule.others_digest is not None:
        parts.append(f"others {rule.others_digest[:12]}")
    where = ", ".join(parts) or "any arguments"
    return where if rule.arguments_digest is None else f"exactly {where}"


def _patterns(rule: Rule) -> dict[str, str]:
    """The patterns, without secrets: the backslashes of a glob would break the shape of one."""
    plain = {name: pattern.replace("\\", "") for name, pattern in rule.params.items()}
    hidden: dict[str, str] = redacted(plain)
    rows = zip(rule.params.values(), plain.values(), hidden.items(), strict=True)
    return {name: pattern if text == bare else text for pattern, bare, (name, text) in rows}


def _ago(at: datetime | None, now: datetime) -> str:
    return "never" if at is None else f"{duration_text(now - at)} ago"


def _rule_as_json(kept: KeptRule) -> Mapping[str, Any]:
    remembered = kept.remembered
    last = remembered.last_used_at
    return {
        "id": remembered.rule_id,
        "effect": remembered.effect,
        "tool": remembered.rule.tool,
        "params": _patterns(remembered.rule),
        "argumentsDigest": remembered.rule.arguments_digest,
        "othersDigest": remembered.rule.others_digest,
        "scope": remembered.scope,
        "agent": kept.agent_id,
        "session": kept.session_id or None,
        "storedBy": remembered.stored_by,
        "storedAt": remembered.stored_at.isoformat(),
        "expiresAt": remembered.expires_at.isoformat(),
        "reason": remembered.reason,
        "uses": remembered.uses,
        "lastUsedAt": last.isoformat() if last else None,
    }


def _entry_row(entry: AuditEntry) -> tuple[str, ...]:
    about_rule = f"rule {entry.rule_id}" if entry.rule_id else ""
    what = " ".join(word for word in (entry.effect, entry.scope) if word)
    choice = "" if entry.choice == "ask" else entry.choice
    more = (about_rule, what, choice, entry.reason)
    return (
        _time(entry.at),
        entry.kind.replace("_", " "),
        entry.subject,
        entry.agent_id,
        entry.session_id,
        entry.by,
        visible(", ".join(filter(None, more)), one_line=True),
    )


def _entry_as_json(entry: AuditEntry) -> Mapping[str, Any]:
    facts = asdict(entry) | {"at": entry.at.isoformat()}
    return {_camel(name): value for name, value in facts.items() if value}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _time(at: datetime) -> str:
    return at.strftime("%Y-%m-%d %H:%M:%S UTC")
