"""What every store promises about the state that policies keep for a session."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from sayso.calls import RunRef
from sayso.errors import StateConflictError
from sayso.stores.backend import Backend
from sayso.stores.session_state import MAX_STATE_BYTES, MAX_STATE_NAMES, SessionState

RUN = RunRef("deploy-bot", "s-1")


def _state(backend: Backend) -> SessionState:
    return SessionState(backend.key_value)


class StateContract:
    """The promises of ``SessionState`` on any store. Subclasses provide ``backend``."""

    async def test_nothing_is_kept_at_first(self, backend: Backend) -> None:
        assert await _state(backend).recall(RUN, "spent") is None

    async def test_what_is_kept_is_there_for_the_session_in_all_its_branches(
        self, backend: Backend
    ) -> None:
        assert await _state(backend).swap(RUN, "spent", None, "5")

        same = RunRef("deploy-bot", "s-1", "another", "another-run")
        others = [RunRef("deploy-bot", "s-2"), RunRef("other-bot", "s-1"), RunRef("d", "s-1")]
        assert await _state(backend).recall(same, "spent") == "5"
        assert await _state(backend).recall(RUN, "other") is None
        assert [await _state(backend).recall(run, "spent") for run in others] == [None] * 3

    async def test_a_text_takes_the_place_of_the_one_that_is_there_and_of_no_other(
        self, backend: Backend
    ) -> None:
        state = _state(backend)
        assert await state.swap(RUN, "spent", None, "5")
        assert not await state.swap(RUN, "spent", None, "1")
        assert not await state.swap(RUN, "spent", "4", "1")
        assert await state.swap(RUN, "spent", "5", "6")
        assert not await state.swap(RUN, "other", "6", "7")

        assert await state.recall(RUN, "spent") == "6"
        assert await state.recall(RUN, "other") is None

    async def test_what_is_taken_away_is_gone(self, backend: Backend) -> None:
        await _state(backend).swap(RUN, "spent", None, "")
        assert await _state(backend).recall(RUN, "spent") == ""
        assert await _state(backend).swap(RUN, "spent", "", None)

        assert await _state(backend).recall(RUN, "spent") is None
        assert await _state(backend).swap(RUN, "spent", None, "é\n")
        assert await _state(backend).recall(RUN, "spent") == "é\n"

    async def test_of_many_who_change_one_text_at_once_one_does(self, backend: Backend) -> None:
        await _state(backend).swap(RUN, "spent", None, "0")

        done = await asyncio.gather(
            *(_state(backend).swap(RUN, "spent", "0", str(number)) for number in range(1, 20))
        )

        assert done.count(True) == 1
        assert await _state(backend).recall(RUN, "spent") == str(done.index(True) + 1)

    async def test_a_session_keeps_so_much_and_no_more(self, backend: Backend) -> None:
        state = _state(backend)
        name, room = "n", MAX_STATE_BYTES - 1
        assert await state.swap(RUN, name, None, "x" * room)
        with pytest.raises(StateConflictError):
            await state.swap(RUN, name, "x" * room, "x" * (room + 1))
        with pytest.raises(StateConflictError):
            await state.swap(RUN, "m", None, "")

        # What is refused changes nothing, and what is taken away makes room.
        assert await state.recall(RUN, name) == "x" * room
        assert await state.swap(RUN, name, "x" * room, "x" * (room - 1))
        assert await state.swap(RUN, "m", None, "")

    async def test_a_session_keeps_so_many_names_and_no_more(self, backend: Backend) -> None:
        for number in range(MAX_STATE_NAMES):
            assert await _state(backend).swap(RUN, f"n{number}", None, "1")
        with pytest.raises(StateConflictError):
            await _state(backend).swap(RUN, "one more", None, "1")

        assert await _state(backend).swap(RUN, "n0", "1", "2")
        assert await _state(backend).swap(RUN, "n0", "2", None)
        assert await _state(backend).swap(RUN, "one more", None, "1")

    async def test_what_is_spent_once_is_had_by_one_caller(self, backend: Backend) -> None:
        had = await asyncio.gather(*(_state(backend).spend(RUN, "a key:\n") for _ in range(20)))

        assert sum(had) == 1
        assert not await _state(backend).spend(replace(RUN, branch_id="b", run_id="r"), "a key:\n")

    @pytest.mark.parametrize(
        "other", [RunRef("deploy-bot", "s-2"), RunRef("other-bot", "s-1"), RunRef("d", "s-1")]
    )
    async def test_each_session_may_have_it_once(self, backend: Backend, other: RunRef) -> None:
        assert await _state(backend).spend(RUN, "key")

        assert await _state(backend).spend(other, "key")
        assert await _state(backend).spend(RUN, "another key")

    async def test_many_who_change_texts_of_their_own_at_once_all_do(
        self, backend: Backend
    ) -> None:
        state = _state(backend)

        done = await asyncio.gather(
            *(state.swap(RUN, f"n{number}", None, str(number)) for number in range(20))
        )

        assert all(done)
        texts = [await state.recall(RUN, f"n{number}") for number in range(20)]
        assert texts == [str(number) for number in range(20)]
