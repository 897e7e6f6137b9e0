"""What is told on the bus and stored nowhere: where a question goes, who pressed, what grew."""

from __future__ import annotations

from typing import Literal

from sayso.calls import RunRef
from sayso.events import Event

PressKind = Literal["refused", "own_request", "shown_in_full", "form_opened"]


class RoutedNotice(Event):
    """A question has a route: where its card will be shown, and who may answer it there.

    ``approvers`` are named as in the settings: people, accounts and groups.
    """

    type: Literal["NOTICE_ROUTED"] = "NOTICE_ROUTED"
    source_name: str = ""
    question_id: str
    places: tuple[str, ...]
    approvers: tuple[str, ...]


class PressNotice(Event):
    """Somebody pressed a button, and the question stays open.

    Refused: this actor may not answer it. Own request: they asked for it, and somebody
    else has to approve it. Shown in full: the actor has seen
    all of it. Form opened: the choice takes more than a press, and the actor
    was asked for it.
    """

    type: Literal["NOTICE_PRESS"] = "NOTICE_PRESS"
    source_name: str = ""
    question_id: str
    kind: PressKind
    actor: str
    place: str
    choice: str


class MembersChangedEvent(Event):
    """Somebody was removed from a group of a platform, or counts no longer: read groups again."""

    type: Literal["MEMBERS_CHANGED"] = "MEMBERS_CHANGED"
    source_name: str = ""
    platform: str


class BranchGrewEvent(Event):
    """The bell of the logs: something was appended to that of this branch."""

    type: Literal["BRANCH_GREW"] = "BRANCH_GREW"
    source_name: str = ""
    agent_id: str
    session_id: str
    branch_id: str

    @classmethod
    def of(cls, run: RunRef) -> BranchGrewEvent:
        """The bell of the run's branch."""
        return cls(agent_id=run.agent_id, session_id=run.session_id, branch_id=run.branch_id)
