"""From a hook's event to its answer, by the asking service; and how its call went."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from sayso.agent.place import place_of, project_folder, project_of
from sayso.agent.verdict import CheckResult
from sayso.always.widths import MOST_SUGGESTED
from sayso.calls import RunRef, ToolCall, new_id
from sayso.clock import utc_now
from sayso.digests import is_same_json
from sayso.errors import SaysoError
from sayso.events import Outcome
from sayso.rules.glob import escape_glob
from sayso.rules.rule import PatternRule, Rule
from sayso.stores.backend import Backend
from sayso.text.visible import on_one_line
from sayso_bots.asking.service import AskService, Warn
from sayso_bots.exact import is_read_as_approved
from sayso_bots.hook.agents import Answer, Answered
from sayso_bots.hook.events import HookEvent, Ran, allowed, denied

_COMMAND = "command"
_FILE = "file_path"
# The tools whose rules Claude Code writes as paths from the root: //home/me/project/**
_ROOTED, _BELOW = "//", "/**"


def suggested(call: ToolCall, suggestions: Sequence[Any]) -> tuple[Rule, ...]:
    """Rules to offer with Always; each is about the call.

    A command that is written whole is taken as it is, and a folder that is
    written from the root as all that is below it. The beginning of a command
    is not: to a shell, ``npm test*`` is also ``npm test; rm -rf .``.
    """
    found: list[Rule] = []
    for rule in _rules(call, suggestions):
        if rule.matches(call) and rule not in found:
            found.append(rule)
    return tuple(found[:MOST_SUGGESTED])


def _rules(call: ToolCall, suggestions: Sequence[Any]) -> Iterator[Rule]:
    for one in suggestions:
        if not isinstance(one, Mapping) or one.get("type") != "addRules":
            continue
        written = one.get("rules")
        if one.get("behavior") != "allow" or not isinstance(written, list):
            continue
        for rule in written:
            if isinstance(rule, Mapping) and rule.get("toolName") == call.name:
                yield from _rule(call.name, rule.get("ruleContent"))


def _rule(tool: str, content: object) -> Iterator[Rule]:
    if not isinstance(content, str) or not content:
        return
    if tool == "Bash" and "*" not in content:
        yield PatternRule(tool, {_COMMAND: escape_glob(content)})
    folder = content.removeprefix("/").removesuffix(_BELOW)
    if content.startswith(_ROOTED) and content.endswith(_BELOW) and folder:
        yield PatternRule(tool, {_FILE: f"{escape_glob(folder)}{_BELOW}"})


_log = logging.getLogger(__name__)

_REPORT_COUNTS = timedelta(days=1)


async def answer_event(event: HookEvent, service: AskService, warn: Warn) -> Answered:
    """Answer an event: yes on a result that approves, no in every other case.

    Args:
        warn: is told meanwhile what somebody should know before the answer.
    """
    try:
        async with service.warning_without_workers(warn):
            result = await _check(event, service)
        if await _has_run(result, service):
            return Answered(denied(event.name, _HAS_RUN))
        was_unseen = result.outcome is Outcome.EXPIRED and await service.has_no_workers()
        why = _UNSEEN if was_unseen else ""
        answer = _answer(event, result, why)
        return Answered(answer, result.approved and result.permission_id is not None)
    except SaysoError as error:
        why = service.explain(error)
    except Exception as error:  # whatever it is, the call must not run
        _log.exception("a hook's event could not be answered")
        why = f"an error inside Sayso ({type(error).__name__})"
    return Answered(failed(event.name, why))


_UNSEEN = (
    "No bots are running on this store, so nobody could see the question; `sayso serve` starts them"
)
_HAS_RUN = (
    "The call that was approved under this id ran already, so it did not run again: "
    "an approval is used once. Call the tool anew to ask once more."
)


def failed(name: str, why: str) -> Answer:
    """Build the denial that says what went wrong."""
    return denied(
        name, f"Sayso could not get an answer, so the call did not run: {on_one_line(why)}"
    )


async def report_run(ran: Ran, agent: str, key: str, store: Backend) -> None:
    """Record how a call went on the approval under its key, where there is one, for its card.

    Nothing of the tool's output is recorded.
    """
    record = await store.store.get_by_key(RunRef(agent, ran.session), key)
    if record is None:
        return
    request_id, until = record.request.question_id, utc_now() + _REPORT_COUNTS
    if await store.store.consume_approval(request_id, ran.call_id, until=until) is not None:
        await store.store.report_outcome(request_id, ran.went)


async def _check(event: HookEvent, service: AskService) -> CheckResult:
    # The calls of one prompt are one run: those that come together share a card.
    folder = project_folder(event.folder)
    run_id, project = event.prompt or event.session, project_of(folder) or ""
    run = RunRef(service.requester.agent, event.session, run_id=run_id, project=project)
    call = ToolCall(event.tool, event.arguments, event.call_id or new_id(), folder)
    locate = partial(place_of, Path(event.folder)) if event.folder else None
    return await replace(service, locate=locate).check(
        run,
        call,
        description=event.description,
        path=event.path,
        key=event.key,
        suggest=suggested(call, event.suggestions),
    )


async def _has_run(result: CheckResult, service: AskService) -> bool:
    """Return True if the approval is of a call that was reported to have run."""
    if not result.approved or (request_id := result.permission_id) is None:
        return False
    record = await service.retry(lambda: service.store.store.get(request_id))
    return record is not None and record.use is not None


def _answer(event: HookEvent, result: CheckResult, more: str) -> Answer:
    said = f"{result.as_tool_result()} {more}".rstrip()
    if not result.approved:
        return denied(event.name, said)
    arguments = dict(result.arguments)
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
