"""The events and answers of hooks, as text. Loads next to nothing.

Codex has taken over the form of Claude Code. PreToolUse comes before every call, PermissionRequest
where the agent itself would ask. Only the JSON made here, or exit code 2, stops a call: everything
else runs it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, TypeGuard

from sayso_bots.hook.agents import Answer, HookAgent, Went
from sayso_bots.strict_json import MalformedMessageError, refuse_duplicates


@dataclass(frozen=True, slots=True)
class HookEvent:
    """A tool call before it runs, as an agent tells of it.

    ``call_id`` is empty where it gives none; ``prompt`` is what all calls that
    one prompt led to have in common. ``mode`` and ``folder`` are its own words.
    """

    agent: HookAgent
    name: str
    session: str
    tool: str
    arguments: Mapping[str, Any]
    call_id: str = ""
    prompt: str = ""
    path: tuple[str, ...] = ()
    folder: str = ""
    mode: str = ""
    suggestions: tuple[Any, ...] = ()

    @property
    def key(self) -> str | None:
        """The idempotency key of the call: its id alone could be that of a call elsewhere."""
        if not self.call_id:
            return None
        named = f"{self.call_id}\0{self.folder}".encode()
        return hashlib.sha256(named).hexdigest()

    @property
    def description(self) -> str:
        """Who asks, and what it may do by itself, for the card; where it works is said there."""
        return "{agent}, permission mode {mode}".format(
            agent=self.agent.title, mode=self.mode or "?"
        )


def read_event(text: str, agent: HookAgent) -> HookEvent:
    """The event in a text.

    Raises:
        MalformedMessageError: it is not one, or lacks what a call must have.
    """
    said = _read(text)
    if (name := said.get("hook_event_name")) not in agent.events:
        raise MalformedMessageError(f"hook_event_name is none of {', '.join(agent.events)}")
    try:
        json.dumps(said, ensure_ascii=False).encode()
    except (UnicodeEncodeError, RecursionError):
        text = "it holds half of a surrogate pair, or is nested too deeply"
        raise MalformedMessageError(text) from None
    arguments = said.get("tool_input")
    if not isinstance(arguments, dict):
        raise MalformedMessageError("tool_input is not an object")
    suggestions = said.get("permission_suggestions")
    return HookEvent(
        agent,
        name,
        session=_text(said, "session_id"),
        tool=_text(said, "tool_name"),
        arguments=arguments,
        call_id=_claim(said, "tool_use_id"),
        prompt=_claim(said, "prompt_id") or _claim(said, "turn_id"),
        path=_path(said),
        folder=_claim(said, "cwd"),
        mode=_claim(said, "permission_mode"),
        suggestions=tuple(suggestions) if isinstance(suggestions, list) else (),
    )


@dataclass(frozen=True, slots=True)
class Ran:
    """A call that ran, and how that went: nothing of what it answered is here."""

    session: str
    call_id: str
    went: Went


def read_ran(text: str, agent: HookAgent) -> Ran | None:
    """The call that an event after it is about; None where the event is none of those.

    Raises:
        MalformedMessageError: it is one, and does not say which call.
    """
    said = _read(text)
    went = agent.outcomes.get(_claim(said, "hook_event_name"))
    if went is None:
        return None
    return Ran(_text(said, "session_id"), _text(said, "tool_use_id"), went)


def allowed(
    name: str, reason: str, changed: Mapping[str, Any] | None = None, told: str = ""
) -> Answer:
    """The call runs, with ``changed`` arguments where there are some; the model is ``told``."""
    instead = {} if changed is None else {"updatedInput": dict(changed)}
    if name == "PermissionRequest":
        return _answer(name, decision={"behavior": "allow", **instead})
    more = {"additionalContext": told} if told else {}
    return _answer(
        name,
        permissionDecision="allow",
        permissionDecisionReason=reason,
        **instead,
        **more,
    )


def denied(name: str, reason: str) -> Answer:
    """The call does not run, and the model reads why: an answer without words may be ignored."""
    reason = reason.encode("utf-8", "replace").decode()
    if not reason.strip():
        reason = "the call may not run"
    if name == "PermissionRequest":
        return _answer(name, decision={"behavior": "deny", "message": reason})
    return _answer(name, permissionDecision="deny", permissionDecisionReason=reason)


def is_answer(answer: object, name: str) -> TypeGuard[Answer]:
    """Whether this answers an event of the name: the agent would take another for none."""
    said = answer.get("hookSpecificOutput") if isinstance(answer, dict) else None
    if not isinstance(said, dict) or said.get("hookEventName") != name:
        return False
    decision = said.get("decision")
    behavior = decision.get("behavior") if isinstance(decision, dict) else None
    return (behavior if name == "PermissionRequest" else said.get("permissionDecision")) in (
        "allow",
        "deny",
    )


def _read(text: str) -> dict[str, Any]:
    try:
        said = json.loads(text, parse_constant=_refuse, object_pairs_hook=refuse_duplicates)
    except (ValueError, RecursionError):
        raise MalformedMessageError("not JSON, or a name is there twice") from None
    if not isinstance(said, dict):
        raise MalformedMessageError("not an object")
    return said


def _answer(name: str, **said: Any) -> Answer:
    return {"hookSpecificOutput": {"hookEventName": name, **said}}


def _refuse(name: str) -> NoReturn:
    raise ValueError(name)


def _text(said: Mapping[str, Any], key: str) -> str:
    value = said.get(key)
    if not isinstance(value, str) or not value.strip():
        raise MalformedMessageError(f"there is no {key}")
    return value


def _claim(said: Mapping[str, Any], key: str) -> str:
    value = said.get(key)
    return value if isinstance(value, str) else ""


def _path(said: Mapping[str, Any]) -> tuple[str, ...]:
    """The sub-agent, by its type where it has one."""
    name = _claim(said, "agent_type") or _claim(said, "agent_id")
    return (name,) if name else ()
