"""A large call is shown without keeping presses on other cards waiting."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from gettext import NullTranslations
from typing import Literal

import pytest
from support.worst_calls import worst_calls

from sayso.calls import RunRef
from sayso.cards.card import CardBody
from sayso.digests import MAX_ARGUMENTS_BYTES, arguments_digest, as_json, shown_and_digest
from sayso.events import UserInputRequest
from sayso.locales import ENGLISH
from sayso.policy.decision import is_same, snapshot
from sayso.questions.large import is_large
from sayso.questions.permission import PermissionRequestEvent
from sayso.questions.wire import decode, encode
from sayso.values import one_value
from sayso.worker.card_builder import KEPT_BODIES, CardBodyCache

NOW = datetime(2026, 1, 1, tzinfo=UTC)
CALLS = worst_calls()


class _NoteEvent(UserInputRequest):
    type: Literal["NOTE_OF_A_TEST"] = "NOTE_OF_A_TEST"
    note_id: str
    text: str

    @property
    def question_id(self) -> str:
        return self.note_id


def a_note(text: str, note_id: str = "n") -> _NoteEvent:
    return _NoteEvent(
        source_name="s", run=RunRef("a", "s"), expires_at=NOW, note_id=note_id, text=text
    )


class _Made:
    """Makes bodies, and notes in which threads."""

    def __init__(self) -> None:
        self.threads: list[int] = []

    def __call__(self, request: UserInputRequest, translations: NullTranslations) -> CardBody:
        assert translations is ENGLISH
        self.threads.append(threading.get_ident())
        assert isinstance(request, _NoteEvent)
        return CardBody("Note", values=one_value(request.text))


async def test_what_is_large_is_made_beside_the_loop_and_once() -> None:
    made = _Made()
    bodies, note = CardBodyCache(made), a_note("x" * 10_000)

    await asyncio.gather(*(bodies.prepare(note, ENGLISH) for _ in range(8)))

    assert bodies.of(note, ENGLISH).content == note.text
    assert len(made.threads) == 1
    assert made.threads[0] != threading.get_ident()


async def test_what_is_small_is_made_at_once_and_kept() -> None:
    made = _Made()
    bodies, note = CardBodyCache(made), a_note("x")

    await bodies.prepare(note, ENGLISH)

    assert made.threads == []
    assert bodies.of(note, ENGLISH) is bodies.of(note, ENGLISH)
    assert made.threads == [threading.get_ident()]
    assert bodies.has_small(note, ENGLISH)


def test_large_bodies_are_kept_up_to_some_millions_of_characters_and_small_ones_by_number() -> None:
    made = _Made()
    bodies = CardBodyCache(made)
    large = [a_note("x" * 1_000_000, f"large-{number}") for number in range(5)]
    small = [a_note("x", f"small-{number}") for number in range(KEPT_BODIES + 1)]

    for note in (*large, *small):
        bodies.of(note, ENGLISH)
    made.threads.clear()
    for note in (large[4], large[1], small[1]):
        bodies.of(note, ENGLISH)
    assert made.threads == []

    bodies.of(large[0], ENGLISH)
    bodies.of(small[0], ENGLISH)
    assert len(made.threads) == 2


@pytest.mark.parametrize(
    ("text", "large"), [("x" * 7_000, False), ("x" * 9_000, True), ("", False)]
)
def test_what_counts_as_large(text: str, large: bool) -> None:
    assert is_large(a_note(text)) is large


@pytest.mark.parametrize("name", [name for name in CALLS if name != "deep nesting"])
def test_a_call_of_many_small_parts_counts_as_large(name: str) -> None:
    assert is_large(_request(CALLS[name]))


def _is_much(work: Callable[[], object], seconds: float) -> bool:
    """Whether a step takes so much processor time, twice: once may be a busy machine's fault."""
    for _ in range(2):
        began = time.thread_time()
        work()
        if time.thread_time() - began < seconds:
            return False
    return True


@pytest.mark.parametrize("name", CALLS)
def test_the_worst_calls_take_little_work_where_they_are_taken_and_shown(name: str) -> None:
    arguments = CALLS[name]
    request = _request(arguments)
    steps: dict[str, Callable[[], object]] = {
        "looking": lambda: is_same(snapshot(arguments), snapshot(arguments)),
        "copying": lambda: as_json(arguments),
        "digesting": lambda: arguments_digest(arguments),
        "reading": lambda: decode(encode(request)),
    }

    # A tenth of this on a quiet machine. Some took from half a second to half a minute.
    assert [step for step, work in steps.items() if _is_much(work, 0.4)] == []
    assert not _is_much(request.card, 2)


def _request(arguments: dict[str, object]) -> PermissionRequestEvent:
    plain, digest = shown_and_digest(arguments)
    return PermissionRequestEvent(
        permission_id="p",
        source_name="s",
        run=RunRef("a", "s"),
        expires_at=NOW + timedelta(minutes=1),
        function_name="bash",
        call_id="c",
        arguments=plain,
        arguments_digest=digest,
    )


def test_the_worst_calls_are_as_long_as_calls_may_be() -> None:
    sizes = {name: len(encode(_request(arguments))) for name, arguments in CALLS.items()}

    assert max(sizes.values()) > MAX_ARGUMENTS_BYTES * 3 // 4


@pytest.mark.parametrize("length", [10, 10_000])
async def test_another_request_with_the_id_of_one_that_is_gone_has_a_card_of_its_own(
    length: int,
) -> None:
    bodies = CardBodyCache(_Made())
    first, later = a_note("a" * length), a_note("b" * length)
    later = later.model_copy(update={"expires_at": NOW + timedelta(days=31)})

    for note in (first, later):
        await bodies.prepare(note, ENGLISH)

        assert bodies.of(note, ENGLISH).content == note.text
