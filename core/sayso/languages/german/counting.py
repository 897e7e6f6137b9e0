"""How German writes numbers and times, and sentences that count."""

from __future__ import annotations

from sayso.formats import Formats
from sayso.text.counted import Counted

FORMATS = Formats(".", ",", "{at:%d.%m.%Y, %H:%M} UTC")


def counted(one: str, other: str) -> Counted:
    """A sentence for one, and one for any other number."""
    return Counted(one, other, FORMATS)
