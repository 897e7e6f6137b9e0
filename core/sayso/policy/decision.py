"""Policies: the decision on a call, and the context that a policy may use for it."""

from __future__ import annotations

import inspect
import logging
import marshal
import traceback
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, ClassVar, Protocol, TypeAlias

from pydantic_core import to_jsonable_python

from sayso.calls import RunRef, ToolCall
from sayso.errors import ConfigError, SaysoError, ToolBlocked
from sayso.events import Resolution, UserInputRequest
from sayso.policy.session_state import State
from sayso.rules.declarations import Requirements, ToolAnnotations
from sayso.rules.floor import NO_FLOOR, AgentFloor
from sayso.rules.rule import RememberedRule

_log = logging.getLogger(__name__)

_UNCHANGING = frozenset({str, int, float, bool, bytes, type(None)})


# Without references, and strings written alike whether they are interned: the same bytes for the
# same value at any time.
_FORM = 2


def snapshot(value: Any) -> Any:
    """The value as it is now: containers are copied, what cannot change is kept as it is.

    Of an object whose inside nothing is known, only which one it is.
    """
    try:
        return _Plain(marshal.dumps(value, _FORM))
    except ValueError:  # something in it is no plain value
        return _copied(value)


class _Plain(bytes):
    """A plain value, written: quick to make, and read only where it has changed."""


def _copied(value: Any) -> Any:
    kind = type(value)
    if kind in _UNCHANGING:
        return value
    if kind is dict or isinstance(value, Mapping):
        return {key: _copied(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_copied(item) for item in value]
    # To look at an iterator would use it up.
    if isinstance(value, Iterator):
        return id(value)
    return to_jsonable_python(value, fallback=id, bytes_mode="base64", inf_nan_mode="strings")


def is_same(before: Any, now: Any) -> bool:
    """Return True if two snapshots are of the same value: 1, 1.0 and True are three."""
    if isinstance(before, _Plain) and isinstance(now, _Plain):
        # The order of keys may differ.
        return bytes(before) == bytes(now) or _is_same(_read(before), _read(now))
    return _is_same(_read(before), _read(now))


def _read(snapshot: Any) -> Any:
    return _copied(marshal.loads(snapshot)) if isinstance(snapshot, _Plain) else snapshot  # noqa: S302


def _is_same(before: Any, now: Any) -> bool:
    if before is now:
        return True
    kind = type(before)
    if kind is not type(now):
        return False
    if kind is dict:
        return before.keys() == now.keys() and all(
            _is_same(item, now[key]) for key, item in before.items()
        )
    if kind is list:
        return len(before) == len(now) and all(map(_is_same, before, now))
    return bool(before == now)


class Ruling(Enum):
    """The three words of a decision."""

    ALLOW = "allow"
    DENY = "deny"
    ASK = "ask"


@dataclass(frozen=True, slots=True)
class Decision:
    """What a policy says of a call: ``Decision.ALLOW``, ``.DENY`` or ``.ASK``.

    ``line`` names the line of the policy that decided, ``reason`` is for
    people. ``arguments`` replace those of the call where they are given: at
    once with ALLOW, with ASK in what is shown and then runs. ``rule_id`` is
    that of the remembered rule that decided; a gate takes no other. ``other_rules``
    are those of the rules that it took as well, where one alone did not decide.
    """

    ruling: Ruling
    reason: str = ""
    line: str = ""
    arguments: dict[str, Any] | None = None
    rule_id: str = ""
    other_rules: tuple[str, ...] = ()

    ALLOW: ClassVar[Decision]
    DENY: ClassVar[Decision]
    ASK: ClassVar[Decision]

    @property
    def rule_ids(self) -> tuple[str, ...]:
        """Those of all remembered rules that decided."""
        return (self.rule_id, *self.other_rules) if self.rule_id else ()

    @property
    def told_because(self) -> str:
        """Why a person is asked, where the policy has a reason of its own."""
        own = self.ruling is Ruling.ASK and self.line != ASK_LINE
        return self.reason if own else ""

    def because(self, reason: str, *, line: str = "") -> Decision:
        """The same decision with a reason and the line that made it."""
        return replace(self, reason=reason, line=line or self.line)

    def with_arguments(self, arguments: dict[str, Any]) -> Decision:
        """The same decision, for a call with these arguments instead of its own."""
        return replace(self, arguments=dict(arguments))

    def applied_to(self, call: ToolCall) -> ToolCall:
        """The call as it is to be shown and run."""
        return call if self.arguments is None else replace(call, arguments=self.arguments)


ASK_LINE = "ask"
"""The line of an ASK that is only what happens where nothing else was said of a call."""

Decision.ALLOW = Decision(Ruling.ALLOW)
Decision.DENY = Decision(Ruling.DENY)
Decision.ASK = Decision(Ruling.ASK)


@dataclass(frozen=True, slots=True)
class PolicyContext:
    """What a policy may know besides the call, and what it may do.

    ``spend`` is true for exactly one caller for each key in the session, in
    whatever process; ``declaration`` is what the tool says of itself; ``ask``
    puts a question of the policy's own to a person and waits for its ending,
    None where nobody can be asked. ``path`` is the chain of parent calls,
    outermost first. ``unreadable`` are the ids of remembered rules that cannot
    be read here, each of which may deny this call. ``floor`` is what the server
    denies, in any case. ``state`` is what policies keep for the session, None
    where there is no store.
    """

    run: RunRef
    remembered: tuple[RememberedRule, ...] = ()
    spend: Callable[[str], Awaitable[bool]] | None = None
    declaration: ToolAnnotations | None = None
    ask: Callable[[UserInputRequest], Awaitable[Resolution]] | None = None
    source_name: str = ""
    path: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()
    state: State | None = None
    floor: AgentFloor = NO_FLOOR

    @property
    def only_looking(self) -> PolicyContext:
        """The same for whoever looks without side effects: nothing is spent, asked or changed."""
        state = None if self.state is None else self.state.only_looking
        if self.spend is None and self.ask is None and state is self.state:
            return self
        return replace(self, spend=None, ask=None, state=state)


@dataclass(frozen=True, slots=True)
class Rewritten:
    """Other arguments for the call, and no opinion on it: in a chain, the next policy decides."""

    arguments: dict[str, Any]
    line: str

    @property
    def allowed(self) -> Decision:
        """What it means of a policy that stands alone: the call runs with these arguments."""
        allowed = Decision.ALLOW.because(f"allowed by {self.line}", line=self.line)
        return allowed.with_arguments(self.arguments)


Said: TypeAlias = Decision | Rewritten | dict[str, Any] | None
"""What policies may answer: a decision, arguments to go on with, or nothing."""


class Decides(Protocol):
    """An object that decides whether a call runs, does not run, or needs a person.

    It leaves the call as it is, and answers with other arguments where it wants some.
    It may be asked more than once about one call: again where the rules of the
    session have changed meanwhile.
    """

    def decide(self, call: ToolCall, context: PolicyContext) -> Said | Awaitable[Said]:
        """What is said of this call; None means no opinion.

        Plain arguments are those to go on with: the next policy of a chain
        decides, and a policy that stands alone allows the call with them.
        """
        ...


Policy: TypeAlias = Decides | Callable[[ToolCall, PolicyContext], Said | Awaitable[Said]]
"""An object with ``decide``, or a function; either may be async, and may raise ToolBlocked."""


async def evaluate(
    policy: Policy, call: ToolCall, context: PolicyContext, *, name: str = ""
) -> Decision | None:
    """The decision of a policy of any kind; None when it has no opinion.

    Plain arguments allow the call with those. Otherwise as for ``said_by``.
    """
    said = await said_by(policy, call, context, name=name)
    return said.allowed if isinstance(said, Rewritten) else said


async def said_by(
    policy: Policy, call: ToolCall, context: PolicyContext, *, name: str = ""
) -> Decision | Rewritten | None:
    """What a policy of any kind says, plain arguments as such; None when it has no opinion.

    A policy that fails, that returns anything else, or that changes the
    call's arguments in place, denies: the reason names it, by ``name`` where
    one is given.
    """
    name = name or policy_name(policy)
    try:
        before = snapshot(call.arguments)
        decide: Any = getattr(policy, "decide", policy)
        said = decide(call, context)
        if not isinstance(said, Decision) and inspect.isawaitable(said):
            said = await said
        decision = _decision(said, name)
        denied = isinstance(decision, Decision) and decision.ruling is Ruling.DENY
        if not denied and not is_same(before, snapshot(call.arguments)):
            # The rules that come after would see another call than those before.
            text = (
                f"the arguments changed while policy {name} was asked: "
                "return with_arguments(…) instead"
            )
            return Decision.DENY.because(text, line=f"policy {name}")
    except ToolBlocked as blocked:
        return Decision.DENY.because(blocked.reason, line=f"blocked by {name}")
    except Exception as error:  # whatever happens in a policy, nothing runs
        # Where, but not the message: that may quote the arguments.
        where = "".join(traceback.format_tb(error.__traceback__))
        kind = type(error).__name__
        _log.error("policy %s raised %s, so %s is denied:\n%s", name, kind, call.name, where)
        detail = f": {error}" if isinstance(error, SaysoError) else ""
        return Decision.DENY.because(f"policy {name} raised {kind}{detail}", line=f"policy {name}")
    return decision


def check_policy(policy: object, name: str = "policy") -> None:
    """Find out before the first call that something is no policy, which would deny every call.

    Raises:
        ConfigError: it has no ``decide`` and is no function, or is a class.
    """
    if isinstance(policy, type) or not (hasattr(policy, "decide") or callable(policy)):
        written = repr(policy) if isinstance(policy, str) else policy_name(policy)
        raise ConfigError(
            f"{name}={written[:60]} is not a policy; pass an object such as "
            'sayso.RulePolicy(default="allow"), or a function of the call and its context'
        )


def _decision(said: object, name: str) -> Decision | Rewritten | None:
    if said is None or isinstance(said, Rewritten):
        return said
    line = f"policy {name}"
    if isinstance(said, dict) and all(isinstance(key, str) for key in said):
        return Rewritten(dict(said), line)
    if isinstance(said, dict):
        said = Decision.ALLOW.with_arguments(said)
    if not isinstance(said, Decision) or not isinstance(said.ruling, Ruling):
        text = f"{line} returned {type(said).__name__} instead of a decision, arguments or None"
        return Decision.DENY.because(text, line=line)
    changed = said.arguments
    if changed is not None and not (
        isinstance(changed, dict) and all(isinstance(key, str) for key in changed)
    ):
        return Decision.DENY.because(
            f"{line} returned arguments whose names are not strings", line=line
        )
    return said if said.line else replace(said, line=line)


def policy_name(policy: object) -> str:
    """What a policy is called in reasons and logs."""
    name = getattr(policy, "__qualname__", None)
    return name if isinstance(name, str) else type(policy).__qualname__


async def denial_by(policy: Policy, call: ToolCall, context: PolicyContext) -> Decision | None:
    """Return the denial that nothing can come before, by the policy's method ``denial``, or None.

    A policy without that method denies nothing in advance. It is asked with a context that can
    neither spend nor ask. One that fails at it, or says anything but a denial, denies.
    """
    if (denial := getattr(policy, "denial", None)) is None:
        return None
    name = policy_name(policy)
    decision = await evaluate(denial, call, context.only_looking, name=name)
    if decision is None or decision.ruling is Ruling.DENY:
        return decision
    text = f"policy {name} returned {decision.ruling.value} from denial(), which can only deny"
    return Decision.DENY.because(text, line=f"policy {name}")


class FirstDeclared:
    """The declarations of several policies: for each tool, that of the first that knows it."""

    def __init__(self, *policies: Policy) -> None:
        self._policies = policies

    def of(self, name: str) -> ToolAnnotations | None:
        """Return the declaration of the tool with this name."""
        told = (requirements_of(policy).of(name) for policy in self._policies)
        return next((declaration for declaration in told if declaration is not None), None)


def requirements_of(policy: Policy) -> Requirements | FirstDeclared:
    """Read a policy's declarations of tools, its ``requirements``; none where it cannot say."""
    told: Requirements | FirstDeclared = getattr(policy, "requirements", _NOTHING)
    return told


_NOTHING = Requirements()
