"""Every error that Sayso raises on purpose, by who handles it.

Callers of a gate: ConfigError, ToolBlocked, InvalidCallError, InvalidInputError, SchemaError,
ArgumentsChangedError, StoreUnreachableError, GateClosedError, IdempotencyConflictError,
RequestNotFoundError, WrongRequestTypeError, RequestUnansweredError, WaitTimeoutError.
Code that answers: AlreadyResolvedError, NotApproverError. Observers: SubscriptionLostError,
EventsMissedError. Policies: StateConflictError. Workers and adapters: DeliveryError,
ChannelMigratedError, ShutdownError, UnreadableEventError, CallbackError and its two kinds.
"""

from __future__ import annotations

from collections.abc import Mapping


class SaysoError(Exception):
    """The base of every error raised by Sayso on purpose."""


class ConfigError(SaysoError):
    """A setting is missing or makes no sense; the message names it and the fix."""


class ToolBlocked(SaysoError):  # noqa: N818 -- raised by policies as an answer, not as a failure
    """A policy denies a call, or a guard says that the call did not run.

    ``outcome`` says how the request about the call ended, where a guard raised it.
    """

    def __init__(self, tool: str, reason: str = "", *, outcome: str = "") -> None:
        super().__init__(f"{tool} is blocked" + (f": {reason}" if reason else ""))
        self.tool = tool
        self.reason = reason
        self.outcome = outcome


class InvalidCallError(SaysoError):
    """The call cannot be asked about; the message names the argument and the reason."""


class InvalidInputError(SaysoError):
    """A person's input does not fit; ``problems`` says why, by the names of the fields."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{name}: {why}" for name, why in problems.items()))
        self.problems = dict(problems)


class SchemaError(SaysoError, ValueError):
    """A JSON Schema or a field of a question cannot be asked.

    ``pointer`` names the part of the schema; ``path`` leads to the field of the question and
    is empty for a schema. ``reason`` says why.
    """

    def __init__(self, pointer: str, reason: str, *, path: tuple[str | int, ...] = ()) -> None:
        super().__init__(f"{pointer or '(the whole schema)'}: {reason}")
        self.pointer = pointer
        self.path = path
        self.reason = reason

    @classmethod
    def at_field(cls, *path: str | int, reason: str) -> SchemaError:
        """Name the field of a question that makes no sense."""
        first, *rest = path
        return cls(f"{first}{''.join(f'[{part}]' for part in rest)}", reason, path=path)


class ArgumentsChangedError(SaysoError):
    """The arguments differ from those that were shown and approved: do not run the call."""


class StoreUnreachableError(SaysoError):
    """The store did not answer in time, or has lost the request. Nothing was approved.

    ``is_denied``: the store does not permit its user what is needed. ``lost_request_id``: the
    store had this request and has it no more, so retrying is useless.
    """

    is_denied = False
    lost_request_id = ""

    @classmethod
    def for_lost_request(cls, request_id: str) -> StoreUnreachableError:
        """Report a request that the store had and has no more."""
        error = cls(
            f"the store lost this request ({request_id}): its data was deleted, or it restarted "
            "or failed over without it; nothing was approved, ask again"
        )
        error.lost_request_id = request_id
        return error


class GateClosedError(SaysoError, RuntimeError):
    """A gate or a store cannot be used: it is closed, or belongs to another event loop.

    ``is_wrong_loop`` tells the two apart. Nothing was approved.
    """

    is_wrong_loop = False

    def __init__(
        self, text: str = "the gate is closed: nothing was approved; connect again to ask"
    ) -> None:
        super().__init__(text)

    @classmethod
    def for_wrong_loop(cls, text: str = "") -> GateClosedError:
        """Report the use of a store, or of a gate on it, in an event loop that is not its own."""
        error = cls(
            text
            or "this belongs to another event loop: use sayso.connect(…), whose gate works in "
            "any loop and any thread, or open a gate, a store or an orchestrator in the loop "
            "that uses it (asyncio.run begins a new one each time)"
        )
        error.is_wrong_loop = True
        return error


class IdempotencyConflictError(SaysoError):
    """The key or the id was used before for something else: nothing was asked now."""

    def __init__(self, key: str, why: str) -> None:
        super().__init__(
            f"the key {key!r:.80} was used before in this session, and {why}: "
            "a key stands for one call, use a new one"
        )
        self.key = key
        self.why = why

    @classmethod
    def for_request_id(cls, request_id: str) -> IdempotencyConflictError:
        """Report a request id under which a different request was opened before."""
        error = cls(request_id, "it was another request")
        error.args = (f"request {request_id!r} exists already with other content; use a new id",)
        return error


class RequestNotFoundError(SaysoError):
    """No request, key or agent has this id, or its record has been removed."""

    def __init__(self, request_id: str, message: str = "") -> None:
        super().__init__(
            message or f"no request {request_id!r}: the id is wrong or the record has been removed"
        )
        self.request_id = request_id

    @classmethod
    def for_key(cls, key: str) -> RequestNotFoundError:
        """Report a key under which the session asked about no call."""
        return cls(key, f"nothing that is known was asked under the key {key!r:.80}")

    @classmethod
    def for_agent(cls, agent_id: str, known: list[str]) -> RequestNotFoundError:
        """Report an agent that was not added to an orchestrator."""
        names = ", ".join(known) or "none"
        return cls(agent_id, f"no agent {agent_id!r} here; there are {names}")


class WrongRequestTypeError(SaysoError):
    """The request is of another type than the one whose result was asked for."""

    def __init__(self, request_id: str, found: str, expected: str) -> None:
        super().__init__(
            f"request {request_id!r} is about {found!r} and does not result in {expected}; "
            "name the type of its result in expect="
        )
        self.request_id = request_id


class RequestUnansweredError(SaysoError):
    """The request ended without an answer, or nobody could be asked."""

    def __init__(self, request_id: str, outcome: str, reason: str) -> None:
        because = f": {reason}" if reason else ""
        super().__init__(f"request {request_id!r} ended {outcome}{because}")
        self.request_id = request_id
        self.outcome = outcome
        self.reason = reason


class WaitTimeoutError(SaysoError):
    """The wait ended before the request did; the request stays open and can be resumed."""


class AlreadyResolvedError(SaysoError):
    """The request was resolved before, or a rule denied the call now; that resolution counts.

    ``reason`` says why a rule denied what was to be approved; otherwise it is empty.
    """

    def __init__(self, request_id: str, outcome: str, by: str | None = None) -> None:
        who = f" by {by}" if by else ""
        super().__init__(f"request {request_id!r} was already {outcome}{who}: nothing was changed")
        self.request_id = request_id
        self.outcome = outcome
        self.by = by
        self.reason = ""

    @classmethod
    def for_denial(cls, request_id: str, reason: str) -> AlreadyResolvedError:
        """Report an approval that a rule turned into a denial, which was recorded."""
        error = cls(request_id, "denied")
        error.args = (f"request {request_id!r} cannot be approved: {reason}",)
        error.reason = reason
        return error


class NotApproverError(SaysoError):
    """The actor may not answer the request so; nothing was decided, and it stays open."""

    def __init__(self, request_id: str, actor: str) -> None:
        super().__init__(f"{actor} may not answer request {request_id!r} so: nothing was decided")
        self.request_id = request_id
        self.actor = actor


class SubscriptionLostError(SaysoError):
    """A subscription broke and events may be missing: look in the store.

    ``agent_id``: nothing listens for this agent any more; remove it and add it again.
    """

    agent_id = ""


class EventsMissedError(SaysoError):
    """Events after a position cannot be read any more.

    ``is_slow``: the reader fell behind and can go on from ``position``.
    """

    def __init__(self, position: str, *, is_slow: bool = False) -> None:
        super().__init__(
            f"reading is too slow; read on from {position}"
            if is_slow
            else f"events after {position} are no longer kept; "
            "look at the requests that matter, and read on from 0 or from now"
        )
        self.position = position
        self.is_slow = is_slow


MAX_STATE_TRIES = 1_000
"""So often at most a change of a session's state begins anew: somebody wins each time."""


class StateConflictError(SaysoError):
    """A value of the session's state was not changed: it does not fit, or others changed it."""

    def __init__(self, name: str, *, is_full: bool = False) -> None:
        super().__init__(
            f"{name!r} does not fit into the session's state: keep fewer names, or smaller values"
            if is_full
            else f"{name!r} in the session's state kept changing: try again"
        )
        self.name = name


class DeliveryError(SaysoError):
    """A platform did not take a message.

    ``code`` is the platform's own, where the caller acts on it; ``retry_after`` are the
    seconds that the platform asked to wait; ``permanent``: trying again cannot help.
    """

    def __init__(
        self,
        platform: str,
        reason: str,
        *,
        code: str = "",
        retry_after: float | None = None,
        permanent: bool = False,
    ) -> None:
        hint = f"; retry in {retry_after:g} s" if retry_after is not None else ""
        super().__init__(f"{platform} did not take the message: {reason}{hint}")
        self.platform = platform
        self.reason = reason
        self.code = code
        self.retry_after = retry_after
        self.permanent = permanent


class ChannelMigratedError(DeliveryError):
    """The chat has a new address; ``address`` is where to post from now on."""

    def __init__(self, platform: str, address: str) -> None:
        super().__init__(platform, f"the chat is now {platform}:{address}")
        self.address = address


class ShutdownError(SaysoError):
    """The worker stops before the work is done; another worker takes it over."""


class UnreadableEventError(SaysoError):
    """Bytes are not an event that is known here; the message says why without quoting them.

    ``source_name`` is the event's own where that much can be read.
    """

    def __init__(self, message: str, *, source_name: str = "") -> None:
        super().__init__(message)
        self.source_name = source_name


class CallbackError(SaysoError):
    """A webhook call that is refused; ``status`` is the HTTP answer.

    400: genuine, but nothing can be read from it. 403: meant for another workspace or app.
    """

    status = 400

    def __init__(self, message: str = "", *, status: int | None = None) -> None:
        super().__init__(message)
        if status is not None:
            self.status = status


class ForgedCallbackError(CallbackError):
    """The call does not prove that the platform sent it."""

    status = 401


class ReplayedCallbackError(CallbackError):
    """The very same call was here before."""

    status = 409
