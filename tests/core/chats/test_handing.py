"""What is handed to the desk: taken in time, or known not to be."""

from __future__ import annotations

import asyncio

import pytest

from sayso.chats.incoming import NotTaken, handed
from sayso.errors import ReplayedCallbackError, StoreUnreachableError


async def _says(answer: str | Exception) -> str:
    if isinstance(answer, Exception):
        raise answer
    return answer


async def test_what_the_desk_says_is_handed_back() -> None:
    assert await handed(_says("approved"), what="a press", seconds=5) == "approved"


@pytest.mark.parametrize(
    ("error", "why", "told"),
    [
        (StoreUnreachableError("the store is away"), NotTaken.UNREACHABLE, "the store is away"),
        (RuntimeError("a bug"), NotTaken.FAILED, "the desk failed"),
    ],
)
async def test_a_failure_is_logged_and_told_as_a_value(
    error: Exception, why: NotTaken, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert await handed(_says(error), what="a press in a chat", seconds=5) is why

    assert caplog.messages == [f"a press in a chat was not taken: {told}"]
    assert ("Traceback" in caplog.text) is (why is NotTaken.FAILED)


async def test_a_desk_that_takes_too_long_is_given_up(caplog: pytest.LogCaptureFixture) -> None:
    forever = asyncio.Event()

    taken = await handed(forever.wait(), what="a press", seconds=0.01)

    assert taken is NotTaken.UNREACHABLE
    assert caplog.messages == ["a press was not taken: the desk took too long"]


async def test_what_is_not_to_be_acted_on_is_left_to_the_caller() -> None:
    with pytest.raises(ReplayedCallbackError):
        await handed(_says(ReplayedCallbackError("again")), what="a press", seconds=5)
