"""What everybody did and was told while things went wrong; what it comes to is judged later."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from sayso import Outcome
from sayso.events import Event, Resolution, UserInputRequest
from sayso.questions.permission import PermissionRequestEvent
from sayso.questions.permission_answer import PermissionApprovedEvent, PermissionDeniedEvent

_MARKER = re.compile(r"item-\d{6}")
_CALLS_A_SESSION = 12
REQUEST_LOST = "the request was lost"
"""Stands in ``Told.error`` where an error names the request that the store lost."""
_REMEMBERED = ("Always", "Whole tool")


@dataclass(frozen=True, slots=True)
class Told:
    """What an agent heard of a question in the end: an outcome, or an error's name.

    ``late`` is by how many seconds its timeout was overrun, without those that
    the machine was late. ``unasked`` says that no person was needed.
    """

    marker: str
    door: str
    late: float
    outcome: Outcome | None = None
    error: str = ""
    unasked: bool = False


@dataclass
class Ledger:
    """Everything by the marker that each question has in its words."""

    told: list[Told] = field(default_factory=list)
    ids: dict[str, str] = field(default_factory=dict)
    """Question ids with their markers, as the agents' own processes saw them opened."""
    permissions: list[str] = field(default_factory=list)
    """Ids of questions that a yes or no answers, as they were opened."""
    said_yes: set[str] = field(default_factory=set)
    """Markers on messages on which an approver pressed anything but a denial."""
    said_always: set[str] = field(default_factory=set)
    """Sessions in which an approver pressed what is remembered."""
    observed: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Question ids with the outcomes that observers in another process heard of."""
    counts: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    """Errors that no agent should see."""
    asked_so_far: int = 0

    def marker(self) -> str:
        """Words that no other question has in it."""
        self.asked_so_far += 1
        return f"item-{self.asked_so_far - 1:06d}"

    def asked(self, event: Event) -> None:
        """An agent's own process told of an event."""
        if isinstance(event, UserInputRequest) and (found := markers(event.model_dump_json())):
            self.ids[event.question_id] = found[0]
            if isinstance(event, PermissionRequestEvent):
                self.permissions.append(event.question_id)

    def heard(self, event: Event) -> None:
        """An observer in another process heard of an event."""
        match event:
            case PermissionApprovedEvent() | PermissionDeniedEvent():
                self.observed[event.permission_id].add(event.type)
            case Resolution():
                self.observed[event.question_id].add(type(event).model_fields["type"].default)

    def pressed_yes(self, text: str, label: str) -> None:
        """An approver is about to press something other than a denial on a message."""
        for marker in markers(text):
            self.said_yes.add(marker)
            if label.startswith(_REMEMBERED):
                self.said_always.add(session_of(marker))


def markers(text: str) -> list[str]:
    """The markers in a text, in order."""
    return _MARKER.findall(text)


def session_of(marker: str) -> str:
    """The session that asks the question; what a session remembers has an end soon."""
    return f"s-{int(marker.removeprefix('item-')) // _CALLS_A_SESSION}"
