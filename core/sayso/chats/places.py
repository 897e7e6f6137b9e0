"""Where cards are shown, who presses, and what a press is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from sayso.forms.form_values import Inputs

_PLACE = re.compile(r"(?P<platform>[a-z]+):(?P<address>[^\s/]+)(?:/(?P<thread>[^\s/]+))?")


@dataclass(frozen=True, slots=True)
class Place:
    """A chat, and a thread or topic in it where one is given: ``platform:address/thread``."""

    platform: str
    address: str
    thread: str = ""

    @classmethod
    def parse(cls, text: str) -> Place:
        """The place in its written form, such as ``chat:ops``.

        Raises:
            ValueError: the text is not a place, or holds what nobody can see.
        """
        match = _PLACE.fullmatch(text)
        if match is None or not text.isprintable():
            raise ValueError(f"{text!r} is not a place such as chat:ops")
        return cls(match["platform"], match["address"], match["thread"] or "")

    def __str__(self) -> str:
        thread = f"/{self.thread}" if self.thread else ""
        return f"{self.platform}:{self.address}{thread}"


@dataclass(frozen=True, slots=True)
class MessageRef:
    """One message on a platform: where it stands and the platform's id for it."""

    place: Place
    message_id: str


@dataclass(frozen=True, slots=True)
class Press:
    """A verified button press, or a form that was sent off.

    ``message`` is where the pressed button stands. ``confirmed`` says that a
    second step was taken already. ``delivery`` identifies the callback where
    a repetition of it must be refused. ``ticket`` is what the platform gave
    to open a dialog for this press; it is a short-lived secret. ``inputs``
    are the raw values of a form, None when nothing was filled in.
    """

    handle: str
    choice: str
    actor: str
    message: MessageRef
    confirmed: bool = False
    delivery: str = ""
    ticket: str = field(default="", repr=False)
    inputs: Inputs | None = field(default=None, repr=False)


class Answered(Enum):
    """What became of a press.

    A recorded press shows on the card, unheard means that it was recorded and
    nobody waits for it right now. Forbidden means that a rule denies what was
    approved, and that was recorded. Asked means that the presser is asked to fill
    in a form, invalid that what was filled in does not fit.
    """

    RECORDED = "recorded"
    UNHEARD = "unheard"
    FORBIDDEN = "forbidden"
    LATE = "late"
    REFUSED = "refused"
    UNKNOWN = "unknown"
    CONFIRM = "confirm"
    SHOWN = "shown"
    ASKED = "asked"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class Answer:
    """What the presser is told; ``problems`` are those of a form, by the names of its fields."""

    kind: Answered
    text: str
    problems: Mapping[str, str] = field(default_factory=dict)
