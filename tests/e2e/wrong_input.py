"""What is asked where people answer wrongly, in whichever chat."""

from __future__ import annotations

from typing import Any

from sayso import ToolCall

CALL = ToolCall("deploy", {"environment": "production", "release": 42})
WHERE = "Which region should the replica run in?"
NOT_YOURS = "You may not decide this one. It stays open."

# A form with a part that may be left out, but not filled in by half.
HALF: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Name"},
        "to": {
            "type": "object",
            "title": "To",
            "properties": {
                "street": {"type": "string", "title": "Street"},
                "floor": {"type": "integer", "title": "Floor"},
            },
            "required": ["street"],
        },
    },
    "required": ["name"],
}
