"""Real gates of several processes on one store, played step by step beside the order of evaluation.

Each step happens to the gates and to the order alike; what comes of every call must be what the
order says.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Literal, cast

import pytest
from support.order_of_evaluation import Config, Effect, Expected, Kept, Order, Told
from support.steps_of_a_play import Answer, Check, Step

from sayso import Decision, Gate, Outcome, RunRef, ToolCall
from sayso.agent.choices import chosen
from sayso.agent.options import GateOptions
from sayso.agent.verdict import CheckResult
from sayso.always.terms import GrantOptions
from sayso.errors import RequestNotFoundError
from sayso.events import Event, UserInputRequest
from sayso.policy.chain import Chain, When
from sayso.policy.decision import Policy, PolicyContext
from sayso.policy.rule_policy import RulePolicy
from sayso.questions.permission import PermissionRequestEvent
from sayso.rules.declarations import Requirements
from sayso.rules.rule import RememberedRule, Rule
from sayso.testing import Stage, a_request, a_response

BY = "slack:U0ALICE"
PATIENCE = timedelta(hours=2)
TERMS = GrantOptions()
# Two processes work in one session, a third one in another session of the same agent.
SESSIONS = ("s-1", "s-1", "s-2")
OWN = "own question"


@dataclass
class Process:
    """A gate, its policy, what it asks, and what it was told."""

    gate: Gate
    rules: RulePolicy
    questions: asyncio.Queue[UserInputRequest]
    told: Told


@dataclass(frozen=True)
class Recorded:
    """How the store says a question ended, and the lines that may have decided it."""

    outcome: Outcome
    lines: frozenset[str] = frozenset({"person"})


@dataclass
class Open:
    """A question that was submitted; its ending, once there is one."""

    session: str
    request: PermissionRequestEvent
    call: ToolCall
    original: ToolCall
    ending: Recorded | None = None


class World:
    """Gates on one store, played step by step beside the order of evaluation."""

    def __init__(self, config: Config, stage: Stage) -> None:
        self.config = config
        self.backend, self.clock = stage.backend, stage.clock
        self.order = Order(config, stage.clock)
        self.open: list[Open] = []
        self.asked: tuple[int, ToolCall] = (0, ToolCall("bash", {"command": "ls"}))
        self.processes = [self._process(session) for session in SESSIONS]

    async def play(self, steps: Sequence[Check | Step]) -> None:
        for step in steps:
            if isinstance(step, Check):
                await self._check(step)
            else:
                await self._do(*step)
        for process in self.processes:
            await process.gate.finish()

    def _process(self, session: str) -> Process:
        config = self.config
        known = Requirements()
        for name, requires in config.declared.items():
            known.declare(name, requires=requires)
        rules = RulePolicy(
            default=config.default,
            allow=config.allow,
            allow_once=config.allow_once,
            deny=config.deny,
            denied_call_ids=config.denied_call_ids,
            requirements=known,
        )
        policy: Policy = rules
        if config.chained or config.changed or config.rewritten or config.own:
            policy = Chain(
                self._changes, self._rewrites, self._asks, When(any_call, Chain(rules), Chain())
            )
        questions = asyncio.Queue[UserInputRequest]()

        def observe(event: Event) -> None:
            if isinstance(event, UserInputRequest):
                questions.put_nowait(event)

        gate = Gate(
            self.backend,
            GateOptions(
                RunRef("agent", session), policy, PATIENCE, clock=self.clock, observe=observe
            ),
        )
        return Process(gate, rules, questions, Told(session, set(config.denied_call_ids)))

    @property
    def _changes(self) -> Policy:
        def changes_in_place(call: ToolCall, context: PolicyContext) -> None:
            del context
            if call.arguments["command"] in self.config.changed:
                cast("dict[str, Any]", call.arguments)["command"] = "changed"

        changes_in_place.__qualname__ = "changes_in_place"
        return changes_in_place

    def _rewrites(self, call: ToolCall, context: PolicyContext) -> Decision | None:
        del context
        decision, to = self.config.rewritten.get(str(call.arguments["command"]), (None, ""))
        changed = {**call.arguments, "command": to}
        return decision and decision.because("", line="rewritten").with_arguments(changed)

    async def _asks(self, call: ToolCall, context: PolicyContext) -> Decision | None:
        if call.arguments["command"] not in self.config.own:
            return None
        assert context.ask is not None
        request = a_request(tool=OWN, arguments=call.arguments, run=context.run)
        until = self.clock() + PATIENCE
        ending = await context.ask(request.model_copy(update={"expires_at": until}))
        return None if ending.outcome is Outcome.APPROVED else Decision.DENY.because("", line=OWN)

    async def _do(self, what: str, *how: Any) -> None:
        """Something happens: in a process, in the store, or time passes."""
        await getattr(self, f"_{what}")(*how)

    async def _require(self, number: int, tool: str) -> None:
        self.processes[number].rules.require_permission_for(tool)
        self.processes[number].told.overrides[tool] = True

    async def _disable(self, number: int, tool: str) -> None:
        self.processes[number].rules.disable_permission_for(tool)
        self.processes[number].told.overrides[tool] = False

    async def _clear(self, number: int, tool: str) -> None:
        self.processes[number].rules.clear_permission_override(tool)
        self.processes[number].told.overrides.pop(tool, None)

    async def _deny_id(self, number: int, call_id: str) -> None:
        self.processes[number].rules.deny_call_id(call_id)
        self.processes[number].told.denied.add(call_id)

    async def _deny_call(self, number: int, call_id: str) -> None:
        self.processes[number].gate.deny_call(call_id)
        self.processes[number].told.denied.add(call_id)

    async def _iterate(self, number: int) -> None:
        self.processes[number].gate.before_iteration()
        self.processes[number].told.answers.clear()

    async def _pass(self, time: timedelta) -> None:
        # Desks end what is overdue: only what becomes so in this step can still be pressed, late.
        await self.backend.store.expire_due()
        self.clock.advance(time)

    async def _store(
        self,
        session: str,
        scope: Literal["session", "agent"],
        effect: Effect,
        rule: Rule,
        hours: int,
    ) -> None:
        """A person chooses a rule somewhere else."""
        until = self.clock() + timedelta(hours=hours)
        remembered = RememberedRule(rule, effect, BY, self.clock(), until, scope=scope)
        request = a_request(run=RunRef("agent", session))
        await self.backend.store.open(request, seconds=60, inbox="", book=None)
        settled = await self.backend.store.settle(
            request.permission_id, a_response(request), remember=remembered
        )
        assert settled.first
        where = session if scope == "session" else None
        self.order.kept.append(Kept(remembered.rule_id, effect, rule, where, until))

    async def _revoke(self, number: int) -> None:
        if number < len(self.order.kept):
            kept = self.order.kept.pop(number)
            await self.backend.rules.revoke(kept.rule_id, by=BY)

    async def _deny_this(self, by: str) -> None:
        """What is asked about is denied: by its id, or by an Always of another process."""
        number, call = self.asked
        if by != "store":
            await self._do(f"deny_{by}", number, call.call_id)
            return
        rule = Rule(call.name, {"command": str(call.arguments["command"])})
        await self._store(SESSIONS[number], "session", "deny", rule, 24)

    async def _resume(self, number: int, answer: Answer, after: Sequence[Step], where: int) -> None:
        """A submitted question is answered, then a process of the session looks at it.

        Those of another session know nothing of it.
        """
        if number >= len(self.open):
            return
        one = self.open[number]
        places = [n for n, session in enumerate(SESSIONS) if session == one.session]
        for stranger in {*range(len(SESSIONS))} - {*places}:
            with pytest.raises(RequestNotFoundError):
                await self.processes[stranger].gate.resume(one.request.permission_id, timeout=1)
        place = places[where % len(places)]
        self.asked = place, one.original
        process = self.processes[place]
        if one.ending is None and not self._is_gone(one.request):
            one.ending = await self._meanwhile(one.request, answer, one.session, one.original)
        for step in after:
            await self._do(*step)
        if one.ending is None or self._is_gone(one.request):
            with pytest.raises(RequestNotFoundError):
                await process.gate.resume(one.request.permission_id)
            return
        verdict = await process.gate.resume(one.request.permission_id)
        one.ending = self._as_answered(process, verdict, one.ending, one.call, one.original)
        await process.gate.finish()  # what this process denied is in the record, for all of them

    def _is_gone(self, request: UserInputRequest) -> bool:
        """Whether its record has been removed, a day after it would have expired."""
        return self.clock() >= request.expires_at + timedelta(days=1)

    async def _check(self, step: Check) -> None:
        task = asyncio.create_task(self._run(step, self.processes[step.process]))
        try:
            await self._follow(step, self.processes[step.process], task)
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _follow(
        self, step: Check, process: Process, task: asyncio.Task[CheckResult | str]
    ) -> None:
        """See that what comes of the call is what the order says, question by question."""
        self.asked = step.process, step.call
        expected = self.order.expected(process.told, step.call)
        asked = await self._asked(process, task)
        if expected.what == "own":
            assert isinstance(asked, PermissionRequestEvent), expected
            assert asked.function_name == OWN
            said = await self._meanwhile(asked, step.own, process.told.session)
            if said.outcome is Outcome.APPROVED:
                expected = self.order.expected(process.told, step.call, own_done=True)
            else:
                lines = self.order.denials(process.told, step.call) | {OWN}
                expected = Expected("denied", step.call, lines)
            asked = await self._asked(process, task)
            if step.own.meanwhile and expected.what == "approved":
                # The policy had no way to see what happened: another line may allow the call, and
                # that a person is asked is always safe.
                lines = frozenset(self.order.allowing(process.told, step.call))
                expected = Expected("person" if asked else "approved", step.call, lines)
        assert (asked is not None) == (expected.what == "person"), (expected, asked)
        if asked is not None:
            await self._person(step, process, task, asked, expected.call)
        else:
            self._is_as_expected(process, await task, expected)

    async def _run(self, step: Check, process: Process) -> CheckResult | str:
        # A call of its own: a policy may change it.
        call = replace(step.call, arguments={**step.call.arguments})
        if step.how == "check":
            return await process.gate.check(call)
        if step.how == "submit":
            return await process.gate.submit(call)
        verdict = await process.gate.before_function(call)
        process.told.answers[step.call.call_id] = (step.call, verdict)
        return verdict

    async def _person(
        self,
        step: Check,
        process: Process,
        task: asyncio.Task[CheckResult | str],
        request: UserInputRequest,
        asked: ToolCall,
    ) -> None:
        """The gate asks a person: with the arguments that will run, and nobody else's."""
        assert isinstance(request, PermissionRequestEvent)
        assert (request.function_name, request.arguments) == (asked.name, asked.arguments)
        if step.how == "submit":
            assert await task == request.permission_id
            self.open.append(Open(process.told.session, request, asked, step.call))
            return
        ending = await self._meanwhile(request, step.person, process.told.session, step.call)
        verdict = await task
        assert isinstance(verdict, CheckResult)
        self._as_answered(process, verdict, ending, asked, step.call)

    async def _asked(
        self, process: Process, task: asyncio.Task[CheckResult | str]
    ) -> UserInputRequest | None:
        """The next question of the process; None where its verdict comes first."""
        getting = asyncio.create_task(process.questions.get())
        await asyncio.wait({task, getting}, return_when=asyncio.FIRST_COMPLETED)
        if getting.done():
            return getting.result()
        getting.cancel()
        return None

    async def _meanwhile(
        self, request: UserInputRequest, answer: Answer, session: str, *original: ToolCall
    ) -> Recorded:
        for step in answer.meanwhile:
            await self._do(*step)
        if self._is_gone(request):
            return Recorded(Outcome.EXPIRED)  # its card finds nothing to decide any more
        assert isinstance(request, PermissionRequestEvent)
        asked = ToolCall(request.function_name, request.arguments, request.call_id)
        return await self._press(request, session, answer.key, asked, *original)

    async def _press(
        self, request: PermissionRequestEvent, session: str, key: str | None, *calls: ToolCall
    ) -> Recorded:
        """A person chooses on the card, too late perhaps; None: nobody does."""
        if key is None:
            await self.backend.store.shorten_deadline(request.question_id, 0)
            await self.backend.store.expire_due()
            return Recorded(Outcome.EXPIRED)
        # What no process was told, the store knows: rules, and not what denies a call by its id.
        forbidden = self.order.denials(Told(session, set()), *calls)
        response, rule = chosen(request, key, by=BY, at=self.clock(), terms=TERMS)
        await self.backend.store.settle(request.question_id, response, remember=rule)
        if self.clock() >= request.expires_at:
            return Recorded(Outcome.EXPIRED)
        if key.startswith("deny"):
            self._keep(rule, calls[0], session)
            return Recorded(Outcome.DENIED)
        if forbidden:
            return Recorded(Outcome.DENIED, forbidden)
        self._keep(rule, calls[0], session)
        return Recorded(Outcome.APPROVED)

    def _keep(self, rule: RememberedRule | None, call: ToolCall, session: str) -> None:
        if rule is not None:
            until = self.clock() + TERMS.remember_for
            self.order.kept.append(Kept(rule.rule_id, rule.effect, call, session, until))

    def _is_as_expected(
        self, process: Process, verdict: CheckResult | str, expected: Expected
    ) -> None:
        assert isinstance(verdict, CheckResult), "a person was asked"
        assert (verdict.approved, expected.what) in ((True, "approved"), (False, "denied")), verdict
        assert verdict.line in expected.lines, verdict
        if verdict.approved:
            assert verdict.arguments == expected.call.arguments
            if not expected.reused:
                self.order.spend(process.told, verdict.line)

    def _as_answered(
        self, process: Process, verdict: CheckResult, ending: Recorded, *calls: ToolCall
    ) -> Recorded:
        """The verdict is what was recorded, unless the process denies it: then that is recorded."""
        lines = self.order.denials(process.told, *calls)
        if ending.outcome is Outcome.APPROVED and lines:
            ending = Recorded(Outcome.DENIED, lines)
        assert verdict.outcome is ending.outcome, (verdict, ending)
        assert verdict.line in ending.lines, (verdict, ending)
        assert verdict.arguments == calls[0].arguments
        return replace(ending, lines=frozenset({verdict.line}))


def any_call(call: ToolCall, context: PolicyContext) -> Awaitable[bool]:
    del call, context
    return asyncio.sleep(0, result=True)
