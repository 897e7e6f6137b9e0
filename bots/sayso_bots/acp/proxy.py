"""What becomes of each message between an editor and its agent."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Any

from sayso.calls import ToolCall
from sayso.digests import is_same_json
from sayso.tasks import Background
from sayso_bots.acp import messages
from sayso_bots.acp.messages import Message, text_of
from sayso_bots.acp.permission import (
    REQUEST,
    UPDATE,
    Permission,
    Sessions,
    read_permission,
    tool_call,
    updated,
)
from sayso_bots.acp.race import Editor, WithdrawnError, answer_permission
from sayso_bots.asking.service import AskService
from sayso_bots.strict_json import INVALID_REQUEST, MalformedMessageError

_log = logging.getLogger(__name__)

_CANCEL_SESSION, _CANCEL_REQUEST = "session/cancel", "$/cancel_request"
_MOST_REMEMBERED = 10_000
_NOBODYS = "null"  # the id of an error about something that could not be read

Send = Callable[[bytes], Coroutine[Any, Any, None]]


@dataclass(slots=True)
class _Open:
    """A permission that is asked about."""

    permission: Permission
    editor: asyncio.Future[Message]
    is_asked_there: bool = False

    def withdraw(self, why: str) -> None:
        if not self.editor.done():
            self.editor.set_exception(WithdrawnError(why))
            self.editor.exception()  # nobody may be waiting for it any more


class Proxy:
    """Between one editor and one agent. Permissions are raced for; all else passes.

    With ``chat_only`` the editor is not asked, and only people in chat answer.
    """

    def __init__(
        self, service: AskService, *, to_editor: Send, to_agent: Send, chat_only: bool = False
    ) -> None:
        self._service = service
        self._to_editor = to_editor
        self._to_agent = to_agent
        self._chat_only = chat_only
        self._sessions = Sessions()
        self._open: dict[str, _Open] = {}
        self._passed: OrderedDict[str, None] = OrderedDict()
        # The editor may still answer these, and nobody wants it any more.
        self._lost: OrderedDict[str, None] = OrderedDict()
        self._background = Background("permissions of an agent")

    async def from_editor(self, line: bytes) -> None:
        """Take a line of the editor."""
        if (message := _read(line, "the editor")) is None:
            return
        if message.is_answer and message.id in self._lost:
            del self._lost[message.id]  # the other one was faster
            return
        if message.is_answer and message.id in self._open:
            asked = self._open[message.id]
            # An answer to what it was not asked is nobody's say-so.
            if asked.is_asked_there and not asked.editor.done():
                asked.editor.set_result(message)
            return
        if message.is_answer and message.id != _NOBODYS:
            if message.id not in self._passed:
                return  # it was never asked
            del self._passed[message.id]
        if message.method == _CANCEL_SESSION:
            for asked in self._of(message.session):
                asked.withdraw("the editor cancelled it")
        self._sessions.hear_editor(message)
        await self._to_agent(message.raw)

    async def from_agent(self, line: bytes) -> None:
        """Take a line of the agent."""
        if (message := _read(line, "the agent")) is None:
            return
        if message.method and message.id and self._is_under_way(message.id):
            # An answer of the editor would be taken for one to another request.
            text = "a request with this id is under way, or its answer may still come"
            failure = messages.failure(message.id, INVALID_REQUEST, text)
            await self._to_agent(failure)
            return
        if message.method == REQUEST and message.id:
            await self._permission(message)
            return
        self._sessions.hear_agent(message)
        if message.method == UPDATE:
            self._changed(message)
        elif message.method == _CANCEL_REQUEST:
            self._cancelled(message)
        await self._pass(message)

    async def close(self) -> None:
        """Withdraw what is asked about."""
        for asked in self._open.values():
            asked.withdraw("the editor or the agent is gone")
        await self._background.finish()

    async def _permission(self, message: Message) -> None:
        try:
            permission = read_permission(message, self._sessions)
        except MalformedMessageError as error:
            await self._not_here(message, str(error))
            return
        asked = _Open(permission, asyncio.get_running_loop().create_future())
        self._open[message.id] = asked
        self._background.start(self._race(asked))

    async def _not_here(self, message: Message, why: str) -> None:
        if not self._chat_only:
            _log.warning(
                "%s", (f"Sayso cannot ask about a request in chat: {why}; only the editor is asked")
            )
            await self._pass(message)
            return
        _log.error("%s", (f"Sayso cannot ask about a request in chat: {why}; it was rejected"))
        await self._to_agent(messages.answer(message.id, {"outcome": {"outcome": "cancelled"}}))

    async def _pass(self, message: Message) -> None:
        """Hand on what the agent says; the editor may answer it if it is a request."""
        if not message.is_answer and message.id:
            _keep(self._passed, message.id)
        await self._to_editor(message.raw)

    async def _race(self, asked: _Open) -> None:
        permission = asked.permission
        id_, folder = permission.message.id, self._sessions.folder(permission.session)
        ask = None if self._chat_only else partial(self._ask_editor, asked)
        try:
            editor = Editor(asked.editor, ask)
            said = await answer_permission(self._service, permission, folder, editor)
        finally:
            del self._open[id_]
        is_lost = asked.is_asked_there and not (
            asked.editor.done() and not asked.editor.exception()
        )
        if is_lost:
            _keep(self._lost, id_)
        await self._to_agent(said)
        if is_lost:
            await self._to_editor(messages.notification(_CANCEL_REQUEST, f'{{"requestId":{id_}}}'))

    def _ask_editor(self, asked: _Open) -> None:
        if not asked.editor.done():
            asked.is_asked_there = True
            self._background.start(self._to_editor(asked.permission.message.raw))

    def _is_under_way(self, id_: str) -> bool:
        return id_ in self._open or id_ in self._lost or id_ in self._passed

    def _of(self, session: str) -> list[_Open]:
        return [one for one in self._open.values() if one.permission.session == session]

    def _changed(self, message: Message) -> None:
        """Withdraw a question whose call is told otherwise by now than it is asked about."""
        if (told := updated(message)) is None:
            return
        known, id_ = self._sessions.call(message.session, told), text_of(told, "toolCallId")
        for asked in self._of(message.session):
            is_told = id_ != "" and asked.permission.told == id_
            if is_told and not _is_same(tool_call(known, id_), asked.permission.call):
                asked.withdraw("the agent changed the call while it was asked about")

    def _cancelled(self, message: Message) -> None:
        try:
            id_ = messages.id_of(message.params.get("requestId"))
        except MalformedMessageError:
            return
        if (asked := self._open.get(id_)) is not None:
            asked.withdraw("the editor or the agent is gone")


def _read(line: bytes, whose: str) -> Message | None:
    if not line.strip():
        return None
    try:
        return messages.read(line)
    except MalformedMessageError as error:
        _log.error("%s", f"a message of {whose} was dropped: {error}")
        return None


def _is_same(one: ToolCall | None, other: ToolCall | None) -> bool:
    if one is None or other is None:
        return one is other
    return one.name == other.name and is_same_json(dict(one.arguments), dict(other.arguments))


def _keep(kept: OrderedDict[str, None], name: str) -> None:
    kept[name] = None
    if len(kept) > _MOST_REMEMBERED:
        kept.popitem(last=False)
