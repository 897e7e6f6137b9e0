"""What the agent's side gets: may the call run, with which arguments, and who said so."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sayso.agent.copies import own
from sayso.calls import ToolCall
from sayso.digests import is_digest_of, short_digest
from sayso.errors import ArgumentsChangedError
from sayso.events import Outcome, Resolution
from sayso.policy.decision import Decision, Ruling
from sayso.policy.rule_policy import LINE
from sayso.questions.permission_answer import PermissionResponseEvent

A_PERSON = "a person"
"""Who decided, to a model."""

# Where reasons of ours name an account: what a rule of Always decides, and an approval or an
# answer that a denial came before.
_OUR_ACCOUNTS = re.compile(
    r"(?<=\bby an Always of )[!-~]+(?= \(rule )"
    r"|(?<=\bapproved by )[!-~]+(?=, then denied by the agent: )"
    r"|[!-~]+(?= could not allow it\Z)"
)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The end of one question, or a policy's own decision.

    ``arguments`` are those to run with; ``asked_arguments`` are those that were
    asked about, where a person changed them. ``line`` says what decided: a line of
    the policy, or ``person`` when somebody was asked; ``rule_id`` is that of the
    remembered rule that decided, ``other_rules`` those of others that it took as well.
    """

    outcome: Outcome
    tool: str
    arguments: Mapping[str, Any]
    reason: str = ""
    line: str = "person"
    permission_id: str | None = None
    decided_by: str | None = None
    decided_at: datetime | None = None
    asked_arguments: Mapping[str, Any] | None = None
    asks_for_changes: bool = False
    rule_id: str = ""
    other_rules: tuple[str, ...] = ()

    @property
    def rule_ids(self) -> tuple[str, ...]:
        """Those of all remembered rules that decided."""
        return (self.rule_id, *self.other_rules) if self.rule_id else ()

    @property
    def approved(self) -> bool:
        """Whether the call may run."""
        return self.outcome is Outcome.APPROVED

    def why(self, *, who: str | None = A_PERSON) -> str:
        """The reason; ``who`` stands for the accounts in it that Sayso wrote there itself."""
        return self.reason if who is None else _OUR_ACCOUNTS.sub(lambda _: who, self.reason)

    def as_tool_result(self, *, who: str | None = A_PERSON) -> str:
        """For the agent, in place of the tool's result: what happened and why.

        ``who`` stands for the person who decided, whose account is no business of the model's;
        None names them by their account, for a log or a colleague.
        """
        said = {
            Outcome.APPROVED: "was approved",
            Outcome.DENIED: "was denied",
            Outcome.ANSWERED: "was not approved: the answer was not an approval",
            Outcome.EXPIRED: "was not approved: nobody answered in time",
            Outcome.CANCELLED: "was not approved: the question was cancelled",
            Outcome.UNDELIVERABLE: "was not approved: nobody could be asked",
        }[self.outcome]
        by = f" by {who or self.decided_by}" if self.decided_by else ""
        # The reason of an expiry is our own and is said already; any other is somebody's.
        told = self.reason and self.outcome is not Outcome.EXPIRED
        because = f": {self.why(who=who)}" if told else ""
        if self.asks_for_changes:
            return f"The call of {self.tool} did not run. Changes are asked for{by}{because}"
        if self.asked_arguments is not None:
            by += " with changed arguments"
        ran = "" if self.approved else " It did not run."
        return f"The call of {self.tool} {said}{by}{because}.{ran}"


@dataclass(frozen=True, slots=True)
class OpenCheck:
    """A call with an open question, as little of it as a waiting run needs."""

    call: ToolCall
    permission_id: str
    digest: str


@dataclass(frozen=True, slots=True)
class PendingResult:
    """A question of a batch that nobody has answered yet: resume it later."""

    permission_id: str
    tool: str
    expires_at: datetime

    @property
    def approved(self) -> bool:
        """Whether the call may run: not yet."""
        return False

    def as_tool_result(self) -> str:
        """For the agent, in place of the tool's result."""
        return f"The call of {self.tool} waits for an answer. It did not run."


def decided(call: ToolCall, decision: Decision) -> CheckResult:
    """The verdict of a policy that needed nobody."""
    approved = decision.ruling is Ruling.ALLOW
    return CheckResult(
        outcome=Outcome.APPROVED if approved else Outcome.DENIED,
        tool=call.name,
        arguments=own(call.arguments if decision.arguments is None else decision.arguments),
        reason=decision.reason,
        line=decision.line,
        rule_id=decision.rule_id,
        other_rules=decision.other_rules,
    )


def out_of_time(call: ToolCall, seconds: float, so: str = "nobody was asked") -> CheckResult:
    """The verdict where the time was over before it was decided."""
    reason = f"its time of {seconds:g} s was over: {so}"
    return CheckResult(Outcome.EXPIRED, call.name, dict(call.arguments), reason, "out of time")


def not_asked(call: ToolCall, reason: str) -> CheckResult:
    """The verdict where no question could be opened."""
    return CheckResult(Outcome.UNDELIVERABLE, call.name, dict(call.arguments), reason, "not asked")


def given_up(call: ToolCall, reason: str) -> CheckResult:
    """The verdict where the wait was given up on purpose, and the question with it."""
    return CheckResult(Outcome.CANCELLED, call.name, dict(call.arguments), reason, "given up")


def denied_by_call_id(verdict: CheckResult, call_id: str, reason: str) -> CheckResult:
    """The denial that takes an approval's place when its call id is denied."""
    return replace(
        verdict,
        outcome=Outcome.DENIED,
        reason=reason or f"call id {call_id!r} is denied",
        line=LINE,
        decided_by=None,
        decided_at=None,
        rule_id="",
        other_rules=(),
    )


def verdict_on(call: ToolCall, digest: str, ending: Resolution) -> CheckResult:
    """What the ending of its question means for the call as it is at this moment.

    Raises:
        ArgumentsChangedError: it was approved, but for other arguments.
    """
    arguments = dict(call.arguments)
    asked = None
    if ending.outcome is Outcome.APPROVED:
        if not isinstance(ending, PermissionResponseEvent):
            raise ArgumentsChangedError(f"a {type(ending).__name__} does not approve a call")
        if ending.arguments_digest != digest or not is_digest_of(digest, call.arguments):
            raise _changed(call.name, digest)
        if ending.modified_arguments is not None:
            asked, arguments = arguments, ending.modified_arguments
    return CheckResult(
        outcome=ending.outcome,
        tool=call.name,
        arguments=arguments,
        reason=ending.reason,
        line=(isinstance(ending, PermissionResponseEvent) and ending.line) or "person",
        permission_id=ending.question_id,
        decided_by=ending.decided_by,
        decided_at=ending.decided_at,
        asked_arguments=asked,
        asks_for_changes=isinstance(ending, PermissionResponseEvent) and ending.asks_for_changes,
    )


def sealed(verdict: CheckResult, digest: str, ending: Resolution) -> CheckResult:
    """The verdict with arguments of its own: those of the digest, or of its ending's changes.

    The last step before it is given: whoever had the arguments in hand
    meanwhile, these are the ones that were approved.

    Raises:
        ArgumentsChangedError: they are others.
    """
    if not verdict.approved:
        return verdict
    if isinstance(ending, PermissionResponseEvent):
        digest = ending.modified_digest or digest
    arguments = own(verdict.arguments)
    if not is_digest_of(digest, arguments):
        raise _changed(verdict.tool, digest)
    return replace(verdict, arguments=arguments)


def _changed(tool: str, digest: str) -> ArgumentsChangedError:
    return ArgumentsChangedError(
        f"the arguments of {tool!r} are not those that were approved "
        f"(digest {short_digest(digest)}): ask again"
    )
