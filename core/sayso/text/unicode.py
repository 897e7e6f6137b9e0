"""Whether text is Unicode: Python has strings that no JSON and no store can carry."""

from __future__ import annotations

import json
from typing import Any


def is_unicode(value: Any) -> bool:
    """Return whether no string or name in a JSON value holds half of a surrogate pair.

    Not of a value that is nested too deeply to be looked through.
    """
    if isinstance(value, str) and value.isascii():
        return True
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except (UnicodeEncodeError, RecursionError):
        return False
    return True
