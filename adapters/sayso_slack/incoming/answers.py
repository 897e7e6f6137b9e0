"""What a callback is answered with, whichever way it came."""

from __future__ import annotations

import json
from dataclasses import dataclass
from http import HTTPStatus


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """Status, body and its content type."""

    status: int
    body: str = ""
    content_type: str = "text/plain"


DONE = HttpAnswer(200)
"""docs.slack.dev, handling user interaction: 200 with an empty body acknowledges a press."""


def problem(status: HTTPStatus, detail: str) -> HttpAnswer:
    """An error as ``application/problem+json``."""
    body = {"title": status.phrase, "status": status.value, "detail": detail}
    return HttpAnswer(status.value, json.dumps(body), "application/problem+json")
