"""A policy of your own: files by their path, everything by its risk, with its own question.

Run it with ``python examples/path_and_risk/main.py``: no bot, no server, no accounts. A line of
code stands in for the person; with bots, the same question is a card in Slack or Telegram.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import PurePosixPath
from posixpath import normpath
from typing import Literal

from pydantic import Field

from sayso import CheckResult, Decision, Gate, PolicyContext, RunRef, ToolCall
from sayso.calls import new_id
from sayso.cards import CardBody, Choice
from sayso.clock import utc_now
from sayso.events import Outcome, UserInputRequest, UserInputResponse
from sayso.forms import NO_INPUTS, Inputs
from sayso.values import one_value

RISKS = {"read_file": 0, "write_file": 2, "delete_file": 5, "deploy": 8}
UNKNOWN_RISK = 10
ACCEPT, BUDGET, REFUSE = "accept", "budget", "refuse"


class RiskReviewEvent(UserInputRequest):
    """May a call with this risk run, and may the session take more of it from now on?"""

    type: Literal["RISK_REVIEW"] = "RISK_REVIEW"
    review_id: str = Field(default_factory=new_id)
    tool: str
    file: str = ""
    risk: int
    left: int

    @property
    def question_id(self) -> str:
        """The review's id."""
        return self.review_id

    @property
    def subject(self) -> str:
        """The tool's name, for routes."""
        return self.tool

    def card(self) -> CardBody:
        """What would run, its risk and the three answers. Adapters need to know nothing of it."""
        return CardBody(
            title=f"Risk {self.risk}: {self.tool}",
            values=one_value(self.file or "(no file)"),
            facts=(("Risk left in this session", str(self.left)),),
            choices=(
                Choice(ACCEPT, "Accept once", "primary", needs_sight=True),
                Choice(BUDGET, f"Accept, and {self.risk} more", needs_sight=True),
                Choice(REFUSE, "Refuse", "danger"),
            ),
        )

    def answer(
        self,
        choice: Choice,
        *,
        by: str,
        at: datetime,
        inputs: Inputs = NO_INPUTS,  # noqa: ARG002  its buttons ask for nothing more
    ) -> RiskReviewedEvent:
        """What each button means."""
        return RiskReviewedEvent(
            review_id=self.review_id,
            source_name=self.source_name,
            decided_by=by,
            decided_at=at,
            accepted=choice.key in (ACCEPT, BUDGET),
            extra=self.risk if choice.key == BUDGET else 0,
        )


class RiskReviewedEvent(UserInputResponse):
    """A person's answer: whether the call runs, and how much more risk the session may take."""

    type: Literal["RISK_REVIEWED"] = "RISK_REVIEWED"
    review_id: str
    accepted: bool
    extra: int = 0

    @property
    def question_id(self) -> str:
        """The review's id."""
        return self.review_id

    @property
    def outcome(self) -> Outcome:
        """Approved or denied."""
        return Outcome.APPROVED if self.accepted else Outcome.DENIED


class PathAndRisk:
    """Files stay inside a folder; risk is taken from a budget, and a person is asked beyond it.

    Its state, the risk left, lives as long as the object. Nothing is taken
    from the budget for a call that does not run.
    """

    def __init__(self, root: str, *, budget: int) -> None:
        self._root = PurePosixPath(normpath(root))
        self.left = budget
        self._one_at_a_time = asyncio.Lock()

    async def decide(self, call: ToolCall, context: PolicyContext) -> Decision:
        """By path first: what leaves the folder is denied whatever its risk."""
        changed = dict(call.arguments)
        if "path" in changed:
            file = self._inside(changed["path"])
            if file is None:
                return Decision.DENY.because(f"only files in {self._root}", line="path")
            # What was judged is what runs, not another spelling of it.
            changed["path"] = file
        risk = RISKS.get(call.name, UNKNOWN_RISK)
        # Two calls at once must not both take the last of the budget.
        async with self._one_at_a_time:
            decision = await self._by_risk(call, changed.get("path", ""), risk, context)
        return decision.with_arguments(changed)

    def _inside(self, path: object) -> str | None:
        if not isinstance(path, str) or "\0" in path:
            return None
        file = PurePosixPath(normpath(self._root / path))
        return str(file) if file.is_relative_to(self._root) else None

    async def _by_risk(
        self, call: ToolCall, file: str, risk: int, context: PolicyContext
    ) -> Decision:
        if risk <= self.left:
            self.left -= risk
            return Decision.ALLOW.because(f"risk {risk}, {self.left} left", line="budget")
        if context.ask is None:
            return Decision.DENY.because(f"risk {risk} and nobody to ask", line="budget")
        ending = await context.ask(
            RiskReviewEvent(
                source_name=context.source_name or context.run.agent_id,
                run=context.run,
                path=context.path,
                tool=call.name,
                file=file,
                risk=risk,
                left=self.left,
                expires_at=utc_now() + timedelta(minutes=10),
            )
        )
        if not isinstance(ending, RiskReviewedEvent) or not ending.accepted:
            text = f"risk {risk} was {ending.outcome.value}"
            return Decision.DENY.because(text, line="risk review")
        self.left += ending.extra
        return Decision.ALLOW.because(
            f"risk {risk} accepted by {ending.decided_by}, {self.left} left", line="risk review"
        )


@asynccontextmanager
async def someone_who_answers(gate: Gate, answers: Sequence[str]) -> AsyncIterator[None]:
    """Stand in for bots and the person behind them: answer the questions in order."""

    async def answer() -> None:
        store, outbox, keys = gate.backend.store, gate.backend.outbox, iter(answers)
        async with outbox.jobs("someone") as jobs:
            async for job in jobs:
                record = await store.get(job.question_id)
                if job.kind == "ask" and record is not None:
                    pressed = next(keys, REFUSE)
                    choice = next(c for c in record.request.card().choices if c.key == pressed)
                    response = record.request.answer(choice, by="slack:U0ALICE", at=utc_now())
                    await store.settle(job.question_id, response)
                await outbox.done(job)

    task = asyncio.create_task(answer())
    try:
        yield
    finally:
        task.cancel()


CALLS = (
    ToolCall("read_file", {"path": "notes.txt"}),
    ToolCall("read_file", {"path": "../../etc/passwd"}),
    ToolCall("write_file", {"path": "src/./../notes.txt"}),
    ToolCall("delete_file", {"path": "notes.txt"}),
    ToolCall("deploy", {}),
    ToolCall("write_file", {"path": "again.txt"}),
)
ANSWERS = (BUDGET, REFUSE)


async def verdicts() -> list[CheckResult]:
    """The verdicts on the calls, with two questions on the way."""
    policy = PathAndRisk("/srv/project", budget=3)
    run = RunRef("file-bot", "s-42")
    async with (
        Gate.open("memory://", run=run, policy=policy) as gate,
        someone_who_answers(gate, ANSWERS),
    ):
        return [await gate.check(call) for call in CALLS]


def main() -> None:
    """Print each verdict: what was said, about what, which line of the policy said it and why."""
    for verdict in asyncio.run(verdicts()):
        arguments = verdict.arguments.get("path", "")
        print(f"{verdict.outcome.value:9} {verdict.tool} {arguments}")
        print(f"          {verdict.line}: {verdict.reason}")


if __name__ == "__main__":
    main()
