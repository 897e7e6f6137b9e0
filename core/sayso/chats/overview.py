"""What one person sees of all questions: what waits for them, their rules, the last decisions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sayso.chats.caller import Waiting


@dataclass(frozen=True, slots=True)
class Remembered:
    """A rule that somebody may revoke. ``tool``, ``what`` and ``agent`` are an agent's words.

    ``what`` says which calls of the tool are meant; empty where it is all of them.
    """

    rule_id: str
    tool: str
    what: str
    agent: str
    allows: bool
    stored_by: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Decided:
    """Something that was decided; ``subject`` and ``agent`` are an agent's words."""

    at: datetime
    outcome: str
    subject: str
    agent: str
    by: str


@dataclass(frozen=True, slots=True)
class Overview:
    """All that one person may know, the oldest question first; ``more`` is what is left out.

    ``language`` is what it is told in.
    """

    waiting: tuple[Waiting, ...] = ()
    more_waiting: int = 0
    rules: tuple[Remembered, ...] = ()
    more_rules: int = 0
    decisions: tuple[Decided, ...] = ()
    language: str = ""
