"""From a hook's event to its answer, by a gate."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sayso.agent.gate import Gate
from sayso.agent.place import place_of, project_folder, project_of
from sayso.agent.verdict import CheckResult
from sayso.calls import RunRef, ToolCall, new_id
from sayso.digests import is_same_json
from sayso.errors import SaysoError, StoreUnreachableError
from sayso.events import Outcome
from sayso.stores.backend import Backend
from sayso.text.visible import on_one_line
from sayso_bots.config.ask_settings import AskSettings, get_route_seconds
from sayso_bots.hook.agents import Answer, Answered
from sayso_bots.hook.edits import is_read_as_approved
from sayso_bots.hook.events import HookEvent, allowed, denied
from sayso_bots.hook.suggestions import suggested
from sayso_bots.hook.unseen import Say, is_unseen, watched

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Asker:
    """As whom a hook asks, for how long at most, and how long it waits for a store."""

    agent: str
    seconds: float
    patience: float


async def answered(
    event: HookEvent, settings: AskSettings, asker: Asker, backend: Backend, say: Say
) -> Answered:
    """What the hook says to the event: yes on a verdict that approves, no in every other case.

    ``say`` is told meanwhile what somebody should know before the answer.
    """
    try:
        async with watched(backend, say):
            verdict = await _verdict(event, settings, asker, backend)
        was_unseen = verdict.outcome is Outcome.EXPIRED and await is_unseen(backend)
        answer = _answer(
            event,
            verdict,
            (
                "No bots are running on this store, so nobody could see the question; `sayso "
                "serve` starts them"
            )
            if was_unseen
            else "",
        )
        return Answered(answer, verdict.approved and verdict.permission_id is not None)
    except StoreUnreachableError as error:
        why = settings.store.explain_unreachable(error)
    except SaysoError as error:
        why = str(error)
    except Exception as error:  # whatever it is, the call must not run
        _log.exception("a hook's event could not be answered")
        why = f"an error inside Sayso ({type(error).__name__})"
    return Answered(failed(event.name, why))


def failed(name: str, why: str) -> Answer:
    """The denial that says what went wrong."""
    return denied(
        name, f"Sayso could not get an answer, so the call did not run: {on_one_line(why)}"
    )


async def _verdict(
    event: HookEvent, settings: AskSettings, asker: Asker, backend: Backend
) -> CheckResult:
    # The calls of one prompt are one run: those that come together share a card.
    folder = project_folder(event.folder)
    run_id, project = event.prompt or event.session, project_of(folder) or ""
    run = RunRef(asker.agent, event.session, run_id=run_id, project=project)
    call = ToolCall(event.tool, event.arguments, event.call_id or new_id(), folder)
    routed = get_route_seconds(settings.routes, run.agent_id, call.name)
    async with Gate.open(
        backend,
        run=run,
        policy=settings.policies,
        withdrawn_by=f"hook:{asker.agent}",
        audit_rules=settings.policies.audits(run.agent_id, call.name),
        patience=asker.patience,
        where=partial(place_of, Path(event.folder)) if event.folder else None,
    ) as gate:
        return await gate.check(
            call,
            description=event.description,
            path=event.path,
            key=event.call_id or None,
            suggest=suggested(call, event.suggestions),
            timeout=asker.seconds if routed is None else min(routed, asker.seconds),
        )


def _answer(event: HookEvent, verdict: CheckResult, more: str) -> Answer:
    said = f"{verdict.as_tool_result()} {more}".rstrip()
    if not verdict.approved:
        return denied(event.name, said)
    arguments = dict(verdict.arguments)
    if is_same_json(arguments, dict(event.arguments)):
        return allowed(event.name, said)
    written = json.dumps(arguments)
    if not is_read_as_approved(arguments):
        words = (
            f"The arguments were changed, and {event.agent.title} would not read them "
            "as they were approved (a number has too many digits, or they are nested too deeply), "
            "so the call did not run. These were "
            f"approved: {written}"
        )
        return denied(event.name, words)
    told = f"The arguments were changed before the call ran; these ran: {written}"
    return allowed(event.name, said, arguments, told)
