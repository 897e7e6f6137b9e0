"""``sayso ask``: ask from a script, and wait."""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from pydantic import ValidationError

from sayso.actors import check_actor
from sayso.agent.place import here
from sayso.agent.timeouts import DEFAULT_PATIENCE_SECONDS, DEFAULT_TIMEOUT_SECONDS
from sayso.agent.verdict import CheckResult
from sayso.calls import RunRef, ToolCall, new_id
from sayso.durations import parse_duration
from sayso.errors import (
    ConfigError,
    IdempotencyConflictError,
    SaysoError,
    StoreUnreachableError,
)
from sayso.events import Event, Outcome, Resolution, UserInputRequest
from sayso.policy.decision import PolicyContext, Ruling, evaluate
from sayso.stores.backend import Backend
from sayso.stores.connect import open_store
from sayso.stores.protocols import check_key
from sayso.text.visible import on_one_line
from sayso_bots.asking.service import AskService, Requester
from sayso_bots.cli.arguments import add_asking_store, add_call, add_json, call_of, instead
from sayso_bots.cli.ask_progress import Screen, following, screen_on_stderr
from sayso_bots.cli.named import asking_settings
from sayso_bots.cli.parser import Parser
from sayso_bots.cli.store import ended_text, json_time, say_no_bots, who_and_where
from sayso_bots.config.store_settings import AskSettings, get_route_seconds
from sayso_bots.process.signals import StoppedError, run_stoppable

CODES = {
    Outcome.APPROVED: 0,
    Outcome.DENIED: 1,
    Outcome.EXPIRED: 3,
    Outcome.CANCELLED: 3,
    Outcome.ANSWERED: 1,
    Outcome.UNDELIVERABLE: 3,
}
_MORE = """

Exit codes: 0 approved, 1 denied, 3 expired, cancelled or undeliverable,
2 wrong usage or settings, 4 the store cannot be used or lost the question,
130 Ctrl-C, which withdraws the question.

Values of --arg are text; NAME:=JSON gives other values:
  sayso ask deploy --arg service=api --arg replicas:=3 --timeout 5m
"""


def add_arguments(parser: Parser) -> None:
    """The call, who asks, and how long to wait."""
    parser.description = f"{parser.description}{_MORE}"
    # 0 means approved: a script whose words turn out to be options must not take help for that.
    parser.help_code = 2
    add_call(parser)
    parser.add_argument("--description", default="", metavar="TEXT", help="why, in your words")
    parser.add_argument("--agent", metavar="NAME", help="who asks (default: $SAYSO_AGENT or cli)")
    parser.add_argument(
        "--session",
        metavar="NAME",
        help="what Always is remembered for (default: $SAYSO_SESSION; without one, for nothing)",
    )
    parser.add_argument(
        "--project",
        metavar="NAME",
        help="what it works on: Always can be stored for it (default: $SAYSO_PROJECT, or none)",
    )
    parser.add_argument("--branch", default="main", metavar="NAME", help="a branch of the session")
    parser.add_argument(
        "--requested-by",
        type=_actor,
        metavar="ACCOUNT",
        help="who wants it, as platform:account: they may not approve it themselves",
    )
    parser.add_argument(
        "--key",
        type=_key,
        metavar="TEXT",
        help="ask once: the same call under this key has the same question, and its verdict",
    )
    parser.add_argument("--source", metavar="NAME", help="the component that asks")
    _add_times(parser)
    add_json(parser, "print the verdict as a JSON object, and progress as JSON lines on stderr")
    parser.add_argument(
        "--quiet", "-q", action="store_true", help="do not say what happens before the verdict"
    )
    add_asking_store(parser)
    parser.instead = instead
    parser.set_defaults(run=ask_command)


def _add_times(parser: Parser) -> None:
    parser.add_argument(
        "--timeout", metavar="10m", help="how long to wait (default: the route's timeout, or 10m)"
    )
    parser.add_argument(
        "--patience", metavar="10s", help="how long a store that is away is waited for (10s)"
    )


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a command line of ``ask`` says, with the settings."""

    settings: AskSettings
    call: ToolCall
    run: RunRef
    seconds: float
    patience: float


def prepared(args: argparse.Namespace, env: Mapping[str, str]) -> Prepared:
    """Read the command line and the settings.

    Raises:
        ConfigError: one of them is wrong.
    """
    settings = asking_settings(args.config, args.store, env)
    call = call_of(args)
    run = _run(args, env)
    seconds = _seconds(args, settings, run, call)
    patience = _given(args.patience, "--patience") or DEFAULT_PATIENCE_SECONDS
    return Prepared(settings, call, run, seconds, patience)


def ask_command(args: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Ask, wait, print the verdict; its exit code."""
    said = prepared(args, env)
    settings = said.settings
    # What the gate logs while it tries again ends in an error that says it better.
    logging.getLogger("sayso").setLevel(logging.ERROR)
    screen = screen_on_stderr(
        env, name=partial(_who, settings), json_lines=args.json, quiet=args.quiet
    )
    stopped = Withdrawal()
    try:
        verdict = run_stoppable(_check(args, said, screen, stopped))
    except (KeyboardInterrupt, StoppedError) as signal:
        if args.json:
            print(json.dumps(stopped.as_json(said.call)), flush=True)
        print(f"sayso: {on_one_line(stopped.in_words())}", file=sys.stderr)
        return 143 if isinstance(signal, StoppedError) else 130
    _print(verdict, settings, as_json=args.json)
    return CODES[verdict.outcome]


async def _check(
    args: argparse.Namespace, said: Prepared, screen: Screen | None, stopped: Withdrawal
) -> CheckResult:
    settings, run, call = said.settings, said.run, said.call
    async with open_store(settings.store.url) as store, stopped.looking(store):
        decision = await evaluate(settings.policies, call, PolicyContext(run))
        if decision is not None and decision.ruling is Ruling.DENY:
            screen = None  # nobody is asked
        ends_at = asyncio.get_running_loop().time() + said.seconds
        async with following(store, run, screen, ready=said.seconds / 4) as show:

            def observe(event: Event) -> None:
                stopped.hear(event)
                show(event)

            requester = Requester(run.agent_id, said.seconds, said.patience)
            service = AskService(
                store, settings, requester, "cli", args.requested_by, here, observe, who_and_where()
            )
            # To see more of a store that hangs, a quarter of the time was spent at most.
            left = max(ends_at - asyncio.get_running_loop().time(), said.seconds / 2)
            result = await _ask(service, args, said, left)
        # Whoever is not quiet was told while it waited.
        was_told = args.json or not args.quiet
        expired = result.outcome is Outcome.EXPIRED
        if expired and not was_told and await service.has_no_workers():
            say_no_bots()
        return result


async def _ask(
    service: AskService, args: argparse.Namespace, said: Prepared, seconds: float
) -> CheckResult:
    """Ask; what went wrong is told in terms of the command line and the settings."""
    try:
        return await service.check(
            said.run,
            said.call,
            source_name=args.source,
            description=args.description,
            timeout=seconds,
            key=args.key,
        )
    except IdempotencyConflictError as error:
        raise ConfigError(str(error)) from None
    except StoreUnreachableError as error:
        if error.lost_request_id:
            raise
        raise StoreUnreachableError(service.explain(error)) from None


def _key(text: str) -> str:
    try:
        return check_key(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _actor(text: str) -> str:
    try:
        return check_actor(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _run(args: argparse.Namespace, env: Mapping[str, str]) -> RunRef:
    agent = args.agent or env.get("SAYSO_AGENT") or "cli"
    session = args.session or env.get("SAYSO_SESSION")
    project = args.project or env.get("SAYSO_PROJECT") or ""
    try:
        # Scripts that ask at the same time have nothing to do with each other: a card each.
        own = session or who_and_where()
        return RunRef(agent, own, args.branch, new_id(), project, is_named=bool(session))
    except ValidationError:
        names = "SAYSO_AGENT, SAYSO_SESSION or SAYSO_PROJECT"
        raise ConfigError(f"{names} is not valid UTF-8") from None


def _seconds(args: argparse.Namespace, settings: AskSettings, run: RunRef, call: ToolCall) -> float:
    if (seconds := _given(args.timeout, "--timeout")) is not None:
        return seconds
    routed = get_route_seconds(settings.routes, run.agent_id, call.name)
    return DEFAULT_TIMEOUT_SECONDS if routed is None else routed


def _given(written: str | None, option: str) -> float | None:
    try:
        return None if written is None else parse_duration(written).total_seconds()
    except ValueError as error:
        raise ConfigError(f"{option} {written!r:.40} {error}") from None


def _print(verdict: CheckResult, settings: AskSettings, *, as_json: bool) -> None:
    outcome = verdict.outcome.value
    if as_json or not (CODES[verdict.outcome] == 3 and sys.stdout.isatty() and sys.stderr.isatty()):
        # On a terminal, the line on stderr below says the same and more.
        print(printed(verdict, settings, as_json=as_json))
    if CODES[verdict.outcome] == 3:
        reason = on_one_line(verdict.reason) or "no reason was given"
        print(f"sayso: {outcome}: {reason}", file=sys.stderr)


def printed(verdict: CheckResult, settings: AskSettings, *, as_json: bool) -> str:
    """The verdict as stdout has it."""
    if as_json:
        return json.dumps(_as_json_object(verdict))
    reason = on_one_line(verdict.reason)
    by = f" by {on_one_line(_who(settings, verdict.decided_by))}" if verdict.decided_by else ""
    because = f": {reason}" if reason and CODES[verdict.outcome] < 3 else ""
    return f"{verdict.outcome.value}{by}{because}"


def _as_json_object(verdict: CheckResult) -> Mapping[str, Any]:
    is_decided = CODES[verdict.outcome] < 3
    return {
        "outcome": verdict.outcome.value,
        "approved": verdict.approved,
        "requestId": verdict.permission_id,
        "tool": verdict.tool,
        "arguments": dict(verdict.arguments),
        "decidedBy": verdict.decided_by,
        "decidedAt": json_time(verdict.decided_at) if is_decided else None,
        "decidedLine": verdict.line if is_decided else None,
        "reason": verdict.reason or None,
    }


def _who(settings: AskSettings, actor: str) -> str:
    name = settings.routes.name(actor)
    return f"{name} ({actor})" if name else actor


_LOOK_SECONDS = 2.0


class Withdrawal:
    """Follows one question, so that a command that is stopped can say what became of it."""

    def __init__(self) -> None:
        self._request: UserInputRequest | None = None
        self._ending: Resolution | None = None

    def hear(self, event: Event) -> None:
        """The gate asked, or something ended."""
        if isinstance(event, UserInputRequest):
            self._request = event

    @asynccontextmanager
    async def looking(self, backend: Backend) -> AsyncIterator[None]:
        """Look how the question ended when the block is cancelled, and has tidied up."""
        try:
            yield
        except asyncio.CancelledError:
            await self._look(backend)
            raise

    async def _look(self, backend: Backend) -> None:
        if self._request is None:
            return
        with suppress(SaysoError, TimeoutError):
            async with asyncio.timeout(_LOOK_SECONDS):
                record = await backend.store.get(self._request.question_id)
                self._ending = None if record is None else record.ending

    def in_words(self) -> str:
        """One line for a person."""
        if self._request is None:
            return "stopped; nobody was asked"
        if self._ending is None:
            return "stopped; the question could not be withdrawn and stays open until it expires"
        if self._ending.outcome is Outcome.CANCELLED:
            return "withdrawn; the cards say so"
        return f"stopped; the question was already {ended_text(self._ending)}"

    def as_json(self, call: ToolCall) -> Mapping[str, Any]:
        """A verdict that lets nothing run, with the fields of any other."""
        return {
            "outcome": Outcome.CANCELLED.value,
            "approved": False,
            "requestId": self._request.question_id if self._request else None,
            "tool": call.name,
            "arguments": dict(call.arguments),
            "decidedBy": None,
            "decidedAt": None,
            "decidedLine": None,
            "reason": self.in_words(),
        }
