"""Decisions of a policy, never taken from an old memory of the session."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container
from dataclasses import dataclass, replace
from typing import TypeVar

from sayso.agent.patience import RuleMemory, SessionMemory
from sayso.calls import RunRef, ToolCall
from sayso.clock import Clock
from sayso.digests import arguments_digest
from sayso.events import Resolution, UserInputRequest
from sayso.policy.decision import (
    ASK_LINE,
    Decision,
    Policy,
    PolicyContext,
    Ruling,
    denial_by,
    evaluate,
    is_same,
    requirements_of,
    snapshot,
)
from sayso.policy.permissions import deny_rules_of
from sayso.policy.rule_policy import remembered_decision
from sayso.policy.session_state import State
from sayso.questions.permission import PermissionRequestEvent, call_of
from sayso.rules.declarations import ToolAnnotations
from sayso.rules.rule import MOST_DENY_RULES, DenyRule
from sayso.rules.rule_set import RuleBook

_Request = TypeVar("_Request", bound=UserInputRequest)

Ask = Callable[[UserInputRequest], Awaitable[Resolution]]

# Rules are stored and revoked by people: nobody changes them this often while one call is decided.
_MOST_LOOKS = 20


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks, as a policy sees it."""

    source_name: str
    path: tuple[str, ...] = ()
    declaration: ToolAnnotations | None = None


@dataclass(frozen=True, slots=True)
class Decided:
    """What the policy says, and the version of the session's rules it was said on."""

    decision: Decision
    book: str


class _Kept:
    """What the session of a run keeps."""

    def __init__(self, state: SessionMemory, run: RunRef) -> None:
        self._state = state
        self._run = run

    async def recall(self, name: str) -> str | None:
        """What is kept under a name."""
        return await self._state.recall(self._run, name)

    async def swap(self, name: str, before: str | None, after: str | None) -> bool:
        """Keep a text in the place of another one."""
        return await self._state.swap(self._run, name, before, after)


class Decider:
    """Joins a run's policy with the rules its session remembers.

    Rules can be stored and revoked anywhere. So a call is allowed, or denied
    by memory, only on rules that were read after the check began; a denial by
    the policy alone needs no look, and a question, also one of the policy's
    own, is opened only on the rules the policy saw. For call ids in ``denied``
    nothing is used up.
    """

    def __init__(
        self,
        rules: RuleMemory,
        state: SessionMemory,
        policy: Policy,
        run: RunRef,
        ask: Ask,
        clock: Clock,
        *,
        denied: Container[str] = (),
    ) -> None:
        self.denied = denied
        self._rules = rules
        self._session = state
        self._policy = policy
        self.run = run
        self.ask = ask
        self._clock = clock
        self._book = RuleBook()
        self._state = State(_Kept(state, run))
        self._only_looking = self._state.only_looking

    async def decide(self, call: ToolCall, asker: Asker) -> Decided:
        """The policy's decision; where it has no opinion, a person is asked.

        Raises:
            StoreUnreachableError: what the session remembers cannot be read.
        """
        before, decision = snapshot(call.arguments), Decision.ASK
        for number in range(_MOST_LOOKS):
            if number and not is_same(before, snapshot(call.arguments)):
                # What the last look denied or saw is another call by now.
                return Decided(_changed(decision), self._book.version)
            book = self._book
            look = _Look(self, book, call, again=number > 0)
            context = replace(
                self._looking(asker, book), spend=look.spend, ask=look.ask, state=self._state
            )
            decision = await evaluate(self._policy, call, context) or Decision.ASK
            decision = _by_known_rules(decision, book)
            if look.asked:
                # A person answered the policy's own question: that is not asked twice.
                book = await self.refresh()
                denial = await self._denial(asker, book, decision.applied_to(call), call)
                if denial is None and decision.rule_id:
                    decision = await self._unless_gone(decision, call, book)
                return Decided(denial or decision, book.version)
            if look.stale:
                continue
            if look.denial is not None:
                await self._count(look.denial, call)
                return Decided(look.denial, book.version)
            if decision.ruling is not Ruling.DENY:
                decision = _unless_remembered(decision, call, context)
            if decision.ruling is Ruling.ASK:
                return Decided(decision, book.version)
            if look.spent and not decision.rule_id:
                return Decided(decision, book.version)
            if await self._stands(decision, call, book):
                return Decided(decision, book.version)
            await self.refresh()
        text = "the session's rules kept changing while the call was being decided: try again"
        return Decided(Decision.DENY.because(text, line="the session's rules"), self._book.version)

    async def denial(
        self, asker: Asker, *calls: ToolCall, book: str | None = None
    ) -> Decision | None:
        """The denial that stands against the calls now, whoever approved of them before.

        Deny rules, denied call ids and *always deny* count; nothing is used up,
        and policies that cannot say so without side effects are not asked again.
        ``book`` is the version of the session's rules now, where the store has
        just said it: rules known at that version need no look.

        Raises:
            StoreUnreachableError: what the session remembers cannot be read.
        """
        known = self._book
        said_now = book is not None and book == known.version
        # Rules of one version only go, by expiring: a look could find no other denial.
        if said_now and await self._denial(asker, known, *calls) is None:
            return None
        return await self._denial(asker, await self.refresh(), *calls)

    async def standing(self, asker: Asker, *calls: ToolCall) -> tuple[Decision | None, str]:
        """The denial of the calls, and the version of the session's rules that say so.

        That nothing denies them is said on the rules known here, which may have changed.

        Raises:
            StoreUnreachableError: what the session remembers cannot be read.
        """
        book = self._book
        denial = await self._denial(asker, book, *calls)
        if denial is not None:
            book = await self.refresh()
            denial = await self._denial(asker, book, *calls)
        return denial, book.version

    async def deny_rules(self, asker: Asker, call: ToolCall) -> tuple[DenyRule, ...]:
        """The deny rules of the policy that travel with a question about the call."""
        return await deny_rules_of(self._policy, call, self._looking(asker, self._book))

    async def with_deny_rules(self, request: _Request) -> _Request:
        """A question that was not made here; one about a call with the policy's deny rules."""
        if not isinstance(request, PermissionRequestEvent):
            return request
        rules = await self.deny_rules(self.asker_of(request), call_of(request))
        rules = (*request.deny_rules, *rules)[:MOST_DENY_RULES]
        return request.model_copy(update={"deny_rules": rules})

    def asker_of(self, request: PermissionRequestEvent) -> Asker:
        """Who asks, by a request that may have been made elsewhere."""
        declared = self.declaration(request.function_name)
        return Asker(request.source_name, request.path, declared)

    def declaration(self, name: str) -> ToolAnnotations | None:
        """What the policy was told of the tool."""
        return requirements_of(self._policy).of(name)

    async def refresh(self) -> RuleBook:
        """Read again what the session remembers.

        Raises:
            StoreUnreachableError: it cannot be read.
        """
        self._book = await self._rules.book(self.run)
        return self._book

    async def spend(self, key: str) -> bool:
        """Use up an allow-once rule; False when somebody else has."""
        return await self._session.spend(self.run, key)

    def withdrawn(self, request: UserInputRequest, reason: str) -> Resolution:
        """The ending of a policy's own question that was not asked."""
        return request.cancelled(at=self._clock(), reason=reason)

    async def _denial(self, asker: Asker, book: RuleBook, *calls: ToolCall) -> Decision | None:
        context = self._looking(asker, book)
        for call in calls:
            denial = remembered_decision(call, context, "deny")
            denial = denial or await denial_by(self._policy, call, context)
            if denial is not None:
                return denial
        return None

    def _looking(self, asker: Asker, book: RuleBook) -> PolicyContext:
        return PolicyContext(
            self.run,
            book.remembered,
            declaration=asker.declaration,
            source_name=asker.source_name,
            path=asker.path,
            unreadable=book.unreadable,
            state=self._only_looking,
            floor=book.floor,
        )

    async def _unless_gone(self, decision: Decision, call: ToolCall, book: RuleBook) -> Decision:
        """The decision by a remembered rule; a person is asked when the rule no longer counts."""
        if await self._stands(decision, call, book):
            return decision
        gone = Decision.ASK.because("the rule is gone", line=ASK_LINE)
        return replace(gone, arguments=decision.arguments)

    async def _stands(self, decision: Decision, call: ToolCall, book: RuleBook) -> bool:
        """Whether a decision made on this book still holds.

        The book is the one of the decision: another check may have read a newer one meanwhile.
        """
        if decision.rule_id:
            # One atomic step: the rules are still there, the book is current, the use is counted.
            used_by = decision.applied_to(call)
            return await self._count(decision, used_by, book=book.version)
        if decision.ruling is Ruling.DENY and not book.rule_ids and not book.floor.rules(call.name):
            return True
        return same_book(await self.refresh(), book)

    async def _count(self, decision: Decision, call: ToolCall, book: str | None = None) -> bool:
        digest = arguments_digest(call.arguments)
        return await self._rules.use(self.run, *decision.rule_ids, digest=digest, book=book)


class _Look:
    """One evaluation on one book: nothing is used up for a decision that would not stand."""

    def __init__(self, decider: Decider, book: RuleBook, call: ToolCall, *, again: bool) -> None:
        self._decider = decider
        self._book = book
        self._call = call
        self._again = again
        self.denial: Decision | None = None
        self.stale = False
        self.spent = False
        self.asked = False

    async def spend(self, key: str) -> bool:
        """PolicyContext.spend: use up the rule, unless the session remembers other rules by now."""
        if self._call.call_id in self._decider.denied:
            return False
        if self.stale or not same_book(await self._decider.refresh(), self._book):
            self.stale = True
            return False
        if await self._decider.spend(key):
            self.spent = True
            return True
        return False

    async def ask(self, request: UserInputRequest) -> Resolution:
        """PolicyContext.ask: put the policy's own question to a person.

        It is cancelled unasked where *always deny* stands against the call, and
        once where the session remembers other rules by now: the policy is asked again.
        """
        if not self.asked and not self.spent:
            now = await self._decider.refresh()
            context = PolicyContext(
                self._decider.run, now.remembered, unreadable=now.unreadable, floor=now.floor
            )
            self.denial = remembered_decision(self._call, context, "deny")
            if self.denial is not None:
                return self._decider.withdrawn(request, self.denial.reason)
            self.stale = self.stale or not (self._again or same_book(now, self._book))
            if self.stale:
                return self._decider.withdrawn(request, "the session's rules have changed")
        self.asked = True
        return await self._decider.ask(await self._decider.with_deny_rules(request))


def _changed(decision: Decision) -> Decision:
    text = "the arguments changed while it was being decided: return with_arguments(…) instead"
    return Decision.DENY.because(text, line=decision.line)


def _by_known_rules(decision: Decision, book: RuleBook) -> Decision:
    """The decision, unless it allows by a rule that the session does not remember.

    That may be one kept from before the rule was revoked.
    """
    gone = [rule_id for rule_id in decision.rule_ids if rule_id not in book.rule_ids]
    if not gone:
        return decision
    if decision.ruling is not Ruling.ALLOW:
        return replace(decision, rule_id="", other_rules=())
    text = f"the policy allows it by rule {gone[0]!r}, which the session does not remember"
    return Decision.DENY.because(text, line=decision.line)


def _unless_remembered(decision: Decision, call: ToolCall, context: PolicyContext) -> Decision:
    """The decision, unless a person stored *always deny* for what is asked or for what would run.

    Nothing comes before a denial, not even a policy that knows nothing of what is remembered.
    """
    for asked in (call, decision.applied_to(call)):
        denial = remembered_decision(asked, context, "deny")
        if denial is not None:
            return denial
    return decision


def same_book(one: RuleBook, other: RuleBook) -> bool:
    """Whether two looks at a session's memory saw the same rules."""
    return (one.version, one.rule_ids) == (other.version, other.rule_ids)
