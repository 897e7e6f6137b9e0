"""``sayso audit``: what happened."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from typing import Any

from pydantic.alias_generators import to_camel

from sayso.clock import utc_now
from sayso.durations import parse_duration
from sayso.errors import ConfigError, StoreUnreachableError
from sayso.stores.audit import AuditEntry, AuditPage
from sayso.stores.backend import Backend
from sayso.text.visible import on_one_line
from sayso_bots.cli.arguments import add_json, add_store
from sayso_bots.cli.parser import Parser
from sayso_bots.cli.store import json_time, time_text, with_store
from sayso_bots.process.terminal import table

_AUDIT = ("AT", "WHAT", "TOOL", "AGENT", "SESSION", "BY", "REQUEST ID", "MORE")

_LAST = 50
_MAX_ENTRIES = 100_000
_MAX_AGO = timedelta(days=3_650)
_PAGE_ENTRIES = 1_000
_FOLLOW_SECONDS = 1.0


def add_arguments(parser: Parser) -> None:
    """Add the entries that are wanted, and the store."""
    parser.description = f"{parser.description} Arguments are never in it, only their digests."
    parser.add_argument(
        "--last",
        type=_count,
        metavar="N",
        help=f"how many entries, the newest (default: {_LAST}; with --since all of them)",
    )
    when = "a time such as 2026-01-15 or 2026-01-15T08:30 (UTC), or how long ago: 90m, 2h, 7d"
    parser.add_argument("--since", type=_moment, metavar="WHEN", help=f"from then on: {when}")
    parser.add_argument("--until", type=_moment, metavar="WHEN", help="before then, written alike")
    parser.add_argument("--agent", metavar="AGENT", help="of this agent; a pattern such as ci-*")
    parser.add_argument(
        "--person", metavar="ACCOUNT", help="by this person: platform:account, a pattern as well"
    )
    parser.add_argument("--tool", metavar="TOOL", help="about this tool; a pattern as well")
    parser.add_argument("--follow", action="store_true", help="go on as more happens, until Ctrl-C")
    add_json(parser)
    add_store(parser)
    parser.set_defaults(run=audit_command)


def audit_command(args: argparse.Namespace, env: Mapping[str, str]) -> int:
    """List what happened, the newest at the end; with ``--follow`` an entry a line, for ever."""
    if args.follow and args.until is not None:
        raise ConfigError("--follow goes on for ever: leave out --until")
    if args.follow:
        with_store(args, env, lambda backend: _follow(backend, args))
        return 0
    entries = with_store(args, env, lambda backend: _read(backend, args, args.until))
    if args.json:
        print(json.dumps([_entry_as_json(entry) for entry in entries]))
    elif entries:
        print(table(_AUDIT, [_entry_row(entry) for entry in entries]))
    else:
        print(_nothing(args))
    return 0


async def _read(
    backend: Backend, args: argparse.Namespace, until: datetime | None
) -> Sequence[AuditEntry]:
    count = args.last or (_LAST if args.since is None else _MAX_ENTRIES)
    return await backend.audit.read(
        count, since=args.since, until=until, wanted=lambda entry: _is_wanted(entry, args)
    )


async def _follow(backend: Backend, args: argparse.Namespace) -> None:
    begin = await backend.audit.read_page(None, count=_PAGE_ENTRIES)
    _print_each(await _read(backend, args, begin.until), args)
    until = begin.until
    while True:
        page = await _next_page(backend, until)
        _print_each([entry for entry in page.entries if _is_wanted(entry, args)], args)
        until = page.until
        if len(page.entries) < _PAGE_ENTRIES:
            await asyncio.sleep(_FOLLOW_SECONDS)


async def _next_page(backend: Backend, since: datetime | None) -> AuditPage:
    """Read on, as soon as the store answers; stderr is told when it does not, and when it does."""
    is_away = False
    while True:
        try:
            page = await backend.audit.read_page(since, count=_PAGE_ENTRIES)
        except StoreUnreachableError as error:
            if error.is_denied:
                raise
            if not is_away:
                print(f"sayso: {error}; it goes on when the store answers", file=sys.stderr)
            is_away = True
            await asyncio.sleep(_FOLLOW_SECONDS)
        else:
            if is_away:
                print("sayso: the store answers again", file=sys.stderr)
            return page


def _print_each(entries: Sequence[AuditEntry], args: argparse.Namespace) -> None:
    for entry in entries:
        text = "  ".join(on_one_line(cell) for cell in _entry_row(entry) if cell)
        print(json.dumps(_entry_as_json(entry)) if args.json else text, flush=True)


def _is_wanted(entry: AuditEntry, args: argparse.Namespace) -> bool:
    wanted = ((args.agent, entry.agent_id), (args.person, entry.by), (args.tool, entry.subject))
    return all(pattern is None or fnmatchcase(text, pattern) for pattern, text in wanted)


def _nothing(args: argparse.Namespace) -> str:
    narrowed = (args.since, args.until, args.agent, args.person, args.tool)
    if any(one is not None for one in narrowed):
        return "Nothing of that has happened."
    return "Nothing has happened yet."


def _entry_row(entry: AuditEntry) -> tuple[str, ...]:
    about_rule = f"rule {entry.rule_id}" if entry.rule_id else ""
    what = " ".join(word for word in (entry.effect, entry.scope) if word)
    choice = "" if entry.choice == "ask" else entry.choice
    refusal = entry.refusal.replace("_", " ")
    more = (refusal, about_rule, what, choice, entry.place, entry.reason)
    return (
        time_text(entry.at),
        entry.kind.replace("_", " "),
        entry.subject,
        entry.agent_id,
        entry.session_id,
        entry.by,
        entry.question_id,
        on_one_line(", ".join(filter(None, more))),
    )


def _entry_as_json(entry: AuditEntry) -> Mapping[str, Any]:
    facts = asdict(entry) | {"at": json_time(entry.at)}
    facts["request_id"] = facts.pop("question_id")
    return {to_camel(name): value for name, value in facts.items() if value}


def _count(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) <= _MAX_ENTRIES:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to {_MAX_ENTRIES}")
    return int(text)


def _moment(text: str) -> datetime:
    """Read a moment, in UTC where no zone is named, or how long ago it was."""
    try:
        return utc_now() - parse_duration(text, longest=_MAX_AGO)
    except ValueError:
        pass
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no time; write 2026-01-15, 2026-01-15T08:30Z, or how long ago: 2h or 7d"
        ) from None
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at
