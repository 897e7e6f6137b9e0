"""What is filled in, before a form reads it and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Raw = str | Sequence[str] | bool | None
"""What a platform gives for one field; None and "" are no answer.

A text, a number, a date (``2026-11-21``) or a moment is a string, a boolean is a
bool or ``true`` or ``false``, an option is its position in ``options`` as a
decimal string, options are a list of those. A list is a string with an item a
line, or a list of what stands for each item.
"""

Inputs = Mapping[str, Any]
"""Values by the names of their fields: raw on a press, read ones in an answer."""

NO_INPUTS: Inputs = {}
