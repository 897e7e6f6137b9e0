"""One permission: the policy first, then editor and chat, and the first answer counts."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from sayso.agent.place import place_of, project_folder, project_of
from sayso.agent.responding import Answering
from sayso.agent.verdict import CheckResult
from sayso.always.terms import GrantOptions
from sayso.calls import RunRef
from sayso.clock import utc_now
from sayso.digests import is_same_json
from sayso.errors import AlreadyResolvedError, RequestNotFoundError, SaysoError
from sayso.events import UserInputRequest, UserInputResponse
from sayso.questions import permission as calls
from sayso.questions import text_approval as texts
from sayso.questions.permission_answer import PermissionResponseEvent
from sayso.questions.text_approval import ApproveText, TextApproval
from sayso.text.visible import on_one_line
from sayso_bots.acp.messages import Message
from sayso_bots.acp.permission import Permission
from sayso_bots.asking.service import AskService

_log = logging.getLogger(__name__)

EDITOR = "acp:editor"
"""Who answers in the editor: the protocol does not say which person sits there."""


@dataclass(frozen=True, slots=True)
class Editor:
    """The editor, asked about one permission; without ``ask`` only people in chat are.

    ``answer`` is set when it answers; its exception says why nobody wants an answer any more.
    """

    answer: asyncio.Future[Message]
    ask: Callable[[], None] | None

    @property
    def is_withdrawn(self) -> bool:
        """Return True if nobody wants an answer any more: the call may be another one by now."""
        return self.answer.done() and self.answer.exception() is not None


class WithdrawnError(Exception):
    """Nobody wants the answer of a request any more."""


async def answer_permission(
    service: AskService, permission: Permission, folder: str, editor: Editor
) -> bytes:
    """Return the answer for the agent: yes where the policy or a person says so, else no.

    ``folder`` is where the session works.
    """
    what = on_one_line(permission.call.name if permission.call else permission.title)
    try:
        return await _ask(service, permission, folder, editor)
    except SaysoError as error:
        why = str(error)
    except Exception as error:  # whatever it is, the call must not run
        _log.exception("a permission could not be asked about")
        why = type(error).__name__
    _log.error("%s", f"Sayso could not ask about {what}, so it was rejected: {on_one_line(why)}")
    return permission.answer(allowed=False)


async def _ask(service: AskService, permission: Permission, folder: str, editor: Editor) -> bytes:
    root, session, call = project_folder(folder), permission.session, permission.call
    project = project_of(root) or ""
    run = RunRef(service.requester.agent, session, run_id=session, project=project)
    service = replace(service, locate=partial(place_of, Path(folder)) if folder else None)
    text = permission.description or permission.title
    asked = (
        ApproveText(text=text, title=permission.title)
        if call is None
        else replace(call, folder=root)
    )
    submitted = await service.submit(run, asked, description=text)
    if isinstance(submitted, CheckResult):
        if editor.is_withdrawn:
            return permission.cancelled()
        return _by_result(permission, submitted)
    return await _Race(service, run, permission, submitted).decide(editor)


@dataclass(frozen=True, slots=True)
class _Race:
    """One request that editor and chat may answer."""

    service: AskService
    run: RunRef
    permission: Permission
    request_id: str

    async def decide(self, editor: Editor) -> bytes:
        """Ask the editor, too, and take the first answer."""
        chat = asyncio.create_task(self._wait_for_chat())
        try:
            if editor.ask is not None:
                editor.ask()
            first: set[asyncio.Future[Any]] = {chat, editor.answer}
            await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
            if chat.done() and not editor.is_withdrawn:
                return chat.result()
            return await self._take_editors_answer(chat, editor.answer)
        except asyncio.CancelledError:
            await self._cancel("the editor or the agent is gone")
            raise
        finally:
            chat.cancel()
            await asyncio.gather(chat, return_exceptions=True)

    async def _wait_for_chat(self) -> bytes:
        call = self.permission.call
        if call is None:
            text = await self.service.wait(self.run, "", self.request_id, TextApproval)
            return self.permission.answer(allowed=text.approved)
        result = await self.service.wait(self.run, call.name, self.request_id)
        return _by_result(self.permission, result)

    async def _take_editors_answer(
        self, chat: asyncio.Task[bytes], answered: asyncio.Future[Message]
    ) -> bytes:
        """Record the editor's answer, unless one in chat came first: the store knows."""
        permission = self.permission
        try:
            message = answered.result()
        except WithdrawnError as error:
            await self._cancel(str(error))
            return permission.cancelled()
        said = permission.said(message)
        if said == "cancelled":
            await self._cancel("the editor cancelled it")
            return message.raw
        keys, tool = (texts.APPROVE, texts.DENY), ""
        if permission.call is not None:
            keys, tool = (calls.ALLOW, calls.DENY), permission.call.name
        key = keys[0] if said == "allowed" else keys[1]
        try:
            await self._respond(tool, key)
        except RequestNotFoundError:
            return permission.answer(allowed=False)
        except AlreadyResolvedError:
            return await chat
        return message.raw

    async def _respond(self, tool: str, key: str) -> None:
        """Record the editor's choice, unless the policy denies the call by now.

        Raises:
            AlreadyResolvedError: another response came first.
            RequestNotFoundError: the store has no such request.
        """
        store = self.service.store
        record = await store.store.get(self.request_id)
        if record is None:
            raise RequestNotFoundError(self.request_id)
        async with self.service.open_gate(self.run, tool) as gate:

            async def recheck(
                request: UserInputRequest, response: UserInputResponse
            ) -> PermissionResponseEvent | None:
                if isinstance(request, calls.PermissionRequestEvent) and isinstance(
                    response, PermissionResponseEvent
                ):
                    return await gate.overruled(request, response)
                return None

            answering = Answering(store, None, GrantOptions(), utc_now, overruled=recheck)
            await answering.choose(record, key, by=EDITOR)

    async def _cancel(self, why: str) -> None:
        """Cancel the request; where that fails, its time ends it."""
        try:
            await self.service.cancel(self.run, self.request_id, why)
        except SaysoError as error:
            _log.warning("a question could not be withdrawn: %s", on_one_line(str(error)))


def _by_result(permission: Permission, result: CheckResult) -> bytes:
    if result.approved and permission.call is not None:
        arguments = dict(result.arguments)
        if not is_same_json(arguments, dict(permission.call.arguments)):
            _log.warning(
                "%s",
                f"{on_one_line(result.tool)} was approved with other arguments, which this "
                "protocol cannot carry, so it was rejected. These were approved: "
                f"{json.dumps(arguments)}",
            )
            return permission.answer(allowed=False)
    return permission.answer(allowed=result.approved)
