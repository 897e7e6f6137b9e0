"""A stage for tests of agents: scripted calls in, prompts and verdicts out. No network, no clock.

The people are played by a table or a function, the clock stands still until a
test moves it, and nothing is asked outside of the process::

    >>> import asyncio
    >>> from sayso import Rule, RulePolicy, ToolCall
    >>> from sayso.testing import play
    >>> policy = RulePolicy(allow=[Rule("read_file")], deny=[Rule("format_disk")])
    >>> played = asyncio.run(
    ...     play(
    ...         [
    ...             ToolCall("read_file", {"path": "README.md"}),
    ...             ToolCall("deploy", {"target": "staging"}),
    ...             ToolCall("deploy", {"target": "production"}),
    ...             ToolCall("format_disk"),
    ...         ],
    ...         policy=policy,
    ...         answers={"deploy": ["allow", "deny"]},
    ...     )
    ... )
    >>> [prompt.arguments["target"] for prompt in played.prompts]
    ['staging', 'production']
    >>> [verdict.approved for verdict in played.verdicts]
    [True, True, False, False]
    >>> print(played)
    read_file: approved (allow rule 1)
    deploy: approved (person)
    deploy: denied (person)
    format_disk: denied (deny rule 1)

An agent that takes a gate is played on a ``Stage``::

    async with Stage(policy=policy, answers=lambda prompt: "allow") as stage:
        await my_agent(stage.gate)
    assert [prompt.tool for prompt in stage.prompts] == ["deploy"]
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Self, Unpack

from sayso.agent.choices import chosen
from sayso.agent.gate import Gate
from sayso.agent.options import CallOptions, GateOptions
from sayso.agent.verdict import CheckResult
from sayso.always.terms import GrantOptions
from sayso.calls import RunRef, ToolCall
from sayso.events import UserInputRequest
from sayso.policy.decision import Policy
from sayso.questions.permission import PermissionRequestEvent
from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend

PERSON = "test:person"


class StoppedClock:
    """A clock that stands still until it is moved."""

    def __init__(self, now: datetime | None = None) -> None:
        self.now = now or datetime(2026, 1, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        """The time it shows."""
        return self.now

    def advance(self, by: timedelta) -> None:
        """Let time pass."""
        self.now += by


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a person was asked, without the random ids: equal runs have equal prompts.

    ``tool`` is the tool's name, or the kind of question. ``text`` is what the
    card shows, complete; ``choices`` are the keys of its buttons, of both levels.
    """

    tool: str
    asker: str
    source_name: str
    description: str
    text: str
    choices: tuple[str, ...]
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Filled:
    """A choice whose form is filled in: the values by the names of its fields.

    ``Filled("other", {"answer": "blue"})``, ``Filled("fill-in", {"size": 3})``.
    """

    choice: str
    inputs: Mapping[str, Any] | None = None


Answer = str | Filled | None
"""The key of a choice on the card (``allow``, ``deny``, …), filled in where it has a form.

None: nobody answers.
"""

Answers = Mapping[str, Answer | Sequence[Answer]] | Callable[[Prompt], Answer]
"""What people say: by the name of the tool, once each where it is a list, or by a function."""


class Stage:
    """A gate whose people are played; records what is asked and what comes of it.

    A question that nobody answers expires at once. A prompt that the script
    does not know is denied, and fails the test when the stage closes.
    """

    def __init__(
        self,
        *,
        policy: Policy | None = None,
        answers: Answers | None = None,
        run: RunRef | None = None,
        terms: GrantOptions | None = None,
        by: str = PERSON,
    ) -> None:
        self.clock = StoppedClock()
        self.prompts: list[Prompt] = []
        self.verdicts: list[CheckResult] = []
        self._policy = policy
        self._run = run or RunRef("agent", "session", run_id="run")
        self._terms = terms or GrantOptions()
        self._by = by
        self._answers = answers if callable(answers) else _Table(answers or {})
        self._failure: Exception | None = None
        self._people: asyncio.Task[None] | None = None
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        self.backend = await self._stack.enter_async_context(memory_backend(clock=self.clock))
        self._people = asyncio.create_task(self._play_people())
        self._stack.push_async_callback(_stopped, self._people)
        options = GateOptions(self._run, self._policy, clock=self.clock)
        self.gate: Gate = _RecordingGate(self.verdicts, self.backend, options)
        self._stack.push_async_callback(self.gate.finish)
        return self

    async def __aexit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        await self._stack.aclose()
        if self._failure is not None and error is not None:
            error.add_note(f"and before that the script failed: {self._failure}")
        elif self._failure is not None:
            raise self._failure

    def __str__(self) -> str:
        return "\n".join(
            f"{verdict.tool}: {verdict.outcome.value} ({verdict.line})" for verdict in self.verdicts
        )

    def hold(self) -> None:
        """From now on nobody answers and nothing expires; the test answers by itself."""
        if self._people is not None:
            self._people.cancel()

    async def _play_people(self) -> None:
        async with self.backend.outbox.jobs("stage") as jobs:
            async for job in jobs:
                await self.backend.outbox.done(job)
                record = await self.backend.store.get(job.question_id)
                if job.kind == "ask" and record is not None and record.ending is None:
                    await self._play(record.request)

    async def _play(self, request: UserInputRequest) -> None:
        prompt = _prompt(request)
        self.prompts.append(prompt)
        store, now = self.backend.store, self.clock()
        try:
            answer = self._answers(prompt)
            if answer is None:
                await self.backend.store.shorten_deadline(request.question_id, 0)
                await self.backend.store.expire_due()
                return
            filled = answer if isinstance(answer, Filled) else Filled(answer)
            response, rule = chosen(
                request,
                filled.choice,
                by=self._by,
                at=now,
                terms=self._terms,
                inputs=filled.inputs,
            )
            await store.settle(request.question_id, response, remember=rule)
        except Exception as error:
            self._failure = self._failure or error
            withdrawn = request.cancelled(at=now, reason=f"the script failed: {error}")
            await store.settle(request.question_id, withdrawn)


async def play(
    calls: Sequence[ToolCall | Sequence[ToolCall]],
    *,
    policy: Policy | None = None,
    answers: Answers | None = None,
    run: RunRef | None = None,
    terms: GrantOptions | None = None,
    by: str = PERSON,
) -> Stage:
    """Check the calls one after the other, a list among them as one batch; the stage afterwards.

    Raises:
        AssertionError: a person was asked what the answers do not cover.
    """
    stage = Stage(policy=policy, answers=answers, run=run, terms=terms, by=by)
    async with stage:
        for call in calls:
            if isinstance(call, ToolCall):
                await stage.gate.check(call)
            else:
                await stage.gate.check_batch(call)
    return stage


class _RecordingGate(Gate):
    """A gate that notes its verdicts; its children note theirs in the same list."""

    def __init__(self, verdicts: list[CheckResult], backend: Backend, options: GateOptions) -> None:
        super().__init__(backend, options)
        self._verdicts = verdicts

    async def check(self, call: ToolCall, **how: Unpack[CallOptions]) -> CheckResult:
        verdict = await super().check(call, **how)
        self._verdicts.append(verdict)
        return verdict


class _Table:
    """Answers by tool; a list is used up from its beginning."""

    def __init__(self, answers: Mapping[str, Answer | Sequence[Answer]]) -> None:
        self._answers = {
            tool: answer if answer is None or isinstance(answer, str | Filled) else iter(answer)
            for tool, answer in answers.items()
        }

    def __call__(self, prompt: Prompt) -> Answer:
        if prompt.tool not in self._answers:
            raise AssertionError(_unscripted(prompt))
        answer = self._answers[prompt.tool]
        if answer is None or isinstance(answer, str | Filled):
            return answer
        try:
            return next(answer)
        except StopIteration:
            raise AssertionError(_unscripted(prompt)) from None


def _unscripted(prompt: Prompt) -> str:
    return f"the script has no answer for {prompt.tool} {dict(prompt.arguments)}"


def _prompt(request: UserInputRequest) -> Prompt:
    body = request.card()
    asked_for = request.arguments if isinstance(request, PermissionRequestEvent) else {}
    return Prompt(
        tool=request.subject,
        asker=request.asker,
        source_name=request.source_name,
        description=body.description,
        text=body.content,
        choices=tuple(choice.key for choice in (*body.choices, *body.more)),
        arguments=asked_for,
    )


async def _stopped(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
