"""An agent that asks for money: ``SAYSO_STORE_URL=redis://… python examples/spend_limit/main.py``.

With ``submit`` it asks and prints the id of the question; with ``resume ID`` it waits for the
answer, in another process or after a restart. The bots must know the kind of question: see
spend_questions.py.
"""

from __future__ import annotations

import asyncio
import os
import sys
from datetime import timedelta

from spend_questions import Spend, Spent

from sayso import Gate, RunRef
from sayso.errors import SaysoError

RUN = RunRef("buyer-bot", "s-1")
CLUSTER = Spend(500, "Two more months of the load test cluster")


async def ask(gate: Gate) -> Spent:
    """Ask for 500 euros and wait for the answer."""
    return await gate.ask(CLUSTER, timeout=timedelta(minutes=5))


async def submit(gate: Gate) -> str:
    """Ask and do not wait: the id of the question."""
    return await gate.submit(CLUSTER, timeout=timedelta(hours=8))


async def resume(gate: Gate, question_id: str) -> Spent:
    """Wait for the answer to a question that was submitted here or elsewhere."""
    return await gate.resume(question_id, expect=Spent)


async def main(store: str, command: str = "ask", question_id: str = "") -> int:
    """Print what was granted; 1 when nothing was."""
    async with Gate.open(store, run=RUN) as gate:
        try:
            if command == "submit":
                print(await submit(gate))
                return 0
            spent = await (resume(gate, question_id) if command == "resume" else ask(gate))
        except SaysoError as error:
            print(error)
            return 1
    by = f" by {spent.decided_by}" if spent.decided_by else ""
    reason = f" ({spent.reason})" if spent.reason else ""
    print(f"{spent.outcome.value}{by}: {spent.euros} euros{reason}")
    return 0 if spent.euros else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main(os.environ["SAYSO_STORE_URL"], *sys.argv[1:])))
