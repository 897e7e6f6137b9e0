"""Bearer tokens of the hosted API: made once, kept as hashes, compared in constant time."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

_PREFIX = "sayso_"
# A token of `sayso api token` has 49 characters. Its hash is quick to compute, which is safe only
# while nobody can guess it: whatever is shorter is refused, even if its hash is in the settings.
SHORTEST_TOKEN = 40
TOKEN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", re.ASCII)
SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)


@dataclass(frozen=True, slots=True)
class ApiToken:
    """One token as the settings know it. Several of one name are one caller while it rotates.

    ``agents`` are shell patterns of the agents it speaks for. ``answers_own``
    lets it answer what it has asked itself.
    """

    name: str
    sha256: str = field(repr=False)
    agents: tuple[str, ...]
    answers_own: bool = False

    @property
    def actor(self) -> str:
        """Who it is where it asks and answers."""
        return f"api:{self.name}"

    def speaks_for(self, agent_id: str) -> bool:
        """Whether the token is meant for the agent."""
        return any(fnmatchcase(agent_id, pattern) for pattern in self.agents)


@dataclass(frozen=True, slots=True)
class ApiSettings:
    """The hosted API: who may call it, and from which pages."""

    tokens: tuple[ApiToken, ...]
    origins: frozenset[str] = frozenset()
    per_second: int = 50


def new_token() -> str:
    """A new random token of 256 bits."""
    return _PREFIX + secrets.token_urlsafe(32)


def token_hash(token: str) -> str:
    """What the settings hold of a token: its SHA-256 in hex."""
    return hashlib.sha256(token.encode()).hexdigest()


def known_token(tokens: Sequence[ApiToken], presented: str) -> ApiToken | None:
    """Whose token was presented. Takes the same time wherever the hashes differ."""
    if len(presented) < SHORTEST_TOKEN or not presented.isascii():
        return None
    found = None
    presented_hash = token_hash(presented)
    for token in tokens:
        if hmac.compare_digest(token.sha256, presented_hash):
            found = token
    return found
