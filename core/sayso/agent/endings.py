"""What the ending of a question means for its call: nothing comes before a denial."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from sayso.agent.copies import own, refuse_changed
from sayso.agent.decider import Asker, Decider
from sayso.agent.kept import Kept, kept, restored
from sayso.agent.options import Asked, DeniedCalls
from sayso.agent.patience import in_time
from sayso.agent.timeouts import CallTime
from sayso.agent.unasked import Unasked
from sayso.agent.verdict import (
    CheckResult,
    OpenCheck,
    decided,
    denied_by_call_id,
    out_of_time,
    sealed,
    verdict_on,
)
from sayso.agent.waiting import Expected, Questions
from sayso.calls import ToolCall
from sayso.clock import Clock
from sayso.errors import SaysoError
from sayso.events import Resolution
from sayso.questions.permission import PermissionRequestEvent, calls_of
from sayso.questions.permission_answer import PermissionResponseEvent
from sayso.stores.inbox import Inbox
from sayso.stores.protocols import Ring


class Held(NamedTuple):
    """What an ending means for a call, and the ending that counts for it."""

    verdict: CheckResult
    ending: Resolution


class Endings:
    """Holds the endings of questions about calls against what is denied by now."""

    def __init__(
        self,
        decider: Decider,
        questions: Questions,
        clock: Clock,
        denied_calls: DeniedCalls,
        unasked: Unasked,
    ) -> None:
        self._decider = decider
        self._questions = questions
        self._clock = clock
        self._denied_calls = denied_calls
        self._by_rules = unasked

    async def verdict(
        self, opened: OpenCheck, original: ToolCall, ring: Ring, asker: Asker, time: CallTime
    ) -> CheckResult:
        """What the ending of its question means for a call, unless it was denied meanwhile.

        Raises:
            ArgumentsChangedError: it was approved, but for other arguments.
        """
        call, digest = opened.call, opened.digest
        held = self._held(ring.ending, call, digest, asker, original, book=ring.book)
        late = out_of_time(call, time.seconds, "whether it is denied was not known yet")
        found = await in_time(held, time, lambda: late)
        if isinstance(found, Held):
            return found.verdict
        self._questions.tell(self._overruled(ring.ending, found).observed)
        return found

    async def resumed(
        self, request: PermissionRequestEvent, ending: Resolution, *others: ToolCall
    ) -> Held:
        """What an ending means for a call that was asked about here or elsewhere."""
        call, *original = calls_of(request)
        digest, asker = request.arguments_digest, self._decider.asker_of(request)
        return await self._held(ending, call, digest, asker, *others, *original)

    async def still(
        self,
        call: ToolCall,
        verdict: CheckResult,
        asker: Asker,
        *others: ToolCall,
        book: str | None = None,
    ) -> CheckResult:
        """The verdict, unless it approves what has been denied meanwhile.

        ``book`` is the version of the session's rules at this moment, where it is known.
        """
        if not verdict.approved:
            return verdict
        looked_at = _looked_at(call, verdict, others)
        denial = await self._decider.denial(asker, *looked_at, book=book)
        if denial is not None:
            return await self._by_rules.tell(call, decided(call, denial))
        if call.call_id in self._denied_calls:
            return await self.denied(call, verdict)
        return verdict

    async def denied(self, call: ToolCall, verdict: CheckResult) -> CheckResult:
        """The denial of a call whose id is denied."""
        reason = self._denied_calls.find_reason(call.call_id) or ""
        denial = denied_by_call_id(verdict, call.call_id, reason)
        return await self._by_rules.tell(call, denial)

    async def _held(
        self,
        ending: Resolution,
        call: ToolCall,
        digest: str,
        asker: Asker,
        *others: ToolCall,
        book: str | None = None,
    ) -> Held:
        """What an ending means for a call. An approval of what is denied by now is overruled."""
        try:
            verdict = verdict_on(call, digest, ending)
            still = await self.still(call, verdict, asker, *others, book=book)
            # Nothing awaits from here on: what is held against the digest is what runs.
            still = sealed(still, digest, ending)
        except SaysoError:
            self._questions.tell(ending.observed)
            raise
        if not still.approved:
            ending = self._overruled(ending, still)
        self._questions.tell(ending.observed)
        if still.approved and call.call_id in self._denied_calls:  # by whoever was told
            still = await self.denied(call, still)
            ending = self._overruled(ending, still)
            self._questions.tell(ending.observed)
        return Held(still, ending)

    def _overruled(self, ending: Resolution, verdict: CheckResult) -> Resolution:
        """The ending that counts where the call does not run on it: an approval no longer does."""
        if not isinstance(ending, PermissionResponseEvent) or not ending.approved:
            return ending
        by = f" by {ending.decided_by}" if ending.decided_by else ""
        reason = f"approved{by}, then denied by the agent: {verdict.reason}"
        denial = ending.denied(reason=reason, line=verdict.line, at=self._clock())
        self._questions.overrule(denial)
        return denial


class Waiting(Expected):
    """A call whose question is open, and all that its run keeps of it: little, as many wait."""

    __slots__ = ("_asker", "_endings", "_ends_at", "_handed", "_kept", "_seconds")

    def __init__(
        self,
        endings: Endings,
        inbox: Inbox,
        question_id: str,
        cancelled: Callable[[str], None],
        handed: ToolCall,
        asked: Asked,
    ) -> None:
        super().__init__(inbox, question_id, cancelled)
        self._endings = endings
        self._handed = handed
        self._kept: Kept = ()
        self._asker = asked.asker
        self._seconds, self._ends_at = asked.time.seconds, asked.time.ends_at

    def is_open(self, opened: OpenCheck, call: ToolCall) -> None:
        """The question is in the store, about this call."""
        self._kept = kept(opened, call)

    async def verdict(self, ring: Ring) -> CheckResult:
        """The verdict on the call, once its question has ended.

        Raises:
            ArgumentsChangedError: the arguments changed while they were asked about.
        """
        opened, call = restored(self._kept, self._handed, self._question_id)
        time = CallTime(self._seconds, self._ends_at)
        said = await self._endings.verdict(opened, call, ring, self._asker, time)
        return unchanged(self._handed, call, said)


def _looked_at(
    call: ToolCall, verdict: CheckResult, others: Sequence[ToolCall]
) -> Sequence[ToolCall]:
    """What must not be denied: what would run, and what was asked about where that is another call.

    What would run is a copy of its own: nobody changes it while it is looked at.
    """
    runs = replace(call, arguments=own(verdict.arguments))
    asked = () if _are_the_same(verdict.arguments, call.arguments) else (call,)
    return (*asked, runs, *(other for other in others if other is not call))


def _are_the_same(some: Mapping[str, Any], others: Mapping[str, Any]) -> bool:
    """Whether the values are the very same objects: equal ones may be others, as 1 and True are."""
    return some.keys() == others.keys() and all(
        value is others[name] for name, value in some.items()
    )


def unchanged(handed: ToolCall, call: ToolCall, verdict: CheckResult) -> CheckResult:
    """The verdict on a call that is still the one that was handed in.

    Raises:
        ArgumentsChangedError: a person approved it, and its arguments have changed.
    """
    if verdict.approved and verdict.permission_id is not None:
        refuse_changed(handed, call)
    return verdict
