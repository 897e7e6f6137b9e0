"""Policies: does this call need a person?"""

from __future__ import annotations

import hashlib
import inspect
import json
import logging
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

from sayso.calls import RunRef, ToolCall
from sayso.errors import ConfigError, SaysoError, ToolBlocked
from sayso.events import RequestEnding, UserInputRequest
from sayso.policy.snapshots import is_same, snapshot
from sayso.rules.declarations import Declaration, Requirements
from sayso.rules.index import RuleIndex
from sayso.rules.rule import RememberedRule, Rule

_log = logging.getLogger(__name__)


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
    that of the remembered rule that decided; a gate takes no other.
    """

    ruling: Ruling
    reason: str = ""
    line: str = ""
    arguments: dict[str, Any] | None = None
    rule_id: str = ""

    ALLOW: ClassVar[Decision]
    DENY: ClassVar[Decision]
    ASK: ClassVar[Decision]

    def because(self, reason: str, *, line: str = "") -> Decision:
        """The same decision with a reason and the line that made it."""
        return replace(self, reason=reason, line=line or self.line)

    def with_arguments(self, arguments: dict[str, Any]) -> Decision:
        """The same decision, for a call with these arguments instead of its own."""
        return replace(self, arguments=dict(arguments))

    def applied_to(self, call: ToolCall) -> ToolCall:
        """The call as it is to be shown and run."""
        return call if self.arguments is None else replace(call, arguments=self.arguments)


Decision.ALLOW = Decision(Ruling.ALLOW)
Decision.DENY = Decision(Ruling.DENY)
Decision.ASK = Decision(Ruling.ASK)


@dataclass(frozen=True, slots=True)
class Context:
    """What a policy may know besides the call, and what it may do.

    ``spend`` is true for exactly one caller for each key in the session, in
    whatever process; ``declaration`` is what the tool says of itself; ``ask``
    puts a question of the policy's own to a person and waits for its ending,
    None where nobody can be asked. ``path`` is the chain of parent calls,
    outermost first. ``unreadable`` are the ids of remembered rules that cannot
    be read here, each of which may deny this call.
    """

    run: RunRef
    remembered: tuple[RememberedRule, ...] = ()
    spend: Callable[[str], Awaitable[bool]] | None = None
    declaration: Declaration | None = None
    ask: Callable[[UserInputRequest], Awaitable[RequestEnding]] | None = None
    source_name: str = ""
    path: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()


Said: TypeAlias = Decision | dict[str, Any] | None
"""What policies may answer: a decision, arguments to run with, or nothing."""


class Decides(Protocol):
    """An object that decides whether a call runs, does not run, or needs a person.

    It leaves the call as it is, and answers with other arguments where it wants some.
    It may be asked more than once about one call: again where the rules of the
    session have changed meanwhile.
    """

    def decide(self, call: ToolCall, context: Context) -> Said | Awaitable[Said]:
        """What is said of this call; plain arguments allow it with those, None is no opinion."""
        ...


Policy: TypeAlias = Decides | Callable[[ToolCall, Context], Said | Awaitable[Said]]
"""An object with ``decide``, or a function; either may be async, and may raise ToolBlocked."""


async def evaluate(
    policy: Policy, call: ToolCall, context: Context, *, name: str = ""
) -> Decision | None:
    """What a policy of any kind says; None when it has no opinion.

    A policy that fails, that answers what is no answer, or that changes the
    call's arguments in place, denies: the reason names it, by ``name`` where
    one is given.
    """
    name = name or policy_name(policy)
    try:
        before = snapshot(call.arguments)
        decide: Callable[..., object] = getattr(policy, "decide", None) or _function(policy)
        said = decide(call, context)
        if not isinstance(said, Decision) and inspect.isawaitable(said):
            said = await said
        decision = _decision(said, name)
        denied = decision is not None and decision.ruling is Ruling.DENY
        if not denied and not is_same(before, snapshot(call.arguments)):
            # The rules that come after would see another call than those before.
            text = f"the arguments changed while policy {name} was asked: answer with_arguments"
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


def _function(policy: object) -> Callable[..., object]:
    if not callable(policy):
        raise TypeError(f"a {type(policy).__name__} is no policy")
    return policy


def _decision(said: object, name: str) -> Decision | None:
    if said is None:
        return None
    line = f"policy {name}"
    if isinstance(said, dict):
        said = Decision.ALLOW.because(f"allowed by {line}").with_arguments(said)
    if not isinstance(said, Decision) or not isinstance(said.ruling, Ruling):
        text = f"{line} answered {type(said).__name__}, not a decision, arguments or None"
        return Decision.DENY.because(text, line=line)
    changed = said.arguments
    if changed is not None and not (
        isinstance(changed, dict) and all(isinstance(key, str) for key in changed)
    ):
        return Decision.DENY.because(f"{line} answered arguments without names", line=line)
    return said if said.line else replace(said, line=line)


def policy_name(policy: object) -> str:
    """What a policy is called in reasons and logs."""
    name = getattr(policy, "__qualname__", None)
    return name if isinstance(name, str) else type(policy).__qualname__


class RulePolicy:
    """Rules in a fixed order; nothing comes before a denial. The line that decides is named.

    1. a denied call id, a deny rule, a remembered *always deny*: deny;
    2. no permission needed by an override by name, else by what the tool
       declares, else by the default: allow;
    3. an allow rule, an allow-once rule, a remembered *always allow*: allow;
    4. otherwise: ask.

    An allow-once rule is gone with its first match, in the whole session
    where the context can spend, else in this object. Overrides and denied
    call ids may be changed at any time and count from the next call on.
    """

    def __init__(
        self,
        *,
        default: Literal["ask", "allow"] = "ask",
        allow: Sequence[Rule] = (),
        allow_once: Sequence[Rule] = (),
        deny: Sequence[Rule] = (),
        denied_call_ids: Collection[str] = (),
        requirements: Requirements | None = None,
    ) -> None:
        if default not in ("ask", "allow"):
            raise ConfigError(f"the default of a policy is 'ask' or 'allow', not {default!r}")
        if isinstance(denied_call_ids, str):
            raise ConfigError("denied_call_ids is a list of ids, not one text")
        self._default = default
        self._allow = RuleIndex(allow)
        self._allowed = _decisions(Decision.ALLOW, "allowed by", "allow rule", len(allow))
        self._once = RuleIndex(allow_once)
        self._keys = _keys(allow_once)
        self._allowed_once = _decisions(
            Decision.ALLOW, "allowed by", "allow-once rule", len(allow_once)
        )
        self._deny = RuleIndex(deny)
        self._denied = _decisions(Decision.DENY, "denied by", "deny rule", len(deny))
        self._denied_call_ids = set(denied_call_ids)
        self._requirements = requirements or Requirements()
        self._overrides: dict[str, bool] = {}
        self._spent: set[tuple[str, str, str]] = set()

    def require_permission_for(self, name: str) -> None:
        """Let the tool need a permission, whatever it declares."""
        self._overrides[name] = True

    def disable_permission_for(self, name: str) -> None:
        """Let the tool need no permission, whatever it declares. Denials still count."""
        self._overrides[name] = False

    def clear_permission_override(self, name: str) -> None:
        """Take back what was said of the tool by name, if anything was."""
        self._overrides.pop(name, None)

    def deny_call_id(self, call_id: str) -> None:
        """Deny one call in advance."""
        self._denied_call_ids.add(call_id)

    def declaration(self, name: str) -> Declaration | None:
        """What the policy was told of the tool."""
        return self._requirements.of(name)

    def decide(self, call: ToolCall, context: Context) -> Decision | Awaitable[Decision]:
        """The decision on this call; to be awaited only where an allow-once rule is about it."""
        denial = self.denial(call, context)
        if denial is not None:
            return denial
        needed = self._need(call, context)
        if isinstance(needed, Decision):
            return needed
        number = self._allow.first(call)
        if number is not None:
            return self._allowed[number]
        once = tuple(self._once.matching(call))
        if once:
            return self._spend(call, context, once, needed)
        return self._remembered_or_ask(call, context, needed)

    def denial(self, call: ToolCall, context: Context) -> Decision | None:
        """The denial of this call, which nothing can come before; None where there is none."""
        if call.call_id in self._denied_call_ids:
            return _DENIED_CALL_ID
        number = self._deny.first(call)
        if number is not None:
            return self._denied[number]
        return remembered_decision(call, context, "deny")

    def _need(self, call: ToolCall, context: Context) -> Decision | str:
        """Allowed without a permission, or why one is needed."""
        override = self._overrides.get(call.name)
        if override is not None:
            return "an override by name says that it needs a person" if override else _NOT_BY_NAME
        declared = self._requirements.of(call.name) or context.declaration
        if declared is not None:
            if not declared.requires:
                return _NOT_BY_DECLARATION
            return f"it is declared to need a person ({declared.kind})"
        return "tools need a person by default" if self._default == "ask" else _NOT_BY_DEFAULT

    async def _spend(
        self, call: ToolCall, context: Context, numbers: Sequence[int], needed: str
    ) -> Decision:
        spend = context.spend or self._spender(context.run)
        for number in numbers:
            if await spend(self._keys[number]):
                # A denial may have come while the store was asked.
                return self.denial(call, context) or self._allowed_once[number]
        return self.denial(call, context) or self._remembered_or_ask(call, context, needed)

    def _remembered_or_ask(self, call: ToolCall, context: Context, needed: str) -> Decision:
        consent = remembered_decision(call, context, "allow")
        return consent or Decision.ASK.because(needed, line="ask")

    def _spender(self, run: RunRef) -> Callable[[str], Awaitable[bool]]:
        async def spend(key: str) -> bool:
            place = (run.agent_id, run.session_id, key)
            if place in self._spent:
                return False
            self._spent.add(place)
            return True

        return spend


_DENIED_CALL_ID = Decision.DENY.because("this call was denied in advance", line="denied call id")
_NOT_BY_NAME = Decision.ALLOW.because(
    "an override by name says that it needs nobody", line="override disable_permission_for"
)
_NOT_BY_DECLARATION = Decision.ALLOW.because(
    "it is declared to need nobody", line="declaration requires=False"
)
_NOT_BY_DEFAULT = Decision.ALLOW.because("tools are allowed by default", line="default")


class Remembered:
    """What people chose with Always, and no opinion on anything else: for a Chain."""

    def decide(self, call: ToolCall, context: Context) -> Decision | None:
        """Denied or allowed by a remembered rule; nothing comes before a denial."""
        return self.denial(call, context) or remembered_decision(call, context, "allow")

    def denial(self, call: ToolCall, context: Context) -> Decision | None:
        """Denied by a remembered rule, which nothing can come before."""
        return remembered_decision(call, context, "deny")


def remembered_decision(
    call: ToolCall, context: Context, effect: Literal["allow", "deny"]
) -> Decision | None:
    """The decision of the first remembered rule of this effect that is about the call.

    A rule that cannot be read denies: it may be about the call.
    """
    if effect == "deny" and context.unreadable:
        return _unreadable(context.unreadable[0])
    for remembered in context.remembered:
        rule = remembered.rule
        if rule.tool == call.name and remembered.effect == effect and rule.matches(call):
            allow = effect == "allow"
            said = "allowed" if allow else "denied"
            reason = f"{said} by an Always of {remembered.stored_by} (rule {remembered.rule_id})"
            decision = Decision.ALLOW if allow else Decision.DENY
            return replace(
                decision,
                reason=reason,
                line=f"remembered always {effect}",
                rule_id=remembered.rule_id,
            )
    return None


def _unreadable(rule_id: str) -> Decision:
    reason = (
        f"a remembered rule cannot be read by this version of Sayso (rule {rule_id}): "
        f"update it, or take the rule back with: sayso revoke {rule_id}"
    )
    line = "remembered always deny"
    return replace(Decision.DENY.because(reason, line=line), rule_id=rule_id)


def _decisions(decision: Decision, said: str, kind: str, count: int) -> tuple[Decision, ...]:
    lines = (f"{kind} {number}" for number in range(1, count + 1))
    return tuple(decision.because(f"{said} {line}", line=line) for line in lines)


def _keys(rules: Sequence[Rule]) -> tuple[str, ...]:
    """A key for each rule, the same in every process; the same rule twice has two keys.

    Equal rules are numbered among themselves, so that another rule put before
    them does not bring back what was spent.
    """
    seen: Counter[str] = Counter()
    keys: list[str] = []
    for rule in rules:
        parts = [rule.tool, sorted(rule.params.items()), rule.arguments_digest]
        # Only where it is there: the keys of other rules stay what they always were.
        parts += [] if rule.others_digest is None else [rule.others_digest]
        text = json.dumps(parts)
        seen[text] += 1
        keys.append(hashlib.sha256(f"{seen[text]} {text}".encode()).hexdigest()[:32])
    return tuple(keys)
