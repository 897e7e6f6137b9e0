"""An agent in a process of its own: it checks one call under a key and says what it hears."""

from __future__ import annotations

import asyncio
import os
import sys

from sayso import Gate, RunRef, ToolCall
from sayso.events import Event


def _say(word: str, what: object) -> None:
    print(word, what, flush=True)


def _hear(event: Event) -> None:
    if (asked := getattr(event, "permission_id", None)) and event.source_name:
        _say(type(event).__name__, asked)


async def main(key: str, service: str) -> None:
    """Check the call, under the key."""
    url, run = os.environ["SAYSO_STORE_URL"], RunRef("deploy-bot", "s-42")
    async with Gate.open(url, run=run, observe=_hear) as gate:
        verdict = await gate.check(ToolCall("deploy", {"service": service}), key=key)
        _say(verdict.outcome.value, verdict.permission_id)


asyncio.run(main(*sys.argv[1:]))
