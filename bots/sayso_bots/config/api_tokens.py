"""[api] and [[api.token]]: who may call the hosted API. Without a token it is off."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainValidator

from sayso.platforms.platform import Section
from sayso.text.agents import printable, shown
from sayso.worker.routing import Routes
from sayso_bots.config.source import Flag, Source, count_up_to, holds_api_token

TOKEN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", re.ASCII)
_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)
_ORIGIN = re.compile(r"https?://[a-z0-9.-]+(?::\d{1,5})?|https?://\[[0-9a-f:]+\](?::\d{1,5})?")
_PREFIX = "sayso_"
# A token of `sayso api token` has 49 characters. Its hash is quick to compute, which is safe only
# while nobody can guess it: whatever is shorter is refused, even if its hash is in the settings.
_MIN_LENGTH = 40


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
        """The actor that it is where it asks and answers."""
        return f"api:{self.name}"

    def speaks_for(self, agent_id: str) -> bool:
        """Return True if the token is meant for the agent."""
        return any(fnmatchcase(agent_id, pattern) for pattern in self.agents)


@dataclass(frozen=True, slots=True)
class ApiSettings:
    """The hosted API: who may call it, and from which pages."""

    tokens: tuple[ApiToken, ...]
    origins: frozenset[str] = frozenset()
    per_second: int = 50


def new_token() -> str:
    """Make a random token of 256 bits."""
    return _PREFIX + secrets.token_urlsafe(32)


def hash_token(token: str) -> str:
    """Return what the settings hold of a token: its SHA-256 in hex."""
    return hashlib.sha256(token.encode()).hexdigest()


def find_token(tokens: Sequence[ApiToken], presented: str) -> ApiToken | None:
    """Find whose token was presented. Takes the same time wherever the hashes differ."""
    if len(presented) < _MIN_LENGTH or not presented.isascii():
        return None
    found = None
    presented_hash = hash_token(presented)
    for token in tokens:
        if hmac.compare_digest(token.sha256, presented_hash):
            found = token
    return found


def _check_origin(value: object) -> str:
    if not isinstance(value, str) or not _ORIGIN.fullmatch(value):
        raise ValueError("is not an origin such as https://dashboard.example.com, without a path")
    return value


class ApiSection(Section):
    """[api], its tokens not looked at yet."""

    token: Any = ()
    origins: tuple[Annotated[str, PlainValidator(_check_origin)], ...] = ()
    per_second: Annotated[int, count_up_to(10_000)] = 50


class ApiTokenSection(Section):
    """[[api.token]]; the form of ``sha256`` is checked where it is not shown."""

    name: str
    sha256: Annotated[str, BeforeValidator(lambda value: value if isinstance(value, str) else "")]
    agents: tuple[str, ...]
    answers_own: Flag = False


def read_api(source: Source) -> ApiSettings | None:
    """Read the hosted API, None where no token is configured. What is wrong is noted."""
    if "api" not in source.sections:
        return None
    section = source.read_section(ApiSection, "api")
    written = source.get(("api", "token"), [])
    if not isinstance(written, list):
        source.add_problem(("api", "token"), "must be written with two brackets: [[api.token]]")
        written = []
    tokens = [
        token
        for number in range(len(written))
        if (token := _read_token(source, number)) is not None
    ]
    _check_names(source, tokens)
    if section is None or not tokens:
        return None
    return ApiSettings(tuple(tokens), frozenset(section.origins), section.per_second)


def list_api_warnings(source: Source, api: ApiSettings | None) -> tuple[str, ...]:
    """List what may be a mistake, although nothing is wrong."""
    if "api" not in source.sections or api is not None:
        return ()
    text = "[api] has no [[api.token]], so the hosted API is off; `sayso api token NAME` makes one"
    return (text,)


def check_api_approvers(source: Source, routes: Routes, api: ApiSettings | None) -> None:
    """See that every ``api:NAME`` of approvers and people is a token of the settings."""
    known = {token.actor for token in api.tokens} if api is not None else set()
    for person, accounts in routes.people.items():
        for account in sorted(accounts):
            if account.startswith("api:") and account not in known:
                source.add_problem(
                    ("people", person, "api"),
                    f"names {shown(account.partition(':')[2])}, but no [[api.token]] has this name",
                )
    for number, route in enumerate(routes.routes):
        for index, approver in enumerate(route.approvers):
            if approver.startswith("api:") and approver not in known:
                name = approver.partition(":")[2]
                source.add_problem(
                    ("route", number, "approvers", index),
                    f"names {shown(approver)}, but no [[api.token]] has this name; "
                    f"`sayso api token {printable(name)}` makes one",
                )


def _read_token(source: Source, number: int) -> ApiToken | None:
    path = ("api", "token", number)
    section = source.read_section(ApiTokenSection, *path)
    if section is None:
        return None
    problems = {}
    if not TOKEN_NAME.fullmatch(section.name):
        problems["name"] = "must be 1 to 64 letters, digits and _ . -; the actor is api:NAME"
    if not _SHA256.fullmatch(section.sha256):
        # Never quoted: it may be the token itself.
        problems["sha256"] = (
            "is not the SHA-256 of a token in 64 hex digits; "
            "`sayso api token NAME` prints this line"
        )
    if not section.agents or not all(section.agents):
        problems["agents"] = 'names no agent; add agents = ["deploy-*"], or ["*"] for all'
    for key, text in problems.items():
        source.add_problem((*path, key), text)
    # That a name holds a token was noted when the file was read.
    is_wrong = problems or holds_api_token(section.name)
    return None if is_wrong else ApiToken(**dict(section))


def _check_names(source: Source, tokens: list[ApiToken]) -> None:
    """Tokens of one name are one caller, so they may do the same."""
    first: dict[str, ApiToken] = {}
    hashes: set[str] = set()
    for number, token in enumerate(tokens):
        other = first.setdefault(token.name, token)
        if (other.agents, other.answers_own) != (token.agents, token.answers_own):
            text = f"differs in agents or answers_own from another token named {token.name}"
            source.add_problem(
                ("api", "token", number), f"{text}; give it a name of its own, or the same values"
            )
        if token.sha256 in hashes:
            source.add_problem(("api", "token", number, "sha256"), "appears twice; remove one")
        hashes.add(token.sha256)
