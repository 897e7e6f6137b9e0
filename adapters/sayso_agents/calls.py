"""What every door does with a verdict: run the call as it was approved, or tell the model why not.

Whatever goes wrong on the way ends as a call that does not run, and its text names the cause.
Accounts of people stay out of what a model reads.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import quote

from sayso.agent.verdict import CheckResult
from sayso.calls import ToolCall, read_session_id
from sayso.digests import arguments_digest, is_digest_of
from sayso.errors import SaysoError
from sayso.text.secrets import redacted_text
from sayso.text.visible import one_line

if TYPE_CHECKING:
    from sayso import Gate

__all__ = [
    "BoundRun",
    "Said",
    "arguments_in",
    "asked",
    "asked_now",
    "bind_run",
    "failed",
    "first_line",
    "said_of",
]

BoundRun: TypeAlias = Callable[[], "Gate"]
"""Gives the gate of the run that asks, or raises why there is none. Call it while asking."""

_log = logging.getLogger(__name__)

_LONGEST_CAUSE = 300


@dataclass(frozen=True, slots=True)
class Said:
    """What came of asking about a call: the arguments to run it with, or why it does not run.

    ``arguments`` are None where the call must not run; ``text`` is what the model is told
    then. ``edited`` says that they are not those of the call: a person or a policy changed
    them. Of a person's change the model is told, by ``text`` beside the result of the tool.
    """

    arguments: dict[str, Any] | None
    text: str = ""
    edited: bool = False
    verdict: CheckResult | None = None

    def unedited(self, tool: str) -> Said:
        """The same for a hook that cannot pass other arguments on: an edit is a no that shows them.

        The model may make the call that was approved; it is asked about as any other.
        """
        if self.arguments is None or not self.edited:
            return self
        text = (
            f"The call of {tool} did not run: it was approved with other arguments only, which "
            f"cannot be passed on from here. Make this call instead: {_as_json(self.arguments)}"
        )
        return Said(None, text, edited=True, verdict=self.verdict)


def arguments_in(text: str) -> dict[str, Any]:
    """The arguments of a call that is written as JSON; nothing is no arguments.

    Raises:
        ValueError: it is not an object, or not one that everybody reads alike: a name that is
            there twice would be shown with one value and could run with the other.
    """
    arguments = json.loads(text, object_pairs_hook=_once) if text else {}
    if not isinstance(arguments, dict):
        raise ValueError("its arguments are not a JSON object")  # noqa: TRY004 -- a bad value
    return arguments


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("its arguments have a name twice")
    return found


def bind_run(
    sayso: Gate,
    read: Callable[[], object],
    *,
    run_id: str | None = None,
    owner: Callable[[], object] | None = None,
) -> BoundRun:
    """Read the id of a conversation, once: the run of calls that are made in it.

    Nothing is raised here. Where the id cannot be read, what comes back raises that, inside
    ``asked``: each call of the conversation is a no whose text names the cause. ``owner`` gives
    whose conversation it is, where those of several people may have one id.
    """
    try:
        session = read()
        named = None if session is None else read_session_id(session)
        if owner is not None and named is not None:
            named = f"{quote(str(owner()), safe='', errors='surrogatepass')}/{named}"
        gate = sayso.for_session(named, run_id=run_id)
    except Exception as error:
        return partial(_refuse_run, error)
    return lambda: gate


def _refuse_run(error: Exception) -> Gate:
    raise error.with_traceback(None)


def said_of(verdict: object, call: ToolCall) -> Said:
    """What a door makes of the verdict on a call; anything else is not one, and nothing runs."""
    if not isinstance(verdict, CheckResult):
        raise TypeError(f"the answer is a {type(verdict).__name__}, not a verdict")
    if not verdict.approved:
        return Said(None, verdict.as_tool_result(), verdict=verdict)
    arguments = dict(verdict.arguments)
    if is_digest_of(arguments_digest(arguments), call.arguments):
        return Said(arguments, verdict=verdict)
    if verdict.asked_arguments is None:
        # What a policy puts in is between it and the tool.
        return Said(arguments, edited=True, verdict=verdict)
    text = (
        "A person changed this call before it ran, on purpose. "
        f"It ran with these arguments: {_as_json(arguments)}"
    )
    return Said(arguments, text, edited=True, verdict=verdict)


def _as_json(arguments: dict[str, Any]) -> str:
    return json.dumps(arguments, ensure_ascii=False, default=str)


def failed(tool: str, error: Exception) -> Said:
    """What is told where asking failed: that the call did not run, and the cause."""
    kind = type(error).__name__
    foreseen = isinstance(error, SaysoError)
    try:
        text = str(error)
    except Exception:
        text = "it has no text"
    # What we say ourselves holds no secret, and a hint in it may read like one.
    cause = text if foreseen else redacted_text(f"asking failed with {kind}: {text}")
    cause = one_line(cause, _LONGEST_CAUSE)
    # The traceback of what nobody foresaw may hold what the call was about: its kind is enough.
    _log.warning("%s did not run: %s", tool, cause if foreseen else kind)
    return Said(None, f"The call of {tool} was not approved: {cause}. It did not run.")


async def asked(
    tool: str, read: Callable[[], ToolCall], ask: Callable[[ToolCall], Awaitable[object]]
) -> Said:
    """What came of reading the call and asking; every exception is a no.

    Being cancelled is passed on.
    """
    try:
        call = read()
        return said_of(await ask(call), call)
    except Exception as error:
        return failed(tool, error)


def first_line(text: object) -> str:
    """Return the line of a card about a tool: the first of its description, if that is a text."""
    return next(iter(text.strip().splitlines()), "") if isinstance(text, str) else ""


def asked_now(tool: str, read: Callable[[], ToolCall], ask: Callable[[ToolCall], object]) -> Said:
    """As ``asked``, where asking is not async."""
    try:
        call = read()
        return said_of(ask(call), call)
    except Exception as error:
        return failed(tool, error)
