"""``sayso explain``: which line of the policy would decide on a call, and where it stands."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sayso.agent.place import project_folder, project_of
from sayso.calls import RunRef, ToolCall
from sayso.errors import ConfigError, StoreUnreachableError
from sayso.policy.decision import Decision, PolicyContext, evaluate
from sayso.policy.policy_file import PRESETS, PlacedRule
from sayso.policy.server_policy import Section, ServerPolicy
from sayso.rules.rule import RememberedRule
from sayso.rules.rule_set import RuleBook
from sayso.stores.connect import open_store
from sayso.text.secrets import hiding
from sayso.text.visible import on_one_line
from sayso_bots.cli.arguments import add_call, add_json, add_store, call_of, instead
from sayso_bots.cli.parser import Parser
from sayso_bots.cli.rules import patterns, where
from sayso_bots.cli.store import json_time
from sayso_bots.config.settings import read_hiding
from sayso_bots.config.store_settings import StoreSettings, read_ask_settings

_WORDS = {"allow": "allowed", "deny": "denied", "ask": "a person is asked"}


@dataclass(frozen=True, slots=True)
class _Explained:
    """The decision on a call, and all that had a part in it."""

    decision: Decision
    section: Section | None
    rule: PlacedRule | None
    remembered: tuple[RememberedRule, ...]
    on_server: bool


def add_arguments(parser: Parser) -> None:
    """The call, who would make it, and the session whose remembered rules count."""
    parser.description = (
        f"{parser.description} The policy is that of the settings; with --session, what that "
        "session remembers and what the bots on the store deny counts, too. Nothing is asked, "
        "used up or stored."
    )
    add_call(parser)
    parser.add_argument("--agent", metavar="NAME", help="who asks (default: $SAYSO_AGENT or cli)")
    parser.add_argument(
        "--session", metavar="NAME", help="look into the store for what it remembers, too"
    )
    works_on = parser.add_mutually_exclusive_group()
    works_on.add_argument(
        "--project", default="", metavar="NAME", help="with --session: the project it names, too"
    )
    works_on.add_argument(
        "--folder", metavar="DIR", help="with --session: the folder here that it works in, too"
    )
    add_json(parser, "one JSON object")
    add_store(parser)
    parser.instead = instead
    parser.set_defaults(run=explain_command)


def explain_command(args: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Print which line would decide; 0 whatever it decides."""
    settings = read_ask_settings(args.config, env, store_url=args.store)
    folder = project_folder(str(Path(args.folder).absolute())) if args.folder else None
    call = replace(call_of(args), folder=folder)
    run = RunRef(
        args.agent or env.get("SAYSO_AGENT") or "cli",
        args.session or "",
        project=project_of(folder) or args.project,
    )
    book = RuleBook() if args.session is None else asyncio.run(_book(settings.store, run))
    explained = asyncio.run(_explain(settings.policies, call, run, book))
    with hiding(read_hiding(args.config, env)):
        if args.json:
            print(json.dumps(_as_json(explained)))
        else:
            for name, text in _rows(explained, call, run):
                print(f"{name + ':':12} {on_one_line(text)}")
    return 0


async def _book(store: StoreSettings, run: RunRef) -> RuleBook:
    if store.is_memory:
        raise ConfigError(
            f"{store.name} is memory://, which lives inside another process; leave out --session"
        )
    async with open_store(store.url) as backend:
        try:
            return await backend.rules.book(run)
        except StoreUnreachableError as error:
            raise StoreUnreachableError(store.explain_unreachable(error)) from None


async def _explain(
    policies: ServerPolicy, call: ToolCall, run: RunRef, book: RuleBook
) -> _Explained:
    async def could_be_spent(_: str) -> bool:
        return True

    context = PolicyContext(
        run,
        book.remembered,
        spend=could_be_spent,
        unreadable=book.unreadable,
        floor=book.floor,
    )
    decision = await evaluate(policies, call, context)
    if decision is None:
        raise TypeError("a policy of rules always decides")
    section = policies.section(run.agent_id, call.name)
    rule = None if section is None else section.rule(decision.line, call.name)
    remembered = tuple(one for one in book.remembered if one.rule_id in decision.rule_ids)
    on_server = rule is None and book.floor.denial(call) is not None
    return _Explained(decision, section, rule, remembered, on_server)


def _rows(explained: _Explained, call: ToolCall, run: RunRef) -> list[tuple[str, str]]:
    decision, section, rule = explained.decision, explained.section, explained.rule
    rows = [
        ("decision", f"{_WORDS[decision.ruling.value]}: {call.name} by agent {run.agent_id}"),
        ("line", decision.line),
        ("why", decision.reason),
    ]
    if rule is not None:
        rows += [
            ("rule", f"{', '.join(rule.rule.tools)}, {where(rule.rule)}"),
            ("at", _place(rule)),
        ]
    if explained.on_server:
        rows.append(("at", "the store: the bots there deny it, whatever the settings here say"))
    for kept in explained.remembered:
        rows.append(("rule", f"{', '.join(kept.rule.tools)}, {where(kept.rule)}"))
        until = json_time(kept.expires_at)
        rows.append(("stored", f"by {kept.stored_by}, until {until} (sayso revoke {kept.rule_id})"))
    if section is not None and rule in section.allow_once:
        rows.append(("note", "once in a session: if it was used up there, a person is asked"))
    if section is None:
        rows.append(("section", "none is about this agent and tool, so a person is asked"))
    else:
        called = section.called or "policy"
        about = f"agent {section.agent}, tool {section.tool}"
        rows.append(("section", f"{called} ({section.place}), for {about}"))
    return [(name, text) for name, text in rows if text]


def _place(rule: PlacedRule) -> str:
    """Return the place of the rule; of a preset, also what the tool does and whose it is."""
    name = rule.place.removeprefix("preset ")
    tools = (one for one in PRESETS.get(name, ()) if one.rule == rule.rule)
    looks = next(tools, None)
    return rule.place if looks is None else f"{rule.place}: it {looks.does} ({looks.of})"


def _as_json(explained: _Explained) -> Mapping[str, Any]:
    decision, section, rule = explained.decision, explained.section, explained.rule
    kept, *others = explained.remembered or (None,)
    return {
        "ruling": decision.ruling.value,
        "line": decision.line,
        "reason": decision.reason or None,
        "rule": rule
        and {"tool": rule.rule.tool, "params": patterns(rule.rule), "place": rule.place},
        "section": section
        and {
            "name": section.called or "policy",
            "agent": section.agent,
            "tool": section.tool,
            "place": section.place,
        },
        "remembered": kept
        and {
            "id": kept.rule_id,
            "effect": kept.effect,
            "params": patterns(kept.rule),
            "storedBy": kept.stored_by,
            "expiresAt": json_time(kept.expires_at),
            "others": [one.rule_id for one in others if one is not None],
        },
    }
