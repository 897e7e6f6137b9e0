"""What waits in memory is bounded, and whoever loses something is told."""

from __future__ import annotations

import asyncio
import itertools

import pytest

from sayso import CheckResult, Outcome, RunRef, ToolCall
from sayso.agent.batch import Answers
from sayso.agent.listener import Events
from sayso.clock import utc_now
from sayso.digests import arguments_digest
from sayso.errors import StateConflictError, SubscriptionLostError
from sayso.stores.mailbox import MOST_WAITING, Mailbox
from sayso.stores.memory import memory_backend
from sayso.stores.memory.key_value import MemoryKeyValue
from sayso.stores.notices import BranchGrewEvent
from sayso.stores.session_state import SessionState, session_key
from sayso.testing import a_request, soon
from sayso.testing.builders import PATIENCE_SECONDS

RUN = RunRef("deploy-bot", "s-1")


async def test_of_more_than_fits_the_oldest_are_lost_and_the_reader_is_told_once() -> None:
    box: Mailbox[int] = Mailbox(3)
    for number in range(5):
        box.put(number)

    lost = "2 events were lost: more than 3 waited to be read"
    with pytest.raises(SubscriptionLostError, match=lost):
        await box.get()

    assert [await box.get() for _ in range(len(box))] == [2, 3, 4]


async def test_nothing_is_lost_of_what_just_fits() -> None:
    box: Mailbox[int] = Mailbox(3)
    for number in range(3):
        box.put(number)

    assert [await box.get() for _ in range(3)] == [0, 1, 2]


async def test_a_subscriber_in_memory_that_does_not_read_is_told_what_it_lost() -> None:
    bell = BranchGrewEvent.of(RUN)
    topic = "topic"
    async with memory_backend() as backend, backend.bus.subscribe(topic) as events:
        for _ in range(MOST_WAITING + 1):
            await backend.bus.publish(topic, bell)

        with pytest.raises(SubscriptionLostError, match="1 events were lost"):
            await soon(events)


async def test_a_stream_of_events_that_nobody_reads_is_bounded() -> None:
    events, request = Events(), a_request(run=RUN)
    for number in range(MOST_WAITING + 7):
        events.put((str(number), request))

    with pytest.raises(SubscriptionLostError, match="7 events were lost"):
        await anext(events)
    agent_id, _ = await anext(events)

    assert agent_id == "7"


async def test_jobs_in_memory_that_no_desk_takes_are_the_newest_ones() -> None:
    async with memory_backend() as backend:
        for number in range(MOST_WAITING + 2):
            request = a_request(f"q-{number}", run=RUN)
            await backend.store.open(request, seconds=60, inbox="", book=None)
        async with backend.outbox.jobs("desk") as jobs:
            first = await soon(jobs)

    assert first.question_id == "q-2"


def test_a_gate_that_never_begins_an_iteration_knows_the_newest_answers() -> None:
    answers = Answers()
    calls = [ToolCall("bash", {}, f"c-{number}") for number in range(10_001)]
    for call in calls:
        verdict = CheckResult(Outcome.DENIED, call.name, {}, "no", "a person")
        answers.note(call.call_id, arguments_digest({}), verdict)

    assert answers.find(calls[0]) is None
    assert answers.find(calls[1]) is not None
    assert answers.find(calls[-1]) is not None


async def test_the_audit_in_memory_has_the_newest_five_thousand_entries_of_an_agent() -> None:
    async with memory_backend() as backend:
        for number in range(5_001):
            await backend.audit.note({"kind": "rule_denied", "subject": str(number)})

        entries = await backend.audit.read(20_000)

    assert (len(entries), entries[0].subject) == (5_000, "1")


class Overtaken(MemoryKeyValue):
    """Texts that another process changes before each change of one."""

    numbers = itertools.count()

    async def compare_and_set(
        self, key: str, before: str | None, after: str, *, seconds: float
    ) -> bool:
        """Come too late."""
        await asyncio.sleep(0)
        text = f'{{"texts": {{"other": "{next(self.numbers)}"}}}}'
        await self.set(key, text, seconds=seconds)
        return await super().compare_and_set(key, before, after, seconds=seconds)


async def test_a_change_of_a_session_s_state_that_others_keep_ahead_of_gives_up() -> None:
    key_value = Overtaken(utc_now)
    async with asyncio.timeout(PATIENCE_SECONDS):
        with pytest.raises(StateConflictError, match="kept changing"):
            await SessionState(key_value).swap(RUN, "mine", None, "1")

    assert await key_value.get(f"state:{session_key(RUN)}") is not None
    assert await SessionState(key_value).recall(RUN, "mine") is None
