"""Bodies are read as far as they may be long, whatever their headers say."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from sayso.chats.incoming import bounded_body


class Chunks:
    """Sends chunks of four bytes and knows how many were asked for."""

    def __init__(self, count: int) -> None:
        self._count = count
        self.sent = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for _ in range(self._count):
            self.sent += 1
            yield b"four"


@pytest.mark.parametrize("declared", [None, 0, 8])
async def test_a_body_within_its_bounds_is_whole(declared: int | None) -> None:
    assert await bounded_body(Chunks(2), most=8, declared=declared) == b"fourfour"


@pytest.mark.parametrize("declared", [None, 1])
async def test_a_body_is_read_no_further_than_its_bound(declared: int | None) -> None:
    chunks = Chunks(1_000)

    assert await bounded_body(chunks, most=8, declared=declared) is None
    assert chunks.sent == 3


async def test_a_body_that_says_it_is_too_long_is_not_read() -> None:
    chunks = Chunks(1)

    assert await bounded_body(chunks, most=8, declared=9) is None
    assert chunks.sent == 0
