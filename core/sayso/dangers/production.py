"""Names of production, as whole words in short values."""

from __future__ import annotations

import re

_LONGEST = 300
_PRODUCTION = re.compile(
    r"(?<![A-Za-z0-9])(?<!(?:non|pre|not)[-_.])(?:prod|production|prd|produktion)[0-9]{0,3}"
    r"(?![A-Za-z0-9])|(?<=[a-z0-9])(?:Prod|Production)(?![a-z])",
    re.IGNORECASE,
)
_LIVE_KEYS = re.compile(r"\b[spr]k_live_")


def is_production(text: str) -> bool:
    """Whether a short value names production. In a text of several words it is talked about."""
    if len(text) > _LONGEST or any(map(str.isspace, text)):
        return False
    return bool(_PRODUCTION.search(text) or _LIVE_KEYS.search(text))
