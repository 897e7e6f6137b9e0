"""The calls of a run: decided, asked about, and held against what was answered."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from sayso.agent.batch import Answers, SubmittedCall
from sayso.agent.copies import taken
from sayso.agent.decider import Asker, Decided, Decider
from sayso.agent.edited import edited_lines
from sayso.agent.emitted import EmittedCalls
from sayso.agent.endings import Endings, Waiting, unchanged
from sayso.agent.once import Once
from sayso.agent.options import Asked, GateOptions
from sayso.agent.patience import PatientMemory, counting, in_time
from sayso.agent.timeouts import CallTime
from sayso.agent.unasked import Unasked
from sayso.agent.verdict import (
    CheckResult,
    OpenCheck,
    PendingResult,
    decided,
    not_asked,
    out_of_time,
)
from sayso.agent.waiting import Questions
from sayso.always.widths import derive, suggested
from sayso.calls import ToolCall, new_id
from sayso.digests import arguments_digest, as_json, is_same_json, shown_and_digest
from sayso.errors import (
    RequestNotFoundError,
    RequestUnansweredError,
    WaitTimeoutError,
    WrongRequestTypeError,
)
from sayso.events import Resolution
from sayso.policy.decision import Decision, Ruling
from sayso.policy.rule_policy import RulePolicy
from sayso.questions.permission import LONGEST_TOLD, PermissionRequestEvent
from sayso.rules.declarations import ToolAnnotations, schema_of
from sayso.stores.backend import Backend
from sayso.stores.protocols import Joined, Opened, Record, check_key
from sayso.stores.session_state import SessionState
from sayso.text.secrets import redacted
from sayso.text.visible import shortened
from sayso.wording.wording import Wording

_T = TypeVar("_T")


class Checks:
    """Decides on the calls of a gate; a person is asked where the policy says so.

    The gates of sub-agents share all but the answers of their batch: call-1
    there is another call.
    """

    def __init__(
        self, backend: Backend, questions: Questions, options: GateOptions, unasked: Unasked
    ) -> None:
        self.answers = Answers()
        self.denied = options.denied
        self._questions = questions
        self._by_rules = unasked
        policy = options.policy or RulePolicy()
        memory = PatientMemory(backend.rules, SessionState(backend.key_value), questions.patience)
        self._decider = Decider(
            memory, memory, policy, options.run, questions.answer, options.clock, denied=self.denied
        )
        self._endings = Endings(self._decider, questions, options.clock, self.denied, unasked)
        self._once = Once(backend, questions, self._decider, options)
        self.emitted = EmittedCalls(self._decider, questions, options.clock, self.denied, unasked)
        self._options = options

    def child(self, options: GateOptions) -> Checks:
        """Those of a sub-agent's gate, with answers of its own."""
        child = copy.copy(self)
        vars(child).update(_options=options)
        child.answers = Answers()
        return child

    async def begin(self, handed: ToolCall, asked: Asked) -> CheckResult | Waiting:
        """The verdict on a call, or its question: a person is asked where the policy says so.

        Raises:
            ArgumentsChangedError: the arguments changed while they were asked about.
            IdempotencyConflictError: another call was asked under its key.
        """
        call, question_id = self._options.placed(taken(handed)), new_id()
        if asked.suggest:
            asked = replace(asked, suggest=suggested(call, asked.suggest))
        if asked.key:
            with self._once.waiting(asked.key, question_id):
                verdict = await self._under_key(call, question_id, asked)
            return unchanged(handed, call, verdict)
        said = await self._decided(call, asked, question_id)
        if not isinstance(said, Decided):
            return _as_verdict(said)
        inbox, withdraw = self._questions.inbox, self._questions.withdraw
        waiting = Waiting(self._endings, inbox, question_id, withdraw, handed, asked)
        try:
            opened = await self._opened(call, said, question_id, asked, heard=True)
        except BaseException as error:
            waiting.leave(error)
            raise
        if isinstance(opened, OpenCheck):
            waiting.is_open(opened, call)
            return waiting
        waiting.leave(None)
        return _as_verdict(opened)

    async def _under_key(self, call: ToolCall, question_id: str, asked: Asked) -> CheckResult:
        said = await self._decided(call, asked, question_id)
        if isinstance(said, Decided):
            with self._questions.expected(question_id, alone=False) as future:
                opened = await self._opened(call, said, question_id, asked, heard=True)
                if isinstance(opened, OpenCheck):
                    ring = await future
                    return await self._endings.verdict(opened, call, ring, asked.asker, asked.time)
            said = opened
        if isinstance(said, CheckResult):
            return said
        ended = await self._once.ending(said, call, asked, question_id)
        if isinstance(ended, CheckResult):
            return ended
        return await self._endings.verdict(ended[0], call, ended[1], asked.asker, asked.time)

    async def _decided(
        self, call: ToolCall, asked: Asked, waiter: str | None
    ) -> CheckResult | Decided | Joined:
        """What needs nobody, the decision to ask, or what was asked; while there is time for it."""
        said = self._said(call, asked, waiter)
        return await in_time(said, asked.time, lambda: out_of_time(call, asked.time.seconds))

    async def _opened(
        self, call: ToolCall, said: Decided, question_id: str, asked: Asked, *, heard: bool
    ) -> CheckResult | OpenCheck | Joined:
        """Open the question; where the session's rules changed meanwhile, decide again first."""
        opening = self._open(call, said, question_id, asked, heard=heard)
        return await in_time(opening, asked.time, lambda: out_of_time(call, asked.time.seconds))

    async def _open(
        self,
        call: ToolCall,
        said: CheckResult | Decided,
        question_id: str,
        asked: Asked,
        *,
        heard: bool,
    ) -> CheckResult | OpenCheck | Joined:
        while isinstance(said, Decided):
            if asked.time.left <= 0:
                return out_of_time(call, asked.time.seconds)
            shown = said.decision.applied_to(call)
            request = self._request(shown, call, said.decision.told_because, question_id, asked)
            rules = await self._decider.deny_rules(asked.asker, shown)
            request = request.model_copy(update={"deny_rules": rules}) if rules else request
            try:
                opened = await self._questions.open(
                    request, asked.time.left, heard=heard, book=said.book, key=asked.key
                )
            except RequestUnansweredError as error:
                return not_asked(call, error.reason)
            if isinstance(opened, Opened):
                self._questions.end_if_unseen(question_id, self._options.run)
                return OpenCheck(shown, question_id, request.arguments_digest)
            if isinstance(opened, Joined):
                # Once more, to see what they asked; whoever comes back for it holds it then.
                waiter = question_id if heard else None
                if (joined := await self._once.find(call, asked, waiter)) is not None:
                    return joined
                continue
            await self._decider.refresh()
            said = await self._decide(call, asked)
        return said

    async def submit(self, call: ToolCall, asked: Asked) -> str | CheckResult:
        """The permission id of the open question, or the verdict where nobody is needed."""
        call = self._options.placed(taken(call))
        if asked.suggest:
            asked = replace(asked, suggest=suggested(call, asked.suggest))
        said: CheckResult | Decided | OpenCheck | Joined = await self._decided(call, asked, None)
        if isinstance(said, Decided):
            said = await self._opened(call, said, new_id(), asked, heard=False)
        match said:
            case OpenCheck():
                return said.permission_id
            case Joined():
                return said.record.request.question_id
        return said

    async def resume(
        self, permission_id: str, time: CallTime | None, *, wait: bool
    ) -> CheckResult | PendingResult:
        """The verdict on a submitted call."""
        record = await self._questions.record(permission_id, time)
        return await self._resume(record, time, wait=wait)

    async def resume_under(
        self, key: str, time: CallTime | None, *, wait: bool
    ) -> CheckResult | PendingResult:
        """The verdict on the call that was asked under a key.

        Raises:
            RequestNotFoundError: there is none.
        """
        self._questions.home.check()
        with counting(time):
            # Whoever waits comes back for it; whoever only looks need not.
            record = await self._once.under(check_key(key), hold=wait)
        if record is None:
            raise RequestNotFoundError.for_key(key)
        return await self._resume(record, time, wait=wait)

    async def _resume(
        self, record: Record, time: CallTime | None, *, wait: bool
    ) -> CheckResult | PendingResult:
        request = _permission(record)
        if record.ending is None and not wait:
            return _pending(request)
        ending = await self._questions.ending(record, time)
        with counting(time):
            held = await self._endings.resumed(request, ending)
        return held.verdict

    async def ending(self, record: Record, time: CallTime | None) -> Resolution:
        """How a question of a record ends for this agent: what it denies by now, it denies."""
        ending = await self._questions.ending(record, time)
        if isinstance(record.request, PermissionRequestEvent):
            with counting(time):
                return (await self._endings.resumed(record.request, ending)).ending
        self._questions.tell(ending.observed)
        return ending

    async def hand_in(self, call: ToolCall, asked: Asked) -> SubmittedCall:
        """The call of a batch with its open question, or with the verdict that needed nobody."""
        # A copy: what the caller makes of the arguments later is another call.
        call = replace(call, arguments=as_json(call.arguments))
        said = await self.submit(call, asked)
        if isinstance(said, CheckResult):
            said = replace(said, arguments=as_json(said.arguments))
        return SubmittedCall(call, said, asked.asker.source_name, asked.asker.path)

    async def look(
        self, one: SubmittedCall | str, answers: Answers, time: CallTime | None, *, wait: bool
    ) -> CheckResult | PendingResult:
        """The verdict on one of a batch as it counts now, noted there; or that it is open."""
        with counting(time):
            if isinstance(one, str):
                return await self._look(one, answers, time, (), wait=wait)
            if isinstance(one.said, str):
                return await self._look(one.said, answers, time, (one.call,), wait=wait)
            asker = Asker(one.source_name, one.path, self._decider.declaration(one.call.name))
            return await self._look_again(one.call, one.said, asker, answers)

    async def _look_again(
        self, call: ToolCall, verdict: CheckResult, asker: Asker, answers: Answers
    ) -> CheckResult:
        """The verdict that was given at once, unless what it stood on is gone."""
        if verdict.approved and verdict.rule_id:
            book = await self._decider.refresh()
            there = {kept.rule_id for kept in book.remembered}
            if gone := [one for one in verdict.rule_ids if one not in there]:
                text = f"the Always that allowed it is gone (rule {gone[0]}): ask again"
                denial = Decision.DENY.because(text, line="the rule is gone")
                # Not noted: the next check of the call asks a person.
                return await self._by_rules.tell(call, decided(call, denial))
        verdict = await self._endings.still(call, verdict, asker)
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
    ) -> CheckResult | PendingResult:
        record = await self._questions.record(permission_id, time)
        request = _permission(record)
        if record.ending is None and not wait:
            return _pending(request)
        try:
            ending = await self._questions.ending(record, time)
        except WaitTimeoutError:
            return _pending(request)
        verdict = (await self._endings.resumed(request, ending, *others)).verdict
        answers.note(request.call_id, request.arguments_digest, verdict)
        return verdict

    async def _said(
        self, call: ToolCall, asked: Asked, waiter: str | None
    ) -> CheckResult | Decided | Joined:
        self._questions.home.check()
        if call.call_id in self.denied:
            return await self._endings.denied(call, decided(call, Decision.DENY))
        joined: CheckResult | Joined | None
        if asked.key:
            # What was asked under the key counts before what the policy allows by now; what was
            # answered without it, or under another, does not count.
            joined = await self._once.find(call, asked, waiter)
        else:
            joined = await self._find_answer(call, asked.asker)
        return joined or await self._decide(call, asked)

    async def _decide(self, call: ToolCall, asked: Asked) -> CheckResult | Decided:
        said = await self._decider.decide(call, asked.asker)
        if call.call_id in self.denied:
            return await self._endings.denied(call, decided(call, Decision.DENY))
        if said.decision.ruling is not Ruling.ASK:
            verdict = await self._by_rules.tell(call, decided(call, said.decision))
            if verdict.approved and call.call_id in self.denied:  # while it was told
                return await self._endings.denied(call, verdict)
            return verdict
        shown = said.decision.applied_to(call)
        if shown is call or asked.key:
            return said
        return await self._find_answer(shown, asked.asker) or said

    async def _find_answer(self, call: ToolCall, asker: Asker) -> CheckResult | None:
        """This iteration's answer for the call; nothing comes before a denial, not even that.

        None in a run that nobody named: the call of another customer may have the same id.
        """
        verdict = self.answers.find(call) if self._options.run.can_remember else None
        return verdict and await self._endings.still(call, verdict, asker)

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
            asked_because=shortened(because, LONGEST_TOLD),
            description=asked.description,
            call_id=call.call_id,
            arguments=arguments,
            arguments_digest=digest,
            original_arguments=called_with,
            arguments_schema=schema_of(declared),
            wording=_wording(call, declared),
            kinds={} if declared is None else dict(declared.kinds),
            edited_lines=edited_lines(call),
            suggested_rules=derive(call, declared=declared, digest=digest, suggest=asked.suggest),
            folder=call.folder,
            **self._options.fields(asked),
        )


def _wording(call: ToolCall, declared: ToolAnnotations | None) -> Wording | None:
    """What the tool's maker says of the call, without its secrets."""
    if declared is None or declared.templates.say_nothing:
        return None
    return declared.templates.said(call.name, redacted(dict(call.arguments)))


def _as_verdict(said: CheckResult | Joined) -> CheckResult:
    if isinstance(said, Joined):
        raise TypeError("without a key nothing can be joined")
    return said


def _permission(record: Record) -> PermissionRequestEvent:
    request = record.request
    if not isinstance(request, PermissionRequestEvent):
        raise WrongRequestTypeError(request.question_id, request.subject, CheckResult.__name__)
    return request


def _pending(request: PermissionRequestEvent) -> PendingResult:
    return PendingResult(request.permission_id, request.function_name, request.expires_at)
