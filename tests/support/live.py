"""Which messages still ask: a button that decides is live, and one that only looks does not."""

from __future__ import annotations

import re
from collections.abc import Iterable

LOOKS_BACK = re.compile("^(Revoke|Details|Back|Show all)")
"""The labels of buttons that look back at a question and decide on none."""


def is_live(buttons: Iterable[str]) -> bool:
    """Whether any of these labels decides on a question, and does not look back at one."""
    return any(LOOKS_BACK.match(label) is None for label in buttons)
