"""Actors: who asks and who answers, as ``platform:account``."""

from __future__ import annotations

import re

LONGEST_ACTOR = 128
# An account that begins with @ is a group, which asks for nothing.
_ACTOR = re.compile(r"[a-z][a-z0-9_-]*:[^\s@:][^\s]*")


def check_actor(text: str) -> str:
    """The text, where it is an actor such as ``chat:alice``.

    Raises:
        ValueError: it is not one.
    """
    if len(text) > LONGEST_ACTOR or not text.isprintable() or not _ACTOR.fullmatch(text):
        raise ValueError(
            f"{text[:40]!r} is not an account; write platform:account, as in the approvers "
            "of a route"
        )
    return text
