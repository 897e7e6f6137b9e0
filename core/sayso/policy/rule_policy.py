"""Rules in a fixed order: the policy that comes with Sayso."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias

from sayso.calls import RunRef, ToolCall
from sayso.errors import ConfigError
from sayso.policy.decision import ASK_LINE, Decision, PolicyContext, Ruling
from sayso.policy.permissions import Permissions
from sayso.rules.declarations import Requirements
from sayso.rules.matchers import Matcher
from sayso.rules.rule import DenyRule, Rule, StandingDenial, matching_rules
from sayso.rules.rule_set import about, remembered_denial, together

CallIds: TypeAlias = Collection[str] | Mapping[str, str]
"""Ids of calls; a mapping says why each of them is denied."""

LINE = "denied call id"


def reasons_by_id(call_ids: CallIds) -> dict[str, str]:
    """The ids with their reasons, empty where there is none.

    Raises:
        ConfigError: it is a single string, or something in it is not one.
    """
    if isinstance(call_ids, str):
        raise ConfigError("denied_call_ids must be a list of ids, not a single string")
    reasons = dict(call_ids) if isinstance(call_ids, Mapping) else dict.fromkeys(call_ids, "")
    if not all(isinstance(one, str) for pair in reasons.items() for one in pair):
        raise ConfigError("denied_call_ids must be strings, and so must their reasons")
    return reasons


def denial_of(reason: str | None) -> Decision | None:
    """The denial of a call whose id is denied for a reason; None where it is not denied."""
    if reason is None:
        return None
    return Decision.DENY.because(reason or "this call was denied in advance", line=LINE)


def once_keys(rules: Sequence[Rule]) -> tuple[str, ...]:
    """A key for each rule, the same in every process; the same rule twice has two keys.

    Equal rules are numbered among themselves, so that another rule put before
    them does not bring back what was spent.
    """
    seen: Counter[str] = Counter()
    keys: list[str] = []
    for rule in rules:
        params = sorted(rule.params.items())
        parts: list[Any] = [rule.tool, params, rule.arguments_digest]
        # Only where it is there: the keys of other rules stay what they always were.
        parts += [] if rule.others_digest is None else [rule.others_digest]
        if rule.talk or rule.matchers:
            parts.append([sorted(rule.talk), sorted(_written(rule.matchers))])
        if rule.also:
            parts.append({"also": sorted(rule.also)})
        text = json.dumps(parts)
        seen[text] += 1
        keys.append(hashlib.sha256(f"{seen[text]} {text}".encode()).hexdigest()[:32])
    return tuple(keys)


def _written(matchers: Mapping[str, Matcher]) -> Iterator[list[Any]]:
    for name, fit in matchers.items():
        yield [name, sorted(asdict(fit).items())]


class Remembered:
    """A policy of the rules stored by *Always*, without an opinion on anything else."""

    def decide(self, call: ToolCall, context: PolicyContext) -> Decision | None:
        """Denied or allowed by a remembered rule; nothing comes before a denial."""
        return self.denial(call, context) or remembered_decision(call, context, "allow")

    def denial(self, call: ToolCall, context: PolicyContext) -> Decision | None:
        """Denied by a remembered rule, which nothing can come before."""
        return remembered_decision(call, context, "deny")


def remembered_decision(
    call: ToolCall, context: PolicyContext, effect: Literal["allow", "deny"]
) -> Decision | None:
    """The decision of the first remembered rule of this effect that is about the call.

    Or of several that allow each part of a line: see ``sayso.rules.rule_set``.

    A rule that cannot be read denies: it may be about the call. What the server
    denies is denied here, too.
    """
    if effect == "deny":
        denial = context.floor.denial(call) or remembered_denial(
            call, context.remembered, context.unreadable
        )
        return None if denial is None else denied(denial)
    consent = next(about(call, context.remembered, effect), None)
    rules = together(call, context.remembered) if consent is None else (consent,)
    if not rules:
        return None
    said = " and ".join(f"by an Always of {one.stored_by} (rule {one.rule_id})" for one in rules)
    first, *others = (one.rule_id for one in rules)
    line = "remembered always allow"
    return Decision(Ruling.ALLOW, f"allowed {said}", line, rule_id=first, other_rules=tuple(others))


def denied(denial: StandingDenial) -> Decision:
    """The decision that a standing denial makes."""
    return Decision(Ruling.DENY, denial.reason, denial.line, rule_id=denial.rule_id)


class RulePolicy:
    """Rules in a fixed order; nothing comes before a denial. The line that decides is named.

    1. a denied call id, a deny rule, a remembered *always deny*: deny;
    2. no permission needed by an override by name, else by what the tool
       declares, else by the default: allow;
    3. an allow rule, an allow-once rule, a remembered *always allow*: allow;
    4. otherwise: ask.

    An allow-once rule is gone with its first match, in the whole session
    where the context can spend, else in this object. Overrides and denied
    call ids may be changed at any time and count from the next call on. A
    mapping of ``denied_call_ids`` says why each of them is denied; one of
    ``lines`` says what a line is called instead of, say, *deny rule 1*.
    """

    def __init__(
        self,
        *,
        default: Literal["ask", "allow"] = "ask",
        allow: Sequence[Rule] = (),
        allow_once: Sequence[Rule] = (),
        deny: Sequence[Rule] = (),
        denied_call_ids: CallIds = (),
        requirements: Requirements | None = None,
        lines: Mapping[str, str] | None = None,
    ) -> None:
        if default not in ("ask", "allow"):
            raise ConfigError(f"the default of a policy must be 'ask' or 'allow', not {default!r}")
        self._default = default
        called = lines or {}
        self._given = Permissions(tuple(allow), tuple(allow_once), tuple(deny))
        self._allowed = _decisions(Decision.ALLOW, "allow rule", len(allow), called)
        self._keys = once_keys(allow_once)
        self._allowed_once = _decisions(Decision.ALLOW, "allow-once rule", len(allow_once), called)
        self._denied = _decisions(Decision.DENY, "deny rule", len(deny), called)
        self._deny_rules = _by_tool(deny, self._denied)
        self._by_default = _NOT_BY_DEFAULT.because(
            _NOT_BY_DEFAULT.reason, line=called.get("default", "")
        )
        self._denied_call_ids = reasons_by_id(denied_call_ids)
        self.requirements = requirements or Requirements()
        self._overrides: dict[str, bool] = {}
        self._spent: set[tuple[str, str, str]] = set()

    @classmethod
    def from_file(cls, path: str | Path, *, requirements: Requirements | None = None) -> Self:
        """The policy in a file, the same that a server's ``[[policy]]`` may name by ``file``.

        Raises:
            SettingsError: it cannot be read, or something in it is wrong; a line for
                each problem, with the line of the file and the fix.
        """
        # Most agents read no file: they need not load what reads one.
        from sayso.policy.policy_file import read_policy

        document, written = read_policy(str(path))
        document.check()
        allow = (*written.allow, *written.looking)
        named = enumerate(allow, 1)
        return cls(
            default=written.default or "ask",
            allow=[one.rule for one in allow],
            allow_once=[one.rule for one in written.allow_once],
            deny=[one.rule for one in written.deny],
            requirements=requirements,
            lines={f"allow rule {n}": one.place for n, one in named if one in written.looking},
        )

    @property
    def permissions(self) -> Permissions:
        """The rules that it was given; those that allow once also where they are used up."""
        return replace(self._given, denied_call_ids=dict(self._denied_call_ids))

    def require_permission_for(self, name: str) -> None:
        """Let the tool need a permission, whatever it declares."""
        self._overrides[name] = True

    def disable_permission_for(self, name: str) -> None:
        """Let the tool need no permission, whatever it declares. Denials still count."""
        self._overrides[name] = False

    def clear_permission_override(self, name: str) -> None:
        """Take back what was said of the tool by name, if anything was."""
        self._overrides.pop(name, None)

    def deny_call_id(self, call_id: str, *, reason: str = "") -> None:
        """Deny one call in advance."""
        self._denied_call_ids[call_id] = reason

    def decide(self, call: ToolCall, context: PolicyContext) -> Decision | Awaitable[Decision]:
        """The decision on this call; to be awaited only where an allow-once rule is about it."""
        denial = self.denial(call, context)
        if denial is not None:
            return denial
        needed = self._need(call, context)
        if isinstance(needed, Decision):
            return needed
        number = next(matching_rules(self._given.allow, call), None)
        if number is not None:
            return self._allowed[number]
        once = tuple(matching_rules(self._given.allow_once, call))
        if once:
            return self._spend(call, context, once, needed)
        return self._remembered_or_ask(call, context, needed)

    def denial(self, call: ToolCall, context: PolicyContext) -> Decision | None:
        """The denial of this call, which nothing can come before; None where there is none."""
        if (denial := denial_of(self._denied_call_ids.get(call.call_id))) is not None:
            return denial
        number = next(matching_rules(self._given.deny, call), None)
        if number is not None:
            return self._denied[number]
        return remembered_decision(call, context, "deny")

    def deny_rules(self, call: ToolCall, context: PolicyContext) -> Sequence[DenyRule]:  # noqa: ARG002
        """The deny rules for the call's tool."""
        return self._deny_rules.get(call.name, ())

    def _need(self, call: ToolCall, context: PolicyContext) -> Decision | str:
        """Allowed without a permission, or why one is needed."""
        override = self._overrides.get(call.name)
        if override is not None:
            return "an override by name says that it needs a person" if override else _NOT_BY_NAME
        declared = self.requirements.of(call.name) or context.declaration
        if declared is not None:
            if not declared.requires:
                return _NOT_BY_DECLARATION
            return f"it is declared to need a person ({declared.kind})"
        return "tools need a person by default" if self._default == "ask" else self._by_default

    async def _spend(
        self, call: ToolCall, context: PolicyContext, numbers: Sequence[int], needed: str
    ) -> Decision:
        spend = context.spend or self._spender(context.run)
        for number in numbers:
            if await spend(self._keys[number]):
                # A denial may have come while the store was asked.
                return self.denial(call, context) or self._allowed_once[number]
        return self.denial(call, context) or self._remembered_or_ask(call, context, needed)

    def _remembered_or_ask(self, call: ToolCall, context: PolicyContext, needed: str) -> Decision:
        consent = remembered_decision(call, context, "allow")
        return consent or Decision.ASK.because(needed, line=ASK_LINE)

    def _spender(self, run: RunRef) -> Callable[[str], Awaitable[bool]]:
        async def spend(key: str) -> bool:
            place = (run.agent_id, run.session_id, key)
            if place in self._spent:
                return False
            self._spent.add(place)
            return True

        return spend


_NOT_BY_NAME = Decision.ALLOW.because(
    "an override by name says that it does not need a person",
    line="override disable_permission_for",
)
_NOT_BY_DECLARATION = Decision.ALLOW.because(
    "it is declared not to need a person", line="declaration requires=False"
)
_NOT_BY_DEFAULT = Decision.ALLOW.because("tools are allowed by default", line="default")


def _decisions(
    decision: Decision, kind: str, count: int, called: Mapping[str, str]
) -> tuple[Decision, ...]:
    said = "denied by" if decision is Decision.DENY else "allowed by"
    plain = (f"{kind} {number}" for number in range(1, count + 1))
    lines = (called.get(line, line) for line in plain)
    return tuple(decision.because(f"{said} {line}", line=line) for line in lines)


def _by_tool(rules: Sequence[Rule], denied: Sequence[Decision]) -> Mapping[str, Sequence[DenyRule]]:
    found: dict[str, list[DenyRule]] = defaultdict(list)
    for rule, decision in zip(rules, denied, strict=True):
        found[rule.tool].append(DenyRule(decision.line, rule))
    return dict(found)
