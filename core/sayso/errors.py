"""Every error Sayso raises, and what a caller may do about it.

* SaysoError
  - ConfigError                a setting is missing or makes no sense: fix it, start again
  - InvalidCallError           its arguments are not JSON, or too large to be asked about
  - ToolBlocked                a policy or a person says no: the call does not run
  - InvalidInputError          what a person filled in does not fit; it says where and why
  - SchemaError                a JSON Schema cannot be asked in chat; it says where and why
  - FieldError                 a field of a question makes no sense; it says which and why
  - ArgumentsChangedError      the arguments are no longer those that were approved: never run them
  - StoreUnreachableError      the store did not answer in time: nothing is approved, try again
    - RequestLostError         ... or it answers and has lost the request: ask again
  - WrongLoopError             a store was used in another event loop than its own
  - GateClosedError          a handle was closed: nothing was approved
  - StateFullError             what a policy keeps for its session does not fit: keep less
  - TooManyOpenError           as many requests are open as the server allows: nobody was asked
  - StateBusyError             others kept changing what a policy keeps: ask again
  - UnreadableEventError       what was received is not an event that is known here
  - DuplicateRequestError      another request has this id already
  - IdempotencyConflictError             another call was asked under this key: use a new one
  - RequestNotFoundError        no such request, or it is long gone
    - UnknownKeyError          ... and nothing was asked under the key
  - WrongRequestTypeError         the request is another kind of question than was expected
  - UnknownAgentError          no agent of this id was added to the orchestrator
  - AlreadyResolvedError        somebody answered it before, or it ended by itself
    - DeniedByRuleError        ... with the denial of a rule, which an approval cannot override
  - NotApproverError           whoever answers may not answer this: nothing was decided
  - RequestEndedError          the question expired, was cancelled or could not be shown
  - WaitTimeoutError           the caller's patience ended before the question did
  - BusLostError               a subscription broke: look in the store
  - ListenerError              an agent's events can no longer be heard: remove it, add it again
  - EventsGoneError            events after that position are no longer kept
  - SlowReaderError            a reader of events fell too far behind: go on from its last one
  - DeliveryError              a platform did not take a message
    - PlaceMovedError          ... because the chat has a new address
  - CallbackError              a webhook call that is not acted on
    - ForgedCallbackError      it does not prove where it comes from              -> 401
    - UnreadableCallbackError  genuine, but nothing can be read from it           -> 400
    - ForeignCallbackError     genuine, but meant for another workspace or app    -> 403
    - ReplayedCallbackError    genuine, but it was here before                    -> 409
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar


class SaysoError(Exception):
    """The base of every error raised by Sayso on purpose."""


class ConfigError(SaysoError):
    """A setting is missing or makes no sense; the message names it and the fix."""


class InvalidCallError(SaysoError):
    """The call cannot be asked about; the message names the argument and the reason."""


class ToolBlocked(SaysoError):  # noqa: N818 -- raised by policies as an answer, not as a failure
    """A policy's way to deny a call from anywhere in its code, and what a guard may raise.

    ``outcome`` is how the question about the call ended, where a guard raised it.
    """

    def __init__(self, tool: str, reason: str = "", *, outcome: str = "") -> None:
        super().__init__(f"{tool} is blocked" + (f": {reason}" if reason else ""))
        self.tool = tool
        self.reason = reason
        self.outcome = outcome


class InvalidInputError(SaysoError):
    """What a person filled in does not fit; ``problems`` says why, by the names of the fields."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{name}: {why}" for name, why in problems.items()))
        self.problems = dict(problems)


class SchemaError(SaysoError, ValueError):
    """A JSON Schema cannot be asked in chat: ``pointer`` says what of it, ``reason`` why."""

    def __init__(self, pointer: str, reason: str) -> None:
        super().__init__(f"{pointer or '(the whole schema)'}: {reason}")
        self.pointer = pointer
        self.reason = reason


class FieldError(SaysoError, ValueError):
    """A field of a question makes no sense: ``path`` leads to it, ``reason`` says why."""

    def __init__(self, *path: str | int, reason: str) -> None:
        first, *rest = path
        place = f"{first}{''.join(f'[{part}]' for part in rest)}"
        super().__init__(f"{place}: {reason}")
        self.path = path
        self.reason = reason


class ArgumentsChangedError(SaysoError):
    """The arguments differ from those that were shown and approved: do not run the call."""


class StoreUnreachableError(SaysoError):
    """The store did not answer in time. Nothing was approved.

    The store ``is_denied`` where it does not permit its user what is needed.
    """

    is_denied = False


class RequestLostError(StoreUnreachableError):
    """The store had the request and has it no more. Nothing was approved."""

    def __init__(self, request_id: str) -> None:
        super().__init__(
            f"the store lost this request ({request_id}): its data was deleted, or it restarted "
            "or failed over without it; nothing was approved, ask again"
        )
        self.request_id = request_id


class WrongLoopError(SaysoError, RuntimeError):
    """A store, or a gate on it, was used in another event loop than the one it was opened in."""

    def __init__(self, text: str = "") -> None:
        super().__init__(
            text
            or "this belongs to another event loop: use sayso.connect(…), whose handle works in "
            "any loop and any thread, or open a gate, a backend or an orchestrator in the loop "
            "that uses it (asyncio.run begins a new one each time)"
        )


class GateClosedError(SaysoError, RuntimeError):
    """A handle was closed, before the call or while it waited. Nothing was approved."""

    def __init__(self) -> None:
        super().__init__("the handle is closed: nothing was approved; connect again to ask")


class StateFullError(SaysoError):
    """What a policy wants to keep does not fit beside what its session keeps already."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name!r} does not fit into the session's state: keep fewer names, or smaller values"
        )
        self.name = name


class TooManyOpenError(SaysoError):
    """The agent, or the token, has as many open requests as the server allows. Nobody was asked."""


class StateBusyError(SaysoError):
    """Others kept changing a value of the session's state: nothing was changed."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name!r} in the session's state kept changing: try again")
        self.name = name


class UnreadableEventError(SaysoError):
    """Bytes are not an event that is known here; the message says why without quoting them.

    ``source_name`` is the event's own where that much can be read.
    """

    def __init__(self, message: str, *, source_name: str = "") -> None:
        super().__init__(message)
        self.source_name = source_name


class DuplicateRequestError(SaysoError):
    """A different request was opened under this id before."""

    def __init__(self, request_id: str) -> None:
        super().__init__(f"request {request_id!r} exists already with other content; use a new id")
        self.request_id = request_id


class IdempotencyConflictError(SaysoError):
    """Something else was asked under this key in the session: nothing was asked now."""

    def __init__(self, key: str, why: str) -> None:
        super().__init__(
            f"the key {key!r:.80} was used before in this session, and {why}: "
            "a key stands for one call, use a new one"
        )
        self.key = key
        self.why = why


class RequestNotFoundError(SaysoError):
    """The store knows no request with this id: it never did, or its time to live is over."""

    def __init__(self, request_id: str) -> None:
        super().__init__(
            f"no request {request_id!r}: the id is wrong or the record has been removed"
        )
        self.request_id = request_id


class UnknownKeyError(RequestNotFoundError):
    """The session asked about no call under this key, or its record has been removed."""

    def __init__(self, key: str) -> None:
        SaysoError.__init__(self, f"nothing that is known was asked under the key {key!r:.80}")
        self.request_id = self.key = key


class WrongRequestTypeError(SaysoError):
    """The request is another kind of question than the one whose answer was asked for."""

    def __init__(self, request_id: str, found: str, expected: str) -> None:
        super().__init__(
            f"request {request_id!r} is about {found!r} and does not result in {expected}; "
            "name the type of its result in expect="
        )
        self.request_id = request_id


class UnknownAgentError(SaysoError):
    """No agent of this id was added; the message names those that were."""

    def __init__(self, agent_id: str, known: list[str]) -> None:
        super().__init__(f"no agent {agent_id!r} here; there are {', '.join(known) or 'none'}")
        self.agent_id = agent_id


class AlreadyResolvedError(SaysoError):
    """The request has an ending already; the first one counts and stays as it is."""

    def __init__(self, request_id: str, outcome: str, by: str | None = None) -> None:
        who = f" by {by}" if by else ""
        super().__init__(f"request {request_id!r} was already {outcome}{who}: nothing was changed")
        self.request_id = request_id
        self.outcome = outcome
        self.by = by


class DeniedByRuleError(AlreadyResolvedError):
    """It was approved, but a rule denies the call: that denial was recorded, and counts."""

    def __init__(self, request_id: str, reason: str) -> None:
        SaysoError.__init__(self, f"request {request_id!r} cannot be approved: {reason}")
        self.request_id = request_id
        self.outcome = "denied"
        self.by = None
        self.reason = reason


class NotApproverError(SaysoError):
    """The actor may not answer the request so; nothing was decided, and it stays open."""

    def __init__(self, request_id: str, actor: str) -> None:
        super().__init__(f"{actor} may not answer request {request_id!r} so: nothing was decided")
        self.request_id = request_id
        self.actor = actor


class RequestEndedError(SaysoError):
    """The question ended without the answer that was waited for."""

    def __init__(self, request_id: str, outcome: str, reason: str) -> None:
        because = f": {reason}" if reason else ""
        super().__init__(f"request {request_id!r} ended {outcome}{because}")
        self.request_id = request_id
        self.outcome = outcome
        self.reason = reason


class WaitTimeoutError(SaysoError):
    """The wait ended before the question did; the question stays open and can be resumed."""


class BusLostError(SaysoError):
    """A subscription broke and messages may be missing: look in the store."""


class ListenerError(SaysoError):
    """An agent's events can no longer be heard here; the error that ended it is the cause."""

    def __init__(self, agent_id: str, kind: str) -> None:
        super().__init__(
            f"the events of agent {agent_id!r} can no longer be heard: listening raised {kind}; "
            "remove the agent and add it again"
        )
        self.agent_id = agent_id


class EventsGoneError(SaysoError):
    """Events after a position in a branch's log are no longer kept: some would be missed."""

    def __init__(self, position: str) -> None:
        super().__init__(
            f"events after {position} are no longer kept; "
            "look at the requests that matter, and read on from 0 or from now"
        )
        self.position = position


class SlowReaderError(SaysoError):
    """A reader fell too far behind the newest event; it can go on from the last one it took."""

    def __init__(self, position: str) -> None:
        super().__init__(f"reading is too slow; read on from {position}")
        self.position = position


class DeliveryError(SaysoError):
    """A platform did not take a message.

    ``retry_after`` are the seconds the platform asked to wait; ``permanent``
    says that trying again cannot help.
    """

    def __init__(
        self,
        platform: str,
        reason: str,
        *,
        retry_after: float | None = None,
        permanent: bool = False,
    ) -> None:
        hint = f"; retry in {retry_after:g} s" if retry_after is not None else ""
        super().__init__(f"{platform} did not take the message: {reason}{hint}")
        self.platform = platform
        self.reason = reason
        self.retry_after = retry_after
        self.permanent = permanent


class PlaceMovedError(DeliveryError):
    """The chat was given a new address; ``address`` is where to post from now on."""

    def __init__(self, platform: str, address: str) -> None:
        super().__init__(platform, f"the chat is now {platform}:{address}")
        self.address = address


class CallbackError(SaysoError):
    """A webhook call that is not acted on; ``status`` is the HTTP answer."""

    status: ClassVar[int] = 400


class ForgedCallbackError(CallbackError):
    """The call does not prove that the platform sent it."""

    status = 401


class UnreadableCallbackError(CallbackError):
    """The call is genuine but nothing can be read from it."""

    status = 400


class ForeignCallbackError(CallbackError):
    """The call is genuine but belongs to another workspace or app."""

    status = 403


class ReplayedCallbackError(CallbackError):
    """The very same call was here before."""

    status = 409
