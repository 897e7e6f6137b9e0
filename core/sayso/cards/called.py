"""Whom the message of a card calls when it is posted."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Called:
    """Somebody to be called: an actor, or a group as the platform knows it, and their name."""

    actor: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """What a message does to be noticed: whom it mentions, and whether it makes a sound.

    ``lead`` are the words before the mentions; ``note`` says why nobody is called. All of it is
    ours or from the settings, and nothing from an agent.
    """

    people: tuple[Called, ...] = ()
    lead: str = ""
    quietly: bool = False
    note: str = ""


NOBODY = Call()
"""A message that calls nobody."""
