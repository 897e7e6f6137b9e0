"""Keys against a plain model: whatever comes in whichever order, one question, one verdict."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from support.keyed import ALICE, RUN

from sayso import CheckResult, Gate, IdempotencyConflictError, ToolCall
from sayso.events import PermissionRequestEvent
from sayso.stores.memory import memory_backend

_TURNS = 30
_KEYS = st.sampled_from(["a", "b"])
_CALLS = st.sampled_from(["api", "db"])
_STEPS = st.one_of(
    st.tuples(st.just("check"), _KEYS, _CALLS),
    st.tuples(st.just("submit"), _KEYS, _CALLS),
    st.tuples(st.just("leave"), st.integers(0, 5)),
    st.tuples(st.just("answer"), _KEYS, st.sampled_from(["approved", "denied", "cancelled"])),
)


# Two questions that look alike are two.
@dataclass(eq=False)
class _Question:
    """What the model knows of a question."""

    key: str
    call: str
    outcome: str = ""
    waiting: list[int] = field(default_factory=list)
    is_kept: bool = False


class _Model:
    """What keys promise, in as few lines as it takes; ``heard`` is what each caller got."""

    def __init__(self) -> None:
        self.asked: list[_Question] = []
        self.under: dict[str, _Question] = {}
        self.heard: list[object] = []

    def check(self, key: str, call: str) -> None:
        self.heard.append("waits")
        question = self._found(key, call)
        if question.call != call:
            self.heard[-1] = "another call"
        elif question.outcome:
            self.heard[-1] = (self.asked.index(question), question.outcome)
        else:
            question.waiting.append(len(self.heard) - 1)

    def submit(self, key: str, call: str) -> None:
        question = self._found(key, call)
        if question.call != call:
            self.heard.append("another call")
            return
        question.is_kept = question.is_kept or not question.outcome
        self.heard.append(self.asked.index(question))

    def leave(self, number: int) -> None:
        waiting = [n for n, heard in enumerate(self.heard) if heard == "waits"]
        if number >= len(waiting):
            return
        caller = waiting[number]
        [question] = [one for one in self.asked if caller in one.waiting]
        question.waiting.remove(caller)
        self.heard[caller] = "left"
        if not question.waiting and not question.is_kept:
            question.outcome = "cancelled"
            del self.under[question.key]

    def answer(self, key: str, outcome: str) -> None:
        question = self.under.get(key)
        if question is None or question.outcome:
            return
        question.outcome = outcome
        for caller in question.waiting:
            self.heard[caller] = (self.asked.index(question), outcome)
        question.waiting.clear()

    def _found(self, key: str, call: str) -> _Question:
        if key not in self.under:
            self.under[key] = _Question(key, call)
            self.asked.append(self.under[key])
        return self.under[key]


class _Real:
    """The same steps at a gate."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._backend = gate.backend
        self._callers: list[asyncio.Task[CheckResult | str]] = []

    async def check(self, key: str, call: str) -> None:
        self._start(self._gate.check(ToolCall("deploy", {"service": call}), key=key))

    async def submit(self, key: str, call: str) -> None:
        self._start(self._gate.submit(ToolCall("deploy", {"service": call}), key=key))

    async def leave(self, number: int) -> None:
        waiting = [caller for caller in self._callers if not caller.done()]
        if number < len(waiting):
            waiting[number].cancel()

    async def answer(self, key: str, outcome: str) -> None:
        record = await self._backend.store.get_by_key(RUN, key)
        if record is None or record.ending is not None:
            return
        request = record.request
        assert isinstance(request, PermissionRequestEvent)
        if outcome == "cancelled":
            await self._gate.cancel(request.permission_id)
            return
        answer = request.approve if outcome == "approved" else request.deny
        await self._backend.store.settle(request.permission_id, answer(by=ALICE))

    async def asked(self) -> list[str]:
        """The questions that were asked, in order."""
        entries = await self._backend.audit.read(1_000)
        return [one.question_id for one in entries if one.kind == "asked"]

    async def heard(self) -> list[object]:
        """What each caller got."""
        asked = await self.asked()
        return [_told(caller, asked) for caller in self._callers]

    async def stop(self) -> None:
        """Let nobody wait any more."""
        for caller in self._callers:
            caller.cancel()
        await asyncio.gather(*self._callers, return_exceptions=True)

    def _start(self, work: Any) -> None:
        self._callers.append(asyncio.create_task(work))


def _told(caller: asyncio.Task[CheckResult | str], asked: list[str]) -> object:
    if not caller.done():
        return "waits"
    if caller.cancelled():
        return "left"
    if (error := caller.exception()) is not None:
        return "another call" if isinstance(error, IdempotencyConflictError) else error
    said = caller.result()
    if isinstance(said, str):
        return asked.index(said)
    return asked.index(str(said.permission_id)), said.outcome.value


@settings(max_examples=150, deadline=None)
@given(st.lists(_STEPS, max_size=25))
def test_whatever_happens_a_key_is_one_question_with_one_verdict(steps: list[Any]) -> None:
    async def play() -> None:
        async with memory_backend() as backend, Gate.open(backend, run=RUN) as gate:
            model, real = _Model(), _Real(gate)
            for verb, *how in steps:
                getattr(model, verb)(*how)
                await getattr(real, verb)(*how)
                for _ in range(_TURNS):
                    await asyncio.sleep(0)  # everything that can go on now does
                assert await real.heard() == model.heard
            asked = await real.asked()
            assert len(asked) == len(model.asked)
            is_open = {record.request.question_id for record in await backend.store.list_requests()}
            assert is_open == {
                asked[n] for n, question in enumerate(model.asked) if not question.outcome
            }
            await real.stop()

    asyncio.run(play())
