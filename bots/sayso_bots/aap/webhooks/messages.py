"""How a message is written."""

from __future__ import annotations

import json
from collections.abc import Mapping


def written(message: Mapping[str, str]) -> bytes:
    """A message as it is sent and signed: the same bytes for the same words."""
    return json.dumps(message, separators=(",", ":")).encode()
