"""One permission: the policy first, then editor and chat, and the first answer counts."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sayso.agent.gate import Gate
from sayso.agent.place import place_of, project_folder, project_of
from sayso.agent.responding import Answering
from sayso.agent.verdict import CheckResult
from sayso.always.terms import GrantOptions
from sayso.calls import RunRef
from sayso.clock import utc_now
from sayso.digests import is_same_json
from sayso.errors import AlreadyResolvedError, SaysoError
from sayso.events import UserInputRequest, UserInputResponse
from sayso.questions import permission as calls
from sayso.questions import text_approval as texts
from sayso.questions.permission import PermissionRequestEvent
from sayso.questions.permission_answer import PermissionResponseEvent
from sayso.questions.text_approval import ApproveText, TextApproval
from sayso.stores.backend import Backend
from sayso.text.visible import on_one_line
from sayso_bots.acp.messages import Message
from sayso_bots.acp.permission import Permission
from sayso_bots.config.ask_settings import AskSettings, get_route_seconds

_log = logging.getLogger(__name__)

EDITOR = "acp:editor"
"""Who answers in the editor: the protocol does not say which person sits there."""


@dataclass(frozen=True, slots=True)
class Asker:
    """As whom the proxy asks, for how long at most, and how long it waits for a store."""

    agent: str
    seconds: float
    patience: float


@dataclass(frozen=True, slots=True)
class Editor:
    """The editor, asked about one permission; without ``ask`` only people in chat are.

    ``answer`` is set when it answers; its exception says why nobody wants an answer any more.
    """

    answer: asyncio.Future[Message]
    ask: Callable[[], None] | None


class WithdrawnError(Exception):
    """Nobody wants the answer of a request any more."""


@dataclass(frozen=True, slots=True)
class Races:
    """Asks about permissions on one store, by the policy of its settings."""

    backend: Backend
    settings: AskSettings
    asker: Asker

    async def answer(self, permission: Permission, folder: str, editor: Editor) -> bytes:
        """The answer for the agent: yes where the policy or a person says so, else no.

        ``folder`` is where the session works.
        """
        what = on_one_line(permission.call.name if permission.call else permission.title)
        try:
            async with self._gate(permission, folder) as gate:
                return await self._asked(gate, permission, editor)
        except SaysoError as error:
            why = str(error)
        except Exception as error:  # whatever it is, the call must not run
            _log.exception("a permission could not be asked about")
            why = type(error).__name__
        _log.error(
            "%s", f"Sayso could not ask about {what}, so it was rejected: {on_one_line(why)}"
        )
        return permission.answer(allowed=False)

    @asynccontextmanager
    async def _gate(self, permission: Permission, folder: str) -> AsyncIterator[Gate]:
        placed = project_folder(folder)
        session = permission.session
        run = RunRef(self.asker.agent, session, run_id=session, project=project_of(placed) or "")
        tool = "" if permission.call is None else permission.call.name
        async with Gate.open(
            self.backend,
            run=run,
            policy=self.settings.policies,
            withdrawn_by=f"acp:{self.asker.agent}",
            audit_rules=self.settings.policies.audits(run.agent_id, tool),
            patience=self.asker.patience,
            folder=placed,
            where=partial(place_of, Path(folder)) if folder else None,
        ) as gate:
            yield gate

    async def _asked(self, gate: Gate, permission: Permission, editor: Editor) -> bytes:
        said = await self._submitted(gate, permission)
        if isinstance(said, CheckResult):
            if _is_withdrawn(editor):
                return permission.cancelled()
            return _by_verdict(permission, said)
        chat = asyncio.create_task(_in_chat(gate, permission, said))
        try:
            if editor.ask is not None:
                editor.ask()
            first: set[asyncio.Future[Any]] = {chat, editor.answer}
            await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
            if chat.done() and not _is_withdrawn(editor):
                return chat.result()
            return await self._by_editor(gate, permission, said, chat, editor.answer)
        except asyncio.CancelledError:
            await _withdrawn(gate, said, "the editor or the agent is gone")
            raise
        finally:
            chat.cancel()
            await asyncio.gather(chat, return_exceptions=True)

    async def _submitted(self, gate: Gate, permission: Permission) -> str | CheckResult:
        call = permission.call
        if call is None:
            text = permission.description or permission.title
            return await gate.submit(
                ApproveText(text=text, title=permission.title), timeout=self.asker.seconds
            )
        routed = get_route_seconds(self.settings.routes, self.asker.agent, call.name)
        return await gate.submit(
            call,
            description=permission.description or permission.title,
            timeout=self.asker.seconds if routed is None else min(routed, self.asker.seconds),
        )

    async def _by_editor(
        self,
        gate: Gate,
        permission: Permission,
        question: str,
        chat: asyncio.Task[bytes],
        answered: asyncio.Future[Message],
    ) -> bytes:
        """The editor's answer, unless one in chat came first: the store knows."""
        try:
            message = answered.result()
        except WithdrawnError as error:
            await _withdrawn(gate, question, str(error))
            return permission.cancelled()
        said = permission.said(message)
        if said == "cancelled":
            await _withdrawn(gate, question, "the editor cancelled it")
            return message.raw
        keys = (texts.APPROVE, texts.DENY) if permission.call is None else (calls.ALLOW, calls.DENY)
        key = keys[0] if said == "allowed" else keys[1]
        answering = Answering(
            self.backend, None, GrantOptions(), utc_now, overruled=partial(_overruled, gate)
        )
        record = await self.backend.store.get(question)
        if record is None:
            return permission.answer(allowed=False)
        try:
            await answering.choose(record, key, by=EDITOR)
        except AlreadyResolvedError:
            return await chat
        return message.raw


def _is_withdrawn(editor: Editor) -> bool:
    """Whether nobody wants an answer any more: what was asked about may be another call by now."""
    return editor.answer.done() and editor.answer.exception() is not None


async def _overruled(
    gate: Gate, request: UserInputRequest, response: UserInputResponse
) -> PermissionResponseEvent | None:
    """The denial in place of an approval that the agent's policy denies by now."""
    if isinstance(request, PermissionRequestEvent) and isinstance(
        response, PermissionResponseEvent
    ):
        return await gate.overruled(request, response)
    return None


async def _in_chat(gate: Gate, permission: Permission, question: str) -> bytes:
    """The answer that the question has in the end."""
    if permission.call is None:
        told = await gate.resume(question, expect=TextApproval)
        return permission.answer(allowed=told.approved)
    return _by_verdict(permission, await gate.resume(question))


def _by_verdict(permission: Permission, verdict: CheckResult) -> bytes:
    if verdict.approved and permission.call is not None:
        arguments = dict(verdict.arguments)
        if not is_same_json(arguments, dict(permission.call.arguments)):
            told = (
                f"{on_one_line(verdict.tool)} was approved with other arguments, which this "
                "protocol "
                "cannot carry, so it was rejected. These were approved: "
                f"{json.dumps(arguments)}"
            )
            _log.warning("%s", told)
            return permission.answer(allowed=False)
    return permission.answer(allowed=verdict.approved)


async def _withdrawn(gate: Gate, question: str, why: str) -> None:
    """Withdraw a question; where that fails, its time ends it."""
    try:
        await gate.cancel(question, reason=why)
    except SaysoError as error:
        _log.warning("a question could not be withdrawn: %s", on_one_line(str(error)))
