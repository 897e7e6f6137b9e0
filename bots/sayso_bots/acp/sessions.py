"""What both sides said of sessions and of calls, so that a question can show all of it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from sayso_bots.acp.messages import Message, text_of

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
        """Where a session works; empty where nobody said."""
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
    """What an update says of a call; None where it is about something else."""
    update = message.params.get("update")
    if isinstance(update, Mapping) and update.get("sessionUpdate") in _CALLS:
        return update
    return None


def _keep(kept: OrderedDict[Any, Any], name: Any, value: Any) -> None:
    kept[name] = value
    kept.move_to_end(name)
    if len(kept) > _MOST:
        kept.popitem(last=False)
