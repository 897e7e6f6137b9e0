"""How a gate is set up, and how one of its questions is put."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import lru_cache
from typing import Any, TypeAlias, TypedDict, TypeVar

from sayso.actors import check_actor
from sayso.agent.decider import Asker
from sayso.agent.timeouts import (
    DEFAULT_PATIENCE_SECONDS,
    DEFAULT_TIMEOUT_SECONDS,
    CallTime,
    Time,
    Timeout,
    in_seconds,
)
from sayso.always.widths import MOST_SUGGESTED
from sayso.calls import Folder, RunRef, ToolCall, read_session_id
from sayso.clock import Clock, utc_now
from sayso.errors import ConfigError, InvalidCallError
from sayso.events import NO_EXPIRY, NO_RUN, Event, UserInputRequest
from sayso.policy.decision import Policy, check_policy
from sayso.rules.declarations import ToolAnnotations
from sayso.rules.rule import Rule
from sayso.stores.protocols import check_key
from sayso.where import Where

_Request = TypeVar("_Request", bound=UserInputRequest)


class AskOptions(TypedDict, total=False):
    """How any question is put; see ``sayso.Gate.ask``."""

    source_name: str | None
    timeout: Timeout | CallTime
    path: Sequence[str]
    requested_by: str | None


class CallOptions(AskOptions, total=False):
    """How a call is asked about; see ``sayso.Gate.check``."""

    description: str
    declaration: ToolAnnotations | None
    key: str | None
    suggest: Sequence[Rule]


@dataclass(frozen=True, slots=True)
class Asked:
    """One question as it is put: who asks, and until when."""

    asker: Asker
    time: CallTime
    description: str = ""
    requested_by: str | None = None
    key: str = ""
    suggest: tuple[Rule, ...] = ()


@lru_cache
def _asker(source_name: str, path: tuple[str, ...]) -> Asker:
    """The same for all who ask alike: many wait."""
    return Asker(source_name, path)


def check_name(argument: str, name: object, fix: str) -> None:
    """Find out at once that an argument names nobody.

    Raises:
        ConfigError: it is no text, or an empty one.
    """
    if not isinstance(name, str) or not name.strip():
        raise ConfigError(f"{argument}={name!r:.60} names nothing; {fix}")


_Branch: TypeAlias = tuple[str, str, str, str]


class DeniedCalls:
    """The call ids that are denied in one run, with the reasons.

    All gates that one opener gave share ``reasons``, whichever thread they work in: a denial
    counts as soon as it stands there. To write or read one is one step, which needs no lock.
    """

    def __init__(self, run: RunRef, reasons: dict[tuple[_Branch, str], str]) -> None:
        self._run = run
        self._branch = (run.agent_id, run.session_id, run.branch_id, run.run_id)
        self._reasons = reasons

    def deny(self, call_id: str, reason: str) -> None:
        """Deny this call id from now on.

        Raises:
            ConfigError: the run has no name, so the calls of others may have this id; or the id
                or the reason is no text.
        """
        if not isinstance(call_id, str) or not isinstance(reason, str):
            text = f"deny_call({call_id!r:.60}, reason={reason!r:.60}): pass both as text"
            raise ConfigError(text)
        if not self._run.can_remember:
            text = f"call id {call_id!r} is denied in no run: name a session, or a run id"
            raise ConfigError(text)
        self._reasons[self._branch, call_id] = reason

    def find_reason(self, call_id: str) -> str | None:
        """Return why this call id is denied, None where it is not."""
        return self._reasons.get((self._branch, call_id))

    def __contains__(self, call_id: object) -> bool:
        return (self._branch, call_id) in self._reasons


@contextmanager
def _blame_argument(argument: str) -> Iterator[None]:
    try:
        yield
    except (TypeError, ValueError, InvalidCallError) as error:
        raise ConfigError(f"{argument}: {error}") from None


@dataclass(frozen=True, slots=True)
class GateOptions:
    """How a gate is set up, and for whom it asks; see ``sayso.Gate.open``.

    ``folder`` is the root of the project that the run works on, where this process sees
    its files: without one, nothing is offered or allowed by paths.
    Without a policy, a person is asked about every call. ``withdrawn_by`` is who
    withdraws a question that is not waited for any more, where that is known.
    ``where`` is
    where it works, or what finds that when it is asked.
    ``requested_by`` is the actor who wants what the run does, such as ``chat:alice``:
    they may not approve it. With ``audit_rules``, what rules decide without a person
    is in the audit, too. A store that is away is waited for during ``patience``, and
    never past a timeout.

    Raises:
        ConfigError: the run names no agent or no session, the policy is none, the timeout or
            the patience is no time, not more than zero, or longer than 30 days, ``requested_by``
            is no actor, the folder is not written from /, or another argument is not of its kind.
    """

    run: RunRef
    policy: Policy | None = None
    timeout: Time = DEFAULT_TIMEOUT_SECONDS
    requested_by: str | None = None
    clock: Clock = utc_now
    observe: Callable[[Event], None] | None = None
    withdrawn_by: str | None = None
    audit_rules: bool = False
    source_name: str | None = None
    path: tuple[str, ...] = ()
    patience: Time = DEFAULT_PATIENCE_SECONDS
    where: Where | Callable[[], Where | None] | None = None
    folder: str | Folder | None = None
    denials: dict[tuple[_Branch, str], str] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        self._check_kinds()
        if (placed := self._folder) is not None and not placed.root.startswith("/"):
            raise ConfigError(f"folder={placed.root!r:.60}: a folder is written from /")
        check_name("agent", self.run.agent_id, 'name the agent, such as "deploy-bot"')
        check_name("session", self.run.session_id, "name the session, such as a conversation's id")
        with _blame_argument("session"):
            read_session_id(self.run.session_id)
        if self.policy is not None:
            check_policy(self.policy)
        with _blame_argument("timeout"):
            in_seconds(self.timeout)
        with _blame_argument("patience"):
            in_seconds(self.patience)
        if self.requested_by is not None:
            with _blame_argument("requested_by"):
                check_actor(self.requested_by)

    def _check_kinds(self) -> None:
        if not isinstance(self.folder, str | Folder | None):
            raise ConfigError(f"folder={self.folder!r:.60}: pass its path as text")
        if not (isinstance(self.where, Where | None) or callable(self.where)):
            raise ConfigError(
                f"where={self.where!r:.60}: pass a sayso.Where, a function that returns one, "
                "or None"
            )
        if not (self.observe is None or callable(self.observe)):
            raise ConfigError(f"observe={self.observe!r:.60}: pass a function that takes an event")

    @property
    def denied(self) -> DeniedCalls:
        """The call ids that are denied in the run, by any gate with these options."""
        return DeniedCalls(self.run, self.denials)

    @property
    def place(self) -> Where | None:
        """Where the run works, as it is now."""
        return self.where() if callable(self.where) else self.where

    def child(self, path: tuple[str, ...], source_name: str | None) -> GateOptions:
        """Those of the gate of a sub-agent, which these calls led to."""
        named = self.source_name if source_name is None else source_name
        return replace(self, source_name=named, path=self.path + path)

    def choose_run(self, session: RunRef | str | int | None, run_id: str | None) -> RunRef:
        """Return the run of the agent in a session, else in this one; a run as it is.

        Raises:
            InvalidCallError: the session is no string or int, is empty, or too long.
        """
        if isinstance(session, RunRef):
            return session
        run = self.run if run_id is None else replace(self.run, run_id=run_id)
        if session is not None:
            return replace(run, session_id=read_session_id(session), is_named=True)
        return run if self.run.is_named or not run_id else replace(run, session_id=run_id)

    @property
    def _folder(self) -> Folder | None:
        return Folder(self.folder, seen=True) if isinstance(self.folder, str) else self.folder

    def placed(self, call: ToolCall) -> ToolCall:
        """The call with the folder that the run works in, unless it has one of its own."""
        folder = self._folder
        return call if folder is None or call.folder else replace(call, folder=folder)

    def asked(
        self,
        *,
        source_name: str | None = None,
        timeout: Timeout | CallTime = None,
        path: Sequence[str] = (),
        requested_by: str | None = None,
        description: str = "",
        declaration: ToolAnnotations | None = None,
        key: str | None = None,
        suggest: Sequence[Rule] = (),
    ) -> Asked:
        """A question as it is put by this gate.

        Raises:
            ValueError: the timeout is not more than zero, or longer than 30 days, or
                ``requested_by`` is no actor, or the key is none, or too many rules are
                suggested.
        """
        if key is not None:
            check_key(key)
        if len(suggest) > MOST_SUGGESTED:
            raise ValueError(f"at most {MOST_SUGGESTED} rules are suggested, not {len(suggest)}")
        if requested_by is not None:
            check_actor(requested_by)
        own = self.run.agent_id if self.source_name is None else self.source_name
        source = own if source_name is None else source_name
        if not isinstance(timeout, CallTime):
            timeout = CallTime.of(self.timeout if timeout is None else timeout)
        wanted = self.requested_by if requested_by is None else requested_by
        asker = _asker(source, (*self.path, *path))
        if declaration is not None:
            asker = replace(asker, declaration=declaration)
        return Asked(asker, timeout, description, wanted, key or "", tuple(suggest))

    def shared(self, how: CallOptions) -> CallOptions:
        """How the calls of a batch are asked about: one time for all of them, from now on."""
        return CallOptions(**{**how, "timeout": self.asked(timeout=how.get("timeout")).time})

    def completed(self, request: _Request) -> _Request:
        """The request with what was left out of it: whose it is, who wants it, until when.

        Raises:
            ValueError: whoever it says asked is no actor.
        """
        for asker in (request.requested_by, request.filed_by):
            if asker is not None:
                check_actor(asker)
        left_out: dict[str, Any] = {}
        if request.run == NO_RUN:
            left_out["run"] = self.run
        if request.expires_at == NO_EXPIRY:
            left_out["expires_at"] = self.clock() + timedelta(seconds=in_seconds(self.timeout))
        if request.requested_by is None and self.requested_by is not None:
            left_out["requested_by"] = self.requested_by
        if request.where is None and self.where is not None:
            left_out["where"] = self.place
        if self.path and "path" not in request.model_fields_set:
            left_out["path"] = self.path
        return request.model_copy(update=left_out) if left_out else request

    def fields(self, asked: Asked) -> dict[str, Any]:
        """What every request says: who asks, and until when."""
        return {
            "source_name": asked.asker.source_name,
            "run": self.run,
            "path": asked.asker.path,
            "requested_by": asked.requested_by,
            "where": self.place,
            "expires_at": self.clock() + timedelta(seconds=max(asked.time.left, 0.0)),
        }
