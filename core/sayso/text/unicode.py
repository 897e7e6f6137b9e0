"""Whether text is Unicode: Python has strings that no JSON and no store can carry."""

from __future__ import annotations

import json
from typing import Any


def is_unicode(value: Any) -> bool:
    """Whether no string in a JSON value, its names included, holds half of a surrogate pair."""
    if isinstance(value, str) and value.isascii():
        return True
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True
