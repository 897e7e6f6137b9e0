"""A template as its parts, for platforms that show a gap as more than a string."""

from __future__ import annotations

from collections.abc import Iterator
from string import Formatter


def parts_of(template: str) -> Iterator[tuple[str, str]]:
    """Each piece of text with the name of the gap behind it, empty at the end."""
    for text, gap, _, _ in Formatter().parse(template):
        yield text, gap or ""
