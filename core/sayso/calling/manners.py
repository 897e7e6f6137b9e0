"""What settings say about calling people: of a route, and of a person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sayso.calling.hours import Quiet

Notify = Literal["mention", "dm", "none"]
"""By a mention in the card's message, by a direct message with a link to it, or not at all."""


@dataclass(frozen=True, slots=True)
class Calling:
    """How a route calls those who may answer.

    ``remind`` are the seconds after which they are called again while the question is
    open. In its ``quiet`` hours it calls nobody.
    """

    notify: Notify = "mention"
    remind: tuple[float, ...] = ()
    quiet: Quiet | None = None


@dataclass(frozen=True, slots=True)
class Reach:
    """When a person can be called: not while they are ``away``, nor in their ``quiet`` hours."""

    away: bool = False
    quiet: Quiet | None = None
