"""What the agent's side gets: may the call run, with which arguments, and who said so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from assent.events import Outcome


@dataclass(frozen=True, slots=True)
class Verdict:
    """The end of one question, or a policy's own decision.

    ``arguments`` are those to run with. ``line`` says what decided: a line of
    the policy, or ``person`` when somebody was asked.
    """

    outcome: Outcome
    tool: str
    arguments: Mapping[str, Any]
    reason: str = ""
    line: str = "person"
    permission_id: str | None = None
    decided_by: str | None = None
    decided_at: datetime | None = None

    @property
    def approved(self) -> bool:
        """Whether the call may run."""
        return self.outcome is Outcome.APPROVED

    def as_tool_result(self) -> str:
        """For the agent, in place of the tool's result: what happened and why."""
        said = {
            Outcome.APPROVED: "was approved",
            Outcome.DENIED: "was denied",
            Outcome.EXPIRED: "was not approved: nobody answered in time",
            Outcome.CANCELLED: "was not approved: the question was cancelled",
            Outcome.UNDELIVERABLE: "was not approved: nobody could be asked",
        }[self.outcome]
        by = f" by {self.decided_by}" if self.decided_by else ""
        because = f": {self.reason}" if self.reason and self.reason not in said else ""
        ran = "" if self.approved else " It did not run."
        return f"The call of {self.tool} {said}{by}{because}.{ran}"
