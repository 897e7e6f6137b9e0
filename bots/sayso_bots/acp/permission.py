"""Requests of an agent to its editor: what both said of the call, read, and how it is answered."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sayso.calls import ToolCall
from sayso_bots.acp import messages
from sayso_bots.acp.messages import Message, text_of
from sayso_bots.strict_json import MalformedMessageError

_MOST = 500
"""So many sessions, and so many calls, are remembered; of others a question shows what it says."""

_NEW = "session/new"
_KNOWN = frozenset({"session/load", "session/resume", "session/fork"})
UPDATE = "session/update"
_CALLS = frozenset({"tool_call", "tool_call_update"})
_ENDED = frozenset({"completed", "failed"})
_SHOWN = ("title", "kind", "rawInput", "content", "locations", "_meta")


class Sessions:
    """The folders of sessions, and the calls that were told of."""

    def __init__(self) -> None:
        self._asked: OrderedDict[str, str] = OrderedDict()
        self._folders: OrderedDict[str, str] = OrderedDict()
        self._calls: OrderedDict[tuple[str, str], dict[str, Any]] = OrderedDict()

    def hear_editor(self, message: Message) -> None:
        """Note which session is to work in which folder."""
        folder = text_of(message.params, "cwd")
        if message.method == _NEW:
            _keep(self._asked, message.id, folder)
        elif message.method in _KNOWN and folder:
            _keep(self._folders, message.session, folder)

    def hear_agent(self, message: Message) -> None:
        """Note which session began, and what is told of its calls."""
        if message.is_answer and message.id in self._asked:
            folder = self._asked.pop(message.id)
            if isinstance(message.result, Mapping):
                _keep(self._folders, text_of(message.result, "sessionId"), folder)
        elif message.method == UPDATE and (call := updated(message)) is not None:
            self.call(message.session, call)

    def folder(self, session: str) -> str:
        """Return the folder of a session; empty where nobody said."""
        return self._folders.get(session, "")

    def call(self, session: str, told: Mapping[str, Any]) -> Mapping[str, Any]:
        """All that was told of a call by now, with what is told of it here."""
        name = (session, text_of(told, "toolCallId"))
        said = {key: told[key] for key in _SHOWN if told.get(key) is not None}
        if not name[1]:
            return said  # nobody knows which call it is: it is nothing but what it says
        known = {**self._calls.get(name, {}), **said}
        if told.get("status") in _ENDED:
            # Its id may name another call from now on, which has nothing of this one.
            self._calls.pop(name, None)
        else:
            _keep(self._calls, name, known)
        return known


def updated(message: Message) -> Mapping[str, Any] | None:
    """Read what an update says of a call; None where it is about something else."""
    update = message.params.get("update")
    if isinstance(update, Mapping) and update.get("sessionUpdate") in _CALLS:
        return update
    return None


def _keep(kept: OrderedDict[Any, Any], name: Any, value: Any) -> None:
    kept[name] = value
    kept.move_to_end(name)
    if len(kept) > _MOST:
        kept.popitem(last=False)


REQUEST = "session/request_permission"

_ALLOW, _REJECT = "allow_once", "reject_once"
_ALLOWS, _REJECTS = (_ALLOW, "allow_always"), (_REJECT, "reject_always")
_OTHER = "other"

Said = Literal["allowed", "rejected", "cancelled"]


@dataclass(frozen=True, slots=True)
class Permission:
    """One request: what is asked about, and with which options it can be answered.

    ``call`` is None where the agent names no call: then only its words can be shown. ``told``
    is the id of a call that updates may tell more of.
    """

    message: Message
    title: str
    description: str
    call: ToolCall | None
    options: Mapping[str, str]
    told: str = ""

    @property
    def session(self) -> str:
        """The agent's name of its session."""
        return self.message.session

    def answer(self, *, allowed: bool) -> bytes:
        """The answer that allows this once, or rejects it: never more than was pressed."""
        wanted = _ALLOW if allowed else _REJECT
        for name, kind in self.options.items():
            if kind == wanted:
                return messages.answer(
                    self.message.id, {"outcome": {"outcome": "selected", "optionId": name}}
                )
        return self.cancelled()

    def cancelled(self) -> bytes:
        """The answer that nobody decided."""
        return messages.answer(self.message.id, {"outcome": {"outcome": "cancelled"}})

    def said(self, answer: Message) -> Said:
        """What an editor's answer means; whatever is not clearly a yes is none."""
        outcome = answer.result.get("outcome") if isinstance(answer.result, Mapping) else None
        if not isinstance(outcome, Mapping) or outcome.get("outcome") != "selected":
            return "cancelled"
        kind = self.options.get(text_of(outcome, "optionId"))
        if kind in _ALLOWS:
            return "allowed"
        return "rejected" if kind in _REJECTS else "cancelled"


def read_permission(message: Message, sessions: Sessions) -> Permission:
    """The request of either version of the protocol, with what was told of its call before.

    Raises:
        MalformedMessageError: it is about something unknown, or it cannot be allowed just once.
    """
    params = message.params
    options = _options(params.get("options"))
    if _ALLOW not in options.values():
        raise MalformedMessageError("it has no option that allows once")
    title, description = text_of(params, "title"), text_of(params, "description")
    told = params.get("toolCall")
    if isinstance(told, Mapping):  # version 1
        known = sessions.call(message.session, told)
        title, id_ = text_of(known, "title"), text_of(told, "toolCallId")
        return Permission(message, title, description, tool_call(known, id_), options, id_)
    subject = params.get("subject")
    if subject is None and title:
        return Permission(message, title, description, None, options)
    if not isinstance(subject, Mapping):
        raise MalformedMessageError("it says nothing that could be shown")
    told, id_ = subject.get("toolCall"), text_of(subject, "toolCallId")
    if subject.get("type") == "tool_call" and isinstance(told, Mapping):
        id_ = text_of(told, "toolCallId")
        call = tool_call(sessions.call(message.session, told), id_)
        return Permission(message, title, description, call, options, id_)
    if subject.get("type") == "command" and text_of(subject, "command"):
        fields = ("command", "cwd", "terminalId")
        said = {name: subject[name] for name in fields if subject.get(name) is not None}
        return Permission(message, title, description, _call("execute", said, id_), options)
    raise MalformedMessageError("it is about something unknown")


def tool_call(known: Mapping[str, Any], id_: str) -> ToolCall | None:
    """The call with its arguments; else with what it shows of them; None where it says nothing."""
    arguments = known.get("rawInput")
    if not isinstance(arguments, Mapping) or not arguments:
        said = {name: known[name] for name in ("content", "locations") if known.get(name)}
        arguments = said if arguments is None else {"rawInput": arguments, **said}
    if not arguments:
        return None
    return _call(_name(known), arguments, id_)


def _call(name: str, arguments: Mapping[str, Any], id_: str) -> ToolCall:
    return ToolCall(name, arguments, id_) if id_ else ToolCall(name, arguments)


def _name(known: Mapping[str, Any]) -> str:
    """The tool's own name where the agent tells it, as Claude Code's does; else its kind."""
    meta = known.get("_meta")
    for own in meta.values() if isinstance(meta, Mapping) else ():
        if isinstance(own, Mapping) and text_of(own, "toolName"):
            return text_of(own, "toolName")
    return text_of(known, "kind") or _OTHER


def _options(found: object) -> Mapping[str, str]:
    """The options' kinds by their ids; one id for two of them names none."""
    options: dict[str, str] = {}
    for one in found if isinstance(found, Sequence) and not isinstance(found, str) else ():
        name = text_of(one, "optionId") if isinstance(one, Mapping) else ""
        if not name or name in options:
            raise MalformedMessageError("its options cannot be told apart")
        options[name] = text_of(one, "kind")
    return options
