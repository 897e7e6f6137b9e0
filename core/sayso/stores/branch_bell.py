"""The bell of the logs: it tells whoever follows branches that one of them grew."""

from __future__ import annotations

from typing import Literal

from sayso.calls import RunRef
from sayso.events import Event


class BranchGrewEvent(Event):
    """The bell: something was appended to the log of this branch."""

    type: Literal["BRANCH_GREW"] = "BRANCH_GREW"
    source_name: str = ""
    agent_id: str
    session_id: str
    branch_id: str

    @classmethod
    def of(cls, run: RunRef) -> BranchGrewEvent:
        """The bell of the run's branch."""
        return cls(agent_id=run.agent_id, session_id=run.session_id, branch_id=run.branch_id)
