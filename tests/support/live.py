"""Which messages still ask: a button that decides is live, and neither Revoke nor Details do."""

from __future__ import annotations

import re
from collections.abc import Iterable

LOOKS_BACK = re.compile("^(Revoke|Details)")
"""The labels of buttons that look back at a question and decide on none."""


def is_live(buttons: Iterable[str]) -> bool:
    """Whether any of these labels decides on a question, and does not look back at one."""
    return any(LOOKS_BACK.match(label) is None for label in buttons)
