"""How a run asks: decide, open the question, wait, and hold the answer against the call."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from sayso.agent.batch import Answers
from sayso.agent.deciding import Asker, Decided, Decider
from sayso.agent.submitted import Submitted
from sayso.agent.verdict import Pending, Verdict, decided, denied_by_call_id, verdict_on
from sayso.agent.waiting import Questions, in_seconds
from sayso.always.widths import derive
from sayso.calls import RunRef, ToolCall, arguments_digest, as_json, new_id, shown_and_digest
from sayso.clock import Clock
from sayso.errors import UnknownRequestError, WaitTimeoutError, WrongQuestionError
from sayso.events import Event, RequestEnding, UserInputRequest
from sayso.policy.policy import Decision, Policy, Ruling
from sayso.questions.permission import PermissionRequestEvent, call_of
from sayso.rules.declarations import Declaration, schema_of
from sayso.stores.backend import Backend
from sayso.stores.ports import Opened, Record


@dataclass(frozen=True, slots=True)
class Options:
    """How one question is put."""

    source_name: str | None = None
    description: str = ""
    timeout: float | timedelta | None = None
    path: Sequence[str] = ()
    declaration: Declaration | None = None


@dataclass(frozen=True, slots=True)
class _Question:
    """An open permission request, as little of it as a waiting run needs."""

    call: ToolCall
    permission_id: str
    digest: str


class Asking:
    """The inside of a gate. Children share all but who asks and what their batch answered."""

    def __init__(
        self,
        backend: Backend,
        *,
        run: RunRef,
        policy: Policy,
        seconds: float,
        requested_by: str | None,
        clock: Clock,
        observe: Callable[[Event], None] | None,
    ) -> None:
        self.questions = Questions(backend, clock)
        self.answers = Answers()
        self.denied: set[str] = set()
        self._store = backend.store
        self._decider = Decider(backend.rules, policy, run, self.answer, clock, denied=self.denied)
        self._run = run
        self._seconds = seconds
        self._requested_by = requested_by
        self._clock = clock
        self._observe = observe
        self.source_name = run.agent_id
        self.path: tuple[str, ...] = ()

    def child(self, path: tuple[str, ...], source_name: str | None) -> Asking:
        """The same, asked by a sub-agent. Its call ids are its own: call-1 there is another."""
        child = copy.copy(self)
        child.answers = Answers()
        child.path = self.path + path
        child.source_name = self.source_name if source_name is None else source_name
        return child

    async def check(self, call: ToolCall, options: Options) -> Verdict:
        """The verdict on a call, asked for when the policy says so."""
        said = await self._said(call, options)
        if isinstance(said, Verdict):
            return said
        question_id = new_id()
        with self.questions.expected(question_id) as future:
            asked = await self._ask(call, said, question_id, options, heard=True)
            if isinstance(asked, Verdict):
                return asked
            ring = await future
        self._tell(ring.ending.observed)
        verdict = verdict_on(asked.call, asked.digest, ring.ending)
        asker = self._asker(options)
        return await self._still(asked.call, verdict, asker, call, book=ring.book)

    async def submit(self, call: ToolCall, options: Options) -> str | Verdict:
        """The permission id of the open question, or the verdict where nobody is needed."""
        said = await self._said(call, options)
        if isinstance(said, Verdict):
            return said
        asked = await self._ask(call, said, new_id(), options, heard=False)
        return asked if isinstance(asked, Verdict) else asked.permission_id

    async def resume(self, permission_id: str, timeout: float | timedelta | None) -> Verdict:
        """The verdict on an open question."""
        record, request = await self._permission(permission_id)
        return await self._resumed(request, await self.ending(record, timeout))

    async def hand_in(self, call: ToolCall, options: Options) -> Submitted:
        """The call of a batch with its open question, or with the verdict that needed nobody."""
        asker = self._asker(options)
        # A copy: what the caller makes of the arguments later is another call.
        call = replace(call, arguments=as_json(call.arguments))
        said = await self.submit(call, options)
        if isinstance(said, Verdict):
            said = replace(said, arguments=as_json(said.arguments))
        return Submitted(call, said, asker.source_name, asker.path)

    async def look(
        self, one: Submitted | str, answers: Answers, timeout: float | None, *, wait: bool
    ) -> Verdict | Pending:
        """The verdict on one of a batch as it counts now, noted there; or that it is open."""
        if isinstance(one, str):
            return await self._look(one, answers, timeout, (), wait=wait)
        if isinstance(one.said, str):
            return await self._look(one.said, answers, timeout, (one.call,), wait=wait)
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
                return decided(call, gone)
        verdict = await self._still(call, verdict, asker)
        answers.note(call.call_id, arguments_digest(call.arguments), verdict)
        return verdict

    async def _look(
        self,
        permission_id: str,
        answers: Answers,
        timeout: float | None,
        others: Sequence[ToolCall],
        *,
        wait: bool,
    ) -> Verdict | Pending:
        record, request = await self._permission(permission_id)
        pending = Pending(permission_id, request.function_name, request.expires_at)
        if record.ending is None and not wait:
            return pending
        try:
            ending = await self.ending(record, timeout)
        except WaitTimeoutError:
            return pending
        verdict = await self._resumed(request, ending, *others)
        answers.note(request.call_id, request.arguments_digest, verdict)
        return verdict

    async def answer(self, request: UserInputRequest) -> RequestEnding:
        """Open any question and wait for its ending."""
        with self.questions.expected(request.question_id) as future:
            await self.open(request, heard=True)
            ending = (await future).ending
        self._tell(ending.observed)
        return ending

    async def open(self, request: UserInputRequest, *, heard: bool = False) -> None:
        """Open any question, until its own expiry."""
        seconds = in_seconds((request.expires_at - self._clock()).total_seconds())
        await self.questions.open(request, seconds, heard=heard, book=None)
        self._tell(request)

    async def record(self, question_id: str) -> Record:
        """All that the store knows of a question of this session, asked here or elsewhere.

        What another session or agent asks is held against rules that are not read here.

        Raises:
            UnknownRequestError: the session has no such request, or its record
                has been removed.
        """
        record = await self._store.get(question_id)
        if record is None or _session(record.request.run) != _session(self._run):
            raise UnknownRequestError(question_id)
        return record

    async def ending(self, record: Record, timeout: float | timedelta | None) -> RequestEnding:
        """How the question of a record ends."""
        ending = record.ending or await self.questions.wait(record.request, timeout)
        self._tell(ending.observed)
        return ending

    def fields(self, options: Options) -> dict[str, Any]:
        """What every question of this gate says of itself: who asks, and until when."""
        who = self._asker(options)
        return {
            "source_name": who.source_name,
            "run": self._run,
            "path": who.path,
            "requested_by": self._requested_by,
            "expires_at": self._clock() + timedelta(seconds=self._allowed(options)),
        }

    async def _said(self, call: ToolCall, options: Options) -> Verdict | Decided:
        """The verdict that needs nobody, or the decision to ask."""
        if options.timeout is not None:
            in_seconds(options.timeout)
        if call.call_id in self.denied:
            return denied_by_call_id(decided(call, Decision.DENY), call.call_id)
        if (known := await self._answered(call, options)) is not None:
            return known
        return await self._decide(call, options)

    async def _decide(self, call: ToolCall, options: Options) -> Verdict | Decided:
        said = await self._decider.decide(call, self._asker(options))
        if call.call_id in self.denied:
            return denied_by_call_id(decided(call, Decision.DENY), call.call_id)
        if said.decision.ruling is not Ruling.ASK:
            return decided(call, said.decision)
        asked = said.decision.applied_to(call)
        return said if asked is call else await self._answered(asked, options) or said

    async def _ask(
        self,
        call: ToolCall,
        said: Verdict | Decided,
        question_id: str,
        options: Options,
        *,
        heard: bool,
    ) -> Verdict | _Question:
        """Open the question; where the session's rules changed meanwhile, decide again first."""
        while not isinstance(said, Verdict):
            asked = said.decision.applied_to(call)
            request = self._request(asked, call, question_id, options)
            seconds = self._allowed(options)
            opened = await self.questions.open(request, seconds, heard=heard, book=said.book)
            if isinstance(opened, Opened):
                self._tell(request)
                return _Question(asked, question_id, request.arguments_digest)
            await self._decider.refresh()
            said = await self._decide(call, options)
        return said

    async def _answered(self, call: ToolCall, options: Options) -> Verdict | None:
        """This iteration's answer for the call; nothing comes before a denial, not even that."""
        verdict = self.answers.find(call)
        return verdict and await self._still(call, verdict, self._asker(options))

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
        runs = replace(call, arguments=dict(verdict.arguments))
        denial = await self._decider.denial(asker, call, runs, *others, book=book)
        return self._unless_denied(call, verdict if denial is None else decided(call, denial))

    def _request(
        self, call: ToolCall, original: ToolCall, question_id: str, options: Options
    ) -> PermissionRequestEvent:
        arguments, digest = shown_and_digest(call.arguments)
        called_with, called = shown_and_digest(original.arguments)
        declared = self._decider.declaration(call.name) or options.declaration
        return PermissionRequestEvent(
            permission_id=question_id,
            function_name=call.name,
            description=options.description,
            call_id=call.call_id,
            arguments=arguments,
            arguments_digest=digest,
            original_arguments=None if called == digest else called_with,
            arguments_schema=schema_of(declared),
            suggested_rules=derive(call, declared=declared),
            **self.fields(options),
        )

    def _asker(self, options: Options) -> Asker:
        return Asker(
            self.source_name if options.source_name is None else options.source_name,
            (*self.path, *options.path),
            options.declaration,
        )

    async def _permission(self, permission_id: str) -> tuple[Record, PermissionRequestEvent]:
        record = await self.record(permission_id)
        if not isinstance(record.request, PermissionRequestEvent):
            raise WrongQuestionError(permission_id, record.request.subject, "Verdict")
        return record, record.request

    async def _resumed(
        self, request: PermissionRequestEvent, ending: RequestEnding, *others: ToolCall
    ) -> Verdict:
        call = call_of(request)
        verdict = verdict_on(call, request.arguments_digest, ending)
        asker = Asker(request.source_name, request.path, self._decider.declaration(call.name))
        if request.original_arguments is not None:
            others = (*others, replace(call, arguments=request.original_arguments))
        return await self._still(call, verdict, asker, *others)

    def _unless_denied(self, call: ToolCall, verdict: Verdict) -> Verdict:
        if verdict.approved and call.call_id in self.denied:
            return denied_by_call_id(verdict, call.call_id)
        return verdict

    def _allowed(self, options: Options) -> float:
        return self._seconds if options.timeout is None else in_seconds(options.timeout)

    def _tell(self, event: Event) -> None:
        if self._observe is not None:
            self._observe(event)


def _session(run: RunRef) -> tuple[str, str]:
    return run.agent_id, run.session_id
