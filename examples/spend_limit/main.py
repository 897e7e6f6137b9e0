"""An agent that asks for money: ``SAYSO_STORE_URL=redis://… python examples/spend_limit/main.py``.

The bots must know the kind of question: see spend_questions.py.
"""

from __future__ import annotations

import asyncio
import os
import sys
from datetime import timedelta

from spend_questions import SpendRequestEvent, SpendResponseEvent

from sayso import Gate, RunRef
from sayso.clock import utc_now
from sayso.errors import SaysoError

RUN = RunRef("buyer-bot", "s-1")


async def main(store: str) -> int:
    """Ask for 500 euros and print what was granted; 1 when nothing was."""
    async with Gate.open(store, run=RUN) as gate:
        request = SpendRequestEvent(
            source_name="buyer-bot",
            run=RUN,
            euros=500,
            purpose="Two more months of the load test cluster",
            expires_at=utc_now() + timedelta(minutes=5),
        )
        await gate.emit(request)
        try:
            answer = await gate.wait_for_response(SpendResponseEvent, request.spend_id)
        except SaysoError as error:
            print(error)
            return 1
    note = f" ({answer.reason})" if answer.reason else ""
    print(f"{answer.euros} euros granted by {answer.decided_by}{note}")
    return 0 if answer.euros else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main(os.environ["SAYSO_STORE_URL"])))
