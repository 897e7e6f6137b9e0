"""A store that answers with something else than asked is a store that cannot be used."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from support.fake_redis import fake_redis

from sayso import Gate, RunRef, ToolCall
from sayso.errors import StoreUnreachableError
from sayso.stores.redis import redis_backend

MALFORMED = {
    "a number": (b":7\r\n", "7"),
    "nothing": (b"$-1\r\n", "None"),
    "a word": (b"+what\r\n", "what"),
    "an empty list": (b"*0\r\n", r"\[\]"),
    "a list of one": (b"*1\r\n$4\r\nwhat\r\n", "what"),
    "a list of wrong kinds": (b"*4\r\n:1\r\n:2\r\n:3\r\n:4\r\n", "1, 2, 3, 4"),
    "rules that are none": (b"*4\r\n$1\r\nv\r\n$0\r\n\r\n$0\r\n\r\n$4\r\nwhat\r\n", "what"),
}


@pytest.mark.parametrize("reply", MALFORMED)
async def test_a_reply_that_is_none_is_a_store_that_cannot_be_used_and_the_error_says_it(
    reply: str,
) -> None:
    said, named = MALFORMED[reply]

    def answer(_words: Sequence[str]) -> bytes:
        return said

    async with (
        fake_redis(answer) as port,
        redis_backend(f"redis://127.0.0.1:{port}?timeout=1") as backend,
        Gate.open(backend, run=RunRef("a-bot", "s-1"), timeout=2, patience=0.3) as gate,
    ):
        with pytest.raises(StoreUnreachableError, match=named):
            await gate.check(ToolCall("deploy", {"to": "live"}))
