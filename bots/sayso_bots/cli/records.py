"""A request of the store as ``pending``, ``show`` and ``cancel`` print it: as words and as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from sayso.events import Resolution
from sayso.questions.wire import encode
from sayso.stores.protocols import Record
from sayso.text.secrets import redacted_text
from sayso.text.visible import on_one_line


def record_as_json(record: Record) -> Mapping[str, Any]:
    """What ``pending`` and ``show`` print of a request with ``--json``."""
    # Handles stay out: whoever knows one could forge a button.
    return {
        "requestId": record.request.question_id,
        "state": record.ending.outcome.value if record.ending else "open",
        "request": json.loads(encode(record.request)),
        "ending": json.loads(encode(record.ending)) if record.ending else None,
        "copies": [
            {
                "place": str(copy.place),
                "messageId": copy.message_id or None,
                "revealed": copy.revealed,
            }
            for copy in record.copies
        ],
    }


def ended_text(ending: Resolution) -> str:
    """How a request ended, on one line."""
    by = f" by {ending.decided_by}" if ending.decided_by else ""
    because = f": {one_line(redacted_text(ending.reason))}" if ending.reason else ""
    return f"{ending.outcome.value}{one_line(by)} at {time_text(ending.decided_at)}{because}"


def one_line(text: str) -> str:
    """Foreign text on one line, with what is invisible made visible."""
    return on_one_line(text)


def time_text(at: datetime) -> str:
    """A moment, in UTC."""
    return at.strftime("%Y-%m-%d %H:%M:%S UTC")


def json_time(at: datetime | None) -> str | None:
    """A moment as all JSON of the product writes it: in UTC, with a Z."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z") if at else None
