"""What an agent asks its editor: read, and answered by one of the options that it gave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sayso.calls import ToolCall
from sayso_bots.acp import messages
from sayso_bots.acp.messages import Message, text_of
from sayso_bots.acp.sessions import Sessions
from sayso_bots.strict_json import MalformedMessageError

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
