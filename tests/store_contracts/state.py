"""What every store promises about the state that policies keep for a session."""

from __future__ import annotations

import asyncio

import pytest

from sayso.calls import RunRef
from sayso.errors import StateConflictError
from sayso.stores.backend import Backend
from sayso.stores.ports import MOST_STATE_BYTES, MOST_STATE_NAMES

_RUN = RunRef("deploy-bot", "s-1")


class StateContract:
    """The promises of ``Rules.recall`` and ``Rules.swap``. Subclasses provide ``backend``."""

    async def test_nothing_is_kept_at_first(self, backend: Backend) -> None:
        assert await backend.rules.recall(_RUN, "spent") is None

    async def test_what_is_kept_is_there_for_the_session_in_all_its_branches(
        self, backend: Backend
    ) -> None:
        assert await backend.rules.swap(_RUN, "spent", None, "5")

        same = RunRef("deploy-bot", "s-1", "another", "another-run")
        others = [RunRef("deploy-bot", "s-2"), RunRef("other-bot", "s-1"), RunRef("d", "s-1")]
        assert await backend.rules.recall(same, "spent") == "5"
        assert await backend.rules.recall(_RUN, "other") is None
        assert [await backend.rules.recall(run, "spent") for run in others] == [None] * 3

    async def test_a_text_takes_the_place_of_the_one_that_is_there_and_of_no_other(
        self, backend: Backend
    ) -> None:
        rules = backend.rules
        assert await rules.swap(_RUN, "spent", None, "5")
        assert not await rules.swap(_RUN, "spent", None, "1")
        assert not await rules.swap(_RUN, "spent", "4", "1")
        assert await rules.swap(_RUN, "spent", "5", "6")
        assert not await rules.swap(_RUN, "other", "6", "7")

        assert await rules.recall(_RUN, "spent") == "6"
        assert await rules.recall(_RUN, "other") is None

    async def test_what_is_taken_away_is_gone(self, backend: Backend) -> None:
        await backend.rules.swap(_RUN, "spent", None, "")
        assert await backend.rules.recall(_RUN, "spent") == ""
        assert await backend.rules.swap(_RUN, "spent", "", None)

        assert await backend.rules.recall(_RUN, "spent") is None
        assert await backend.rules.swap(_RUN, "spent", None, "é\n")
        assert await backend.rules.recall(_RUN, "spent") == "é\n"

    async def test_of_many_who_change_one_text_at_once_one_does(self, backend: Backend) -> None:
        await backend.rules.swap(_RUN, "spent", None, "0")

        done = await asyncio.gather(
            *(backend.rules.swap(_RUN, "spent", "0", str(number)) for number in range(1, 20))
        )

        assert done.count(True) == 1
        assert await backend.rules.recall(_RUN, "spent") == str(done.index(True) + 1)

    async def test_a_session_keeps_so_much_and_no_more(self, backend: Backend) -> None:
        rules = backend.rules
        name, room = "n", MOST_STATE_BYTES - 1
        assert await rules.swap(_RUN, name, None, "x" * room)
        with pytest.raises(StateConflictError):
            await rules.swap(_RUN, name, "x" * room, "x" * (room + 1))
        with pytest.raises(StateConflictError):
            await rules.swap(_RUN, "m", None, "")

        # What is refused changes nothing, and what is taken away makes room.
        assert await rules.recall(_RUN, name) == "x" * room
        assert await rules.swap(_RUN, name, "x" * room, "x" * (room - 1))
        assert await rules.swap(_RUN, "m", None, "")

    async def test_a_session_keeps_so_many_names_and_no_more(self, backend: Backend) -> None:
        for number in range(MOST_STATE_NAMES):
            assert await backend.rules.swap(_RUN, f"n{number}", None, "1")
        with pytest.raises(StateConflictError):
            await backend.rules.swap(_RUN, "one more", None, "1")

        assert await backend.rules.swap(_RUN, "n0", "1", "2")
        assert await backend.rules.swap(_RUN, "n0", "2", None)
        assert await backend.rules.swap(_RUN, "one more", None, "1")
