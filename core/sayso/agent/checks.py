"""The calls of a run: decided, asked about, and held against what was answered."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

from sayso.agent.batch import Answers, Submitted
from sayso.agent.copies import own, taken
from sayso.agent.decider import Asker, Decided, Decider
from sayso.agent.emitted import EmittedCalls
from sayso.agent.options import Asked, GateOptions
from sayso.agent.patience import PatientMemory, counting, in_time
from sayso.agent.timeouts import CallTime, Timeout
from sayso.agent.unasked import Unasked
from sayso.agent.verdict import (
    Pending,
    Verdict,
    decided,
    denied_by_call_id,
    out_of_time,
    sealed,
    verdict_on,
)
from sayso.agent.waiting import Questions
from sayso.always.widths import derive
from sayso.calls import ToolCall, new_id
from sayso.digests import arguments_digest, as_json, is_same_json, shown_and_digest
from sayso.errors import SaysoError, WaitTimeoutError, WrongQuestionError
from sayso.events import RequestEnding
from sayso.policy.decision import Decision, Ruling
from sayso.policy.rule_policy import RulePolicy
from sayso.questions.permission import LONGEST_BECAUSE, PermissionRequestEvent, calls_of
from sayso.questions.permission_answer import PermissionResponseEvent
from sayso.rules.declarations import schema_of
from sayso.stores.ports import Opened, Record, Ring, Rules
from sayso.text.visible import shortened

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class OpenCheck:
    """A call with an open question, as little of it as a waiting run needs."""

    call: ToolCall
    permission_id: str
    digest: str


class _Held(NamedTuple):
    """What an ending means for a call, and the ending that counts for it."""

    verdict: Verdict
    ending: RequestEnding


class Checks:
    """Decides on the calls of a gate; a person is asked where the policy says so.

    The gates of sub-agents share all but the answers of their batch: call-1
    there is another call.
    """

    def __init__(
        self, rules: Rules, questions: Questions, options: GateOptions, unasked: Unasked
    ) -> None:
        self.answers = Answers()
        self.denied: dict[str, str] = {}
        self._questions = questions
        self._by_rules = unasked
        policy = options.policy or RulePolicy()
        memory = PatientMemory(rules, questions.patience)
        self._decider = Decider(
            memory, policy, options.run, questions.answer, options.clock, denied=self.denied
        )
        self.emitted = EmittedCalls(self._decider, questions, options.clock, self.denied, unasked)
        self._options = options

    def child(self, options: GateOptions) -> Checks:
        """Those of a sub-agent's gate, with answers of its own."""
        child = copy.copy(self)
        vars(child).update(_options=options)
        child.answers = Answers()
        return child

    async def decide(self, call: ToolCall, asked: Asked) -> Verdict | Decided:
        """The verdict that needs nobody, or the decision to ask, while there is time to decide."""
        said = self._said(call, asked.asker)
        return await in_time(said, asked.time, lambda: out_of_time(call, asked.time.seconds))

    async def open(
        self,
        call: ToolCall,
        said: Verdict | Decided,
        question_id: str,
        asked: Asked,
        *,
        heard: bool,
    ) -> Verdict | OpenCheck:
        """Open the question; where the session's rules changed meanwhile, decide again first."""
        opening = self._open(call, said, question_id, asked, heard=heard)
        return await in_time(opening, asked.time, lambda: out_of_time(call, asked.time.seconds))

    async def _open(
        self,
        call: ToolCall,
        said: Verdict | Decided,
        question_id: str,
        asked: Asked,
        *,
        heard: bool,
    ) -> Verdict | OpenCheck:
        while not isinstance(said, Verdict):
            if asked.time.left <= 0:
                return out_of_time(call, asked.time.seconds)
            shown = said.decision.applied_to(call)
            request = self._request(shown, call, said.decision.told_because, question_id, asked)
            rules = await self._decider.deny_rules(asked.asker, shown)
            request = request.model_copy(update={"deny_rules": rules}) if rules else request
            opened = await self._questions.open(
                request, asked.time.left, heard=heard, book=said.book
            )
            if isinstance(opened, Opened):
                return OpenCheck(shown, question_id, request.arguments_digest)
            await self._decider.refresh()
            said = await self._decide(call, asked.asker)
        return said

    async def verdict(
        self, opened: OpenCheck, original: ToolCall, ring: Ring, asked: Asked
    ) -> Verdict:
        """What the ending of its question means for a call, unless it was denied meanwhile.

        Raises:
            ArgumentsChangedError: it was approved, but for other arguments.
        """
        call, digest, asker = opened.call, opened.digest, asked.asker
        held = self._held(ring.ending, call, digest, asker, original, book=ring.book)
        late = out_of_time(call, asked.time.seconds, "whether it is denied was not known yet")
        found = await in_time(held, asked.time, lambda: late)
        if isinstance(found, _Held):
            return found.verdict
        self._questions.tell(self._overruled(ring.ending, found).observed)
        return found

    async def submit(self, call: ToolCall, asked: Asked) -> str | Verdict:
        """The permission id of the open question, or the verdict where nobody is needed."""
        call = taken(call)
        said = await self.decide(call, asked)
        if isinstance(said, Verdict):
            return said
        opened = await self.open(call, said, new_id(), asked, heard=False)
        return opened if isinstance(opened, Verdict) else opened.permission_id

    async def resume(self, permission_id: str, timeout: Timeout) -> Verdict:
        """The verdict on a submitted call."""
        time = CallTime.limited(timeout)
        record, request = await self._permission(permission_id, time)
        ending = await self._questions.ending(record, time)
        with counting(time):
            held = await self._resumed(request, ending)
        return held.verdict

    async def ending(self, record: Record, time: CallTime | None) -> RequestEnding:
        """How a question of a record ends for this agent: what it denies by now, it denies."""
        ending = await self._questions.ending(record, time)
        if isinstance(record.request, PermissionRequestEvent):
            with counting(time):
                return (await self._resumed(record.request, ending)).ending
        self._questions.tell(ending.observed)
        return ending

    async def hand_in(self, call: ToolCall, asked: Asked) -> Submitted:
        """The call of a batch with its open question, or with the verdict that needed nobody."""
        # A copy: what the caller makes of the arguments later is another call.
        call = replace(call, arguments=as_json(call.arguments))
        said = await self.submit(call, asked)
        if isinstance(said, Verdict):
            said = replace(said, arguments=as_json(said.arguments))
        return Submitted(call, said, asked.asker.source_name, asked.asker.path)

    async def look(
        self, one: Submitted | str, answers: Answers, time: CallTime | None, *, wait: bool
    ) -> Verdict | Pending:
        """The verdict on one of a batch as it counts now, noted there; or that it is open."""
        with counting(time):
            if isinstance(one, str):
                return await self._look(one, answers, time, (), wait=wait)
            if isinstance(one.said, str):
                return await self._look(one.said, answers, time, (one.call,), wait=wait)
            asker = Asker(one.source_name, one.path, self._decider.declaration(one.call.name))
            return await self._look_again(one.call, one.said, asker, answers)

    async def _look_again(
        self, call: ToolCall, verdict: Verdict, asker: Asker, answers: Answers
    ) -> Verdict:
        """The verdict that was given at once, unless what it stood on is gone."""
        if verdict.approved and verdict.rule_id:
            book = await self._decider.refresh()
            if all(kept.rule_id != verdict.rule_id for kept in book.remembered):
                text = f"the Always that allowed it is gone (rule {verdict.rule_id}): ask again"
                gone = Decision.DENY.because(text, line="the rule is gone")
                # Not noted: the next check of the call asks a person.
                return await self._by_rules.tell(call, decided(call, gone))
        verdict = await self._still(call, verdict, asker)
        answers.note(call.call_id, arguments_digest(call.arguments), verdict)
        return verdict

    async def _look(
        self,
        permission_id: str,
        answers: Answers,
        time: CallTime | None,
        others: Sequence[ToolCall],
        *,
        wait: bool,
    ) -> Verdict | Pending:
        record, request = await self._permission(permission_id, time)
        pending = Pending(permission_id, request.function_name, request.expires_at)
        if record.ending is None and not wait:
            return pending
        try:
            ending = await self._questions.ending(record, time)
        except WaitTimeoutError:
            return pending
        verdict = (await self._resumed(request, ending, *others)).verdict
        answers.note(request.call_id, request.arguments_digest, verdict)
        return verdict

    async def _said(self, call: ToolCall, asker: Asker) -> Verdict | Decided:
        self._questions.home.check()
        if call.call_id in self.denied:
            return await self._denied(call, decided(call, Decision.DENY))
        if (known := await self._answered(call, asker)) is not None:
            return known
        return await self._decide(call, asker)

    async def _decide(self, call: ToolCall, asker: Asker) -> Verdict | Decided:
        said = await self._decider.decide(call, asker)
        if call.call_id in self.denied:
            return await self._denied(call, decided(call, Decision.DENY))
        if said.decision.ruling is not Ruling.ASK:
            return await self._by_rules.tell(call, decided(call, said.decision))
        shown = said.decision.applied_to(call)
        return said if shown is call else await self._answered(shown, asker) or said

    async def _answered(self, call: ToolCall, asker: Asker) -> Verdict | None:
        """This iteration's answer for the call; nothing comes before a denial, not even that."""
        verdict = self.answers.find(call)
        return verdict and await self._still(call, verdict, asker)

    async def _held(
        self,
        ending: RequestEnding,
        call: ToolCall,
        digest: str,
        asker: Asker,
        *others: ToolCall,
        book: str | None = None,
    ) -> _Held:
        """What an ending means for a call. An approval of what is denied by now is overruled."""
        try:
            verdict = verdict_on(call, digest, ending)
            still = await self._still(call, verdict, asker, *others, book=book)
            # Nothing awaits from here on: what is held against the digest is what runs.
            still = sealed(still, digest, ending)
        except SaysoError:
            self._questions.tell(ending.observed)
            raise
        if not still.approved:
            ending = self._overruled(ending, still)
        self._questions.tell(ending.observed)
        return _Held(still, ending)

    def _overruled(self, ending: RequestEnding, verdict: Verdict) -> RequestEnding:
        """The ending that counts where the call does not run on it: an approval no longer does."""
        if not isinstance(ending, PermissionResponseEvent) or not ending.approved:
            return ending
        by = f" by {ending.decided_by}" if ending.decided_by else ""
        reason = f"approved{by}, then denied by the agent: {verdict.reason}"
        denial = ending.denied(reason=reason, line=verdict.line, at=self._options.clock())
        self._questions.overrule(denial)
        return denial

    async def _still(
        self,
        call: ToolCall,
        verdict: Verdict,
        asker: Asker,
        *others: ToolCall,
        book: str | None = None,
    ) -> Verdict:
        """The verdict, unless it approves what has been denied meanwhile.

        ``book`` is the version of the session's rules at this moment, where it is known.
        """
        if not verdict.approved:
            return verdict
        # What was asked about, and what would run: the arguments may have been changed on the way.
        runs = replace(call, arguments=own(verdict.arguments))
        denial = await self._decider.denial(asker, call, runs, *others, book=book)
        if denial is not None:
            return await self._by_rules.tell(call, decided(call, denial))
        if call.call_id in self.denied:
            return await self._denied(call, verdict)
        return verdict

    async def _denied(self, call: ToolCall, verdict: Verdict) -> Verdict:
        denial = denied_by_call_id(verdict, call.call_id, self.denied[call.call_id])
        return await self._by_rules.tell(call, denial)

    def _request(
        self, call: ToolCall, original: ToolCall, because: str, question_id: str, asked: Asked
    ) -> PermissionRequestEvent:
        arguments, digest = shown_and_digest(call.arguments)
        called_with = None if call is original else as_json(original.arguments)
        if called_with is not None and is_same_json(arguments, called_with):
            called_with = None
        declared = self._decider.declaration(call.name) or asked.asker.declaration
        return PermissionRequestEvent(
            permission_id=question_id,
            function_name=call.name,
            asked_because=shortened(because, LONGEST_BECAUSE),
            description=asked.description,
            call_id=call.call_id,
            arguments=arguments,
            arguments_digest=digest,
            original_arguments=called_with,
            arguments_schema=schema_of(declared),
            suggested_rules=derive(call, declared=declared, digest=digest),
            **self._options.fields(asked),
        )

    async def _permission(
        self, permission_id: str, time: CallTime | None
    ) -> tuple[Record, PermissionRequestEvent]:
        record = await self._questions.record(permission_id, time)
        if not isinstance(record.request, PermissionRequestEvent):
            raise WrongQuestionError(permission_id, record.request.subject, Verdict.__name__)
        return record, record.request

    async def _resumed(
        self, request: PermissionRequestEvent, ending: RequestEnding, *others: ToolCall
    ) -> _Held:
        call, *original = calls_of(request)
        digest, asker = request.arguments_digest, self._decider.asker_of(request)
        return await self._held(ending, call, digest, asker, *others, *original)
