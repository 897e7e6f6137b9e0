"""Decisions of a policy, never taken from an old memory of the session."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from assent.calls import RunRef, ToolCall, arguments_digest
from assent.events import RequestEnding, UserInputRequest
from assent.policy import Context, Decision, Policy, Ruling, evaluate, remembered_decision
from assent.ports import Rules
from assent.requirements import Declaration
from assent.rules import RuleBook

Ask = Callable[[UserInputRequest], Awaitable[RequestEnding]]


@runtime_checkable
class Denies(Protocol):
    """A policy that can say without side effects what it denies in any case."""

    def denial(self, call: ToolCall, context: Context) -> Decision | None:
        """The denial of this call, if nothing can come before it."""
        ...


@runtime_checkable
class Declares(Protocol):
    """A policy that was told what tools declare of themselves."""

    def declaration(self, name: str) -> Declaration | None:
        """What the tool with this name declares."""
        ...


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks, as a policy sees it."""

    source_name: str
    path: tuple[str, ...] = ()
    declaration: Declaration | None = None


@dataclass(frozen=True, slots=True)
class Decided:
    """What the policy says, and the version of the session's rules it was said on."""

    decision: Decision
    book: str


class Decider:
    """Joins a run's policy with the rules its session remembers.

    Rules can be stored and revoked anywhere. So a call is allowed, or denied
    by memory, only on rules that were read after the check began; a denial by
    the policy alone needs no look, and a question is opened only on the rules
    the policy saw.
    """

    def __init__(self, rules: Rules, policy: Policy, run: RunRef, ask: Ask) -> None:
        self._rules = rules
        self._policy = policy
        self._run = run
        self._ask = ask
        self._book = RuleBook()

    async def decide(self, call: ToolCall, asker: Asker) -> Decided:
        """The policy's decision; where it has no opinion, a person is asked.

        Raises:
            StoreUnreachableError: what the session remembers cannot be read.
        """
        while True:
            book = self._book
            look = _Look(self, book)
            context = Context(
                self._run,
                book.remembered,
                look.spend,
                asker.declaration,
                look.ask,
                asker.source_name,
                asker.path,
            )
            decision = await evaluate(self._policy, call, context) or Decision.ASK
            if look.asked:
                # A person answered the policy's own question: that is not asked twice.
                denial = await self.denial(decision.applied_to(call), call)
                if denial is None and decision.rule_id and not await self._stands(decision, call):
                    decision = Decision.ASK.because("the rule is gone", line="ask")
                return Decided(denial or decision, self._book.version)
            if look.stale:
                continue
            if decision.ruling is Ruling.ALLOW:
                decision = _unless_remembered(decision, call, context)
            if decision.ruling is Ruling.ASK:
                return Decided(decision, book.version)
            if look.spent and not decision.rule_id:
                return Decided(decision, book.version)
            if await self._stands(decision, call):
                return Decided(decision, book.version)

    async def denial(self, *calls: ToolCall, book: str | None = None) -> Decision | None:
        """The denial that stands against the calls now, whoever approved of them before.

        Deny rules, denied call ids and *always deny* count; nothing is used up,
        and policies that cannot say so without side effects are not asked again.
        ``book`` is the version of the session's rules now, where the store has
        just said it: rules known at that version need no look.

        Raises:
            StoreUnreachableError: what the session remembers cannot be read.
        """
        # From a book of one version rules only go, by expiring: it can hold no other denial by now.
        if book is not None and book == self._book.version and not self._denial(calls, self._book):
            return None
        return self._denial(calls, await self.refresh())

    def _denial(self, calls: Sequence[ToolCall], book: RuleBook) -> Decision | None:
        context = Context(self._run, book.remembered)
        for call in calls:
            denial = remembered_decision(call, context, "deny")
            if denial is None and isinstance(self._policy, Denies):
                denial = self._policy.denial(call, context)
            if denial is not None:
                return denial
        return None

    def declaration(self, name: str) -> Declaration | None:
        """What the policy was told of the tool."""
        return self._policy.declaration(name) if isinstance(self._policy, Declares) else None

    async def refresh(self) -> RuleBook:
        """Read again what the session remembers.

        Raises:
            StoreUnreachableError: it cannot be read.
        """
        self._book = await self._rules.book(self._run)
        return self._book

    async def spend(self, key: str) -> bool:
        """Use up an allow-once rule; False when somebody else has."""
        return await self._rules.spend(self._run, key)

    async def ask(self, request: UserInputRequest) -> RequestEnding:
        """Put a policy's own question to a person."""
        return await self._ask(request)

    async def _stands(self, decision: Decision, call: ToolCall) -> bool:
        """Whether a decision made on the known book holds; if not, the book is another now."""
        book = self._book
        if decision.rule_id:
            # One atomic step: the rule is still there, the book is current, the use is counted.
            digest = arguments_digest(call.arguments)
            if await self._rules.use(self._run, decision.rule_id, digest=digest, book=book.version):
                return True
            await self.refresh()
            return False
        if decision.ruling is Ruling.DENY and not book.remembered:
            return True
        return same_book(await self.refresh(), book)


class _Look:
    """One evaluation on one book: nothing is used up for a decision that would not stand."""

    def __init__(self, decider: Decider, book: RuleBook) -> None:
        self._decider = decider
        self._book = book
        self.stale = False
        self.spent = False
        self.asked = False

    async def spend(self, key: str) -> bool:
        """Context.spend: use up the rule, unless the session remembers other rules by now."""
        if self.stale or not same_book(await self._decider.refresh(), self._book):
            self.stale = True
            return False
        if await self._decider.spend(key):
            self.spent = True
            return True
        return False

    async def ask(self, request: UserInputRequest) -> RequestEnding:
        """Context.ask: put the policy's own question to a person."""
        self.asked = True
        return await self._decider.ask(request)


def _unless_remembered(decision: Decision, call: ToolCall, context: Context) -> Decision:
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
    return one.version == other.version and [kept.rule_id for kept in one.remembered] == [
        kept.rule_id for kept in other.remembered
    ]
