"""Actors: who asks and who answers, as ``platform:account``."""

from __future__ import annotations

import re

LONGEST_ACTOR = 128
# An account that begins with @ is a group, which asks for nothing. One account is written in one
# way alone: in ASCII, without blanks, and a number without a plus or zeros before it.
_ACTOR = re.compile(r"[a-z][a-z0-9_-]*:(?!\+|0[0-9]+\Z)(?![@:])[!-~]+")


def is_actor(text: str) -> bool:
    """Whether it is plainly an account, such as ``chat:alice``, and no other way to write one."""
    return len(text) <= LONGEST_ACTOR and _ACTOR.fullmatch(text) is not None


def check_actor(text: str) -> str:
    """The text, where it is an actor such as ``chat:alice``.

    Raises:
        ValueError: it is not one.
    """
    if not isinstance(text, str) or not is_actor(text):
        shown = text[:40] if isinstance(text, str) else text
        raise ValueError(
            f"{shown!r:.60} is not an account; write platform:account, as in the approvers "
            "of a route"
        )
    return text
