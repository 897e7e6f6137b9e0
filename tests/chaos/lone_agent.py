"""An agent in a process of its own: it asks, says the question's id, and waits to be killed."""

from __future__ import annotations

import asyncio
import os
import sys

from sayso import Gate, RunRef, ToolCall


async def main(agent: str, session: str, marker: str, timeout: str) -> None:
    """Ask one question and wait."""
    run = RunRef(agent, session)
    async with Gate.open(os.environ["SAYSO_STORE_URL"], run=run, timeout=float(timeout)) as gate:
        asked = await gate.submit(ToolCall("deploy", {"what": marker}))
        print(asked if isinstance(asked, str) else "", flush=True)
        await asyncio.Event().wait()


asyncio.run(main(*sys.argv[1:]))
