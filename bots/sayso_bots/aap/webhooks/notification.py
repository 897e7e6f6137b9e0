"""What a receiver is told of the end of a request: the same bytes, however often and to whom."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime

from sayso_bots.aap.webhooks.messages import written

_EVENTS = uuid.UUID("7f0d3a5e-3c0b-4d61-9c8e-0b5f6a1f4c52")


@dataclass(frozen=True, slots=True)
class Notification:
    """The end of a request of an instance.

    ``decided_at`` is the moment as the answers write it. ``line`` is that of the
    receivers that it is meant for: those that took each other's place without a gap.
    """

    instance_id: str
    request_id: str
    decided_at: str
    line: str

    @property
    def name(self) -> str:
        """It as an errand: nothing else has to be kept of it."""
        return f"{self.instance_id} {self.request_id} {self.decided_at} {self.line}"

    @classmethod
    def parse(cls, name: str) -> Notification:
        """The notification of an errand."""
        return cls(*name.split(" "))

    @property
    def at(self) -> datetime:
        """When the request ended."""
        return datetime.fromisoformat(self.decided_at)

    @property
    def event_id(self) -> str:
        """The same at each try, in each process: a request ends once."""
        return str(uuid.uuid5(_EVENTS, f"{self.instance_id} {self.request_id}"))

    @property
    def body(self) -> bytes:
        """What is sent and signed."""
        return written(
            {
                "id": self.event_id,
                "type": "request.resolved",
                "instance_id": self.instance_id,
                "request_id": self.request_id,
                "created_at": self.decided_at,
            }
        )
