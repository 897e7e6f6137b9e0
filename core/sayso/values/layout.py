"""JSON laid out on lines: what stands in it is neither read nor written anew."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[\]{},:]|[^\s"\[\]{},:]+')


def laid_out(text: str) -> str | None:
    """JSON with a line for each member, every name, string and number as it was written.

    None where the text is no JSON object or array, or too deep to tell.
    """
    begins = text.lstrip()[:1]
    if begins not in ("{", "["):
        return None
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return None
    return "".join(_pieces(_TOKEN.findall(text)))


def _pieces(pieces: list[str]) -> Iterator[str]:
    depth = 0
    before = ""
    for piece in pieces:
        if piece in ("]", "}"):
            depth -= 1
            if before not in ("[", "{"):
                yield _line(depth)
        elif before in ("[", "{", ","):
            yield _line(depth)
        elif before == ":":
            yield " "
        yield piece
        if piece in ("[", "{"):
            depth += 1
        before = piece


def _line(depth: int) -> str:
    return "\n" + "  " * depth
