"""What an adapter submits: the call it wants to make, and what it claims of itself."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from hashlib import sha256
from typing import Any

from sayso.digests import shown_and_digest
from sayso.errors import InvalidCallError
from sayso.where import LONGEST_NAME as LONGEST_PART
from sayso.where import Where
from sayso_bots import exact
from sayso_bots.aap.bodies import text_in
from sayso_bots.aap.errors import AapError, invalid

FIELDS = ("tool", "server", "arguments", "timeout", "agent_reasoning", "context")
NEEDED = ("tool", "arguments", "timeout")

LONGEST_NAME = 256
LONGEST_REASONING = 20_000
LONGEST_TIMEOUT = timedelta(days=30)
_LONGEST_CONTEXT = 64 * 1024
_LONGEST_CLAIMED = 128
_LONGEST_CLAIM = 300

_TIMEOUT = re.compile(r"([1-9][0-9]*)([smh])")
_SECONDS = {"s": 1, "m": 60, "h": 3_600}
_MOST_DIGITS = 12

# Where the known adapters say to which conversation a call belongs, the first that there is.
_RESUMED = ("thread_id", "conversation_id", "run_id", "session_id")
_CLAUDE = "claude-agent-sdk"
_CLAIMED = ("runtime", "framework")


@dataclass(frozen=True, slots=True)
class Submission:
    """A call as it was submitted.

    ``text`` is the submission as JSON, every number as it was written; ``digest``
    is that of its values. ``tool`` is the name that the core knows the call by,
    ``arguments`` what it understands of them. Where a program would change a
    number, it is the text of its digits there, and ``as_held`` are what the
    arguments would become.
    """

    tool: str
    arguments: Mapping[str, Any] = field(repr=False)
    as_held: Mapping[str, Any] | None = field(repr=False)
    reasoning: str = field(repr=False)
    timeout: timedelta
    session: str
    project: str
    where: Where | None
    claims: tuple[tuple[str, str], ...]
    text: str = field(repr=False)
    digest: str


def read_submission(found: Mapping[str, Any]) -> Submission:
    """The submission in an object whose fields are known to be those of one.

    Raises:
        AapError: a field makes no sense, or the call is more than can be shown.
    """
    tool = text_in(found, "tool", most=LONGEST_NAME)
    server = text_in(found, "server", most=LONGEST_NAME)
    reasoning = text_in(found, "agent_reasoning", most=LONGEST_REASONING, empty=True)
    timeout = read_timeout(text_in(found, "timeout", most=LONGEST_NAME), "timeout")
    context = _object(found, "context")
    arguments, as_held = _arguments(_object(found, "arguments"))
    text = exact.written(dict(found))
    if len(exact.written(context)) > _LONGEST_CONTEXT:
        raise invalid(f"has at most {_LONGEST_CONTEXT:,} characters", param="context")
    return Submission(
        tool=tool_name(tool, server),
        arguments=arguments,
        as_held=as_held,
        reasoning=reasoning,
        timeout=timeout,
        session=session_in(context),
        project=_short(context.get("project")),
        where=where_in(context),
        claims=tuple(_claims(context)),
        text=text,
        digest=exact.digest(dict(found)),
    )


def tool_name(tool: str, server: str) -> str:
    """The name that policies, routes and cards know a tool by: that of its server before it.

    No two tools have one name: what holds for the tool of one server must not
    hold for that of another.
    """
    if server:
        escaped = server.replace("%", "%25").replace("/", "%2F")
        return f"{escaped}/{tool}"
    return f"/{tool}" if "/" in tool else tool


def read_timeout(text: str, param: str) -> timedelta:
    """A duration such as ``10m``, of any length; what is too long is cut.

    Raises:
        AapError: it is not one.
    """
    match = _TIMEOUT.fullmatch(text)
    if match is None:
        raise invalid("must be a duration such as 90s, 10m or 24h", param=param)
    number, unit = match.groups()
    if len(number) > _MOST_DIGITS:
        return LONGEST_TIMEOUT
    seconds = min(int(number) * _SECONDS[unit], int(LONGEST_TIMEOUT.total_seconds()))
    return timedelta(seconds=seconds)


def session_in(context: Mapping[str, Any]) -> str:
    """The conversation that a call claims to belong to; empty where it claims none."""
    resume = context.get("resume")
    resumed = resume if isinstance(resume, dict) else {}
    told = [context.get("session_id"), *(resumed.get(name) for name in _RESUMED)]
    if context.get("framework") == _CLAUDE and exact.is_text(call := context.get("call_id")):
        told.append(call.partition(":")[0])
    return _short(next((one for one in told if exact.is_text(one) and one), ""))


def where_in(context: Mapping[str, Any]) -> Where | None:
    """Where the call claims to be made: ``cwd``, as the command line of the protocol says it, and
    what of a place has a name. None where nothing is claimed, or nothing of it can be said.
    """
    host, folder, repository, branch, project = (
        _sayable(context.get(name)) for name in ("host", "cwd", "repository", "branch", "project")
    )
    if not (host or folder or repository or branch):
        return None
    is_below = bool(project) and folder.startswith(f"{project.rstrip('/')}/")
    return Where(host, folder, repository, branch, root=project if is_below else "")


def _sayable(claimed: object) -> str:
    """A part of a place; empty where it is none, or too long for one."""
    found = claimed if exact.is_text(claimed) else ""
    return found if len(found) <= LONGEST_PART and found.isprintable() else ""


def _short(claimed: object) -> str:
    """A name that is claimed; empty where it is none.

    Two that begin alike are two: what is remembered for one must not count for the other.
    """
    found = claimed if exact.is_text(claimed) else ""
    if len(found) <= _LONGEST_CLAIMED:
        return found
    return f"sha256:{sha256(found.encode()).hexdigest()}"


def _claims(context: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [
        (name, value[:_LONGEST_CLAIM])
        for name in _CLAIMED
        if exact.is_text(value := context.get(name)) and value
    ]


def _object(found: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = found.get(name, {})
    if not isinstance(value, dict):
        raise invalid("must be an object", param=name)
    return value


def _arguments(submitted: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any] | None]:
    try:
        shown, _ = shown_and_digest(exact.plain(submitted, as_held=False))
        held, _ = shown_and_digest(exact.plain(submitted, as_held=True))
    except (ValueError, InvalidCallError) as error:
        raise _untakable(str(error)) from None
    # Not compared as values: to Python, 1 is True.
    return shown, None if json.dumps(shown) == json.dumps(held) else held


def _untakable(why: str) -> AapError:
    return invalid(why, param="arguments", code="unsupported_arguments")
