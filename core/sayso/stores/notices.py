"""What a desk tells whoever waits for an answer before there is one."""

from __future__ import annotations

import json
from typing import Literal

from sayso.calls import RunRef
from sayso.events import Event

PressKind = Literal["refused", "shown_in_full", "form_opened"]


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

    Refused: this actor may not answer it. Shown in full: the actor has seen
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


def notice_topic(run: RunRef) -> str:
    """The topic on which the run's branch is told; at most once, and nothing depends on it."""
    return "notices:" + json.dumps([run.agent_id, run.session_id, run.branch_id])
