"""Who asks, and for what: runs and tool calls."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import not_
from typing import Annotated, Any
from uuid import UUID

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel
from pydantic.dataclasses import dataclass as pydantic_dataclass

from sayso.errors import InvalidCallError

MAX_SESSION_LENGTH = 512
"""So many characters the id of a session has at most."""

LONGEST_STRING = 2**30
"""No bound that anybody meets: pydantic looks only at a bounded string whether it is Unicode."""


def new_id() -> str:
    """A random id of 135 bits or more, as 23 characters of base64url.

    It never begins with ``-``: people give ids to commands, which would take
    it for an option.
    """
    while (made := secrets.token_urlsafe(17)).startswith("-"):
        pass
    return made


def read_session_id(given: object) -> str:
    """Return the id of a session as text; an int and a UUID are read as they are written.

    Raises:
        InvalidCallError: it is anything else, empty, too long, or not valid Unicode.
    """
    what = "the session (conversation id)"
    if isinstance(given, int | UUID) and not isinstance(given, bool):
        given = str(given)
    if not isinstance(given, str):
        kind = type(given).__name__
        raise InvalidCallError(f"{what} is of type {kind}: name it with a string or an int")
    if not given:
        raise InvalidCallError(f"{what} is empty: name the conversation, or leave it out")
    if len(given) > MAX_SESSION_LENGTH:
        text = f"has {len(given)} characters: {MAX_SESSION_LENGTH} are possible"
        raise InvalidCallError(f"{what} {text}")
    try:
        given.encode()
    except UnicodeEncodeError:
        text = "is not valid UTF-8: half of a surrogate pair is in it"
        raise InvalidCallError(f"{what} {text}") from None
    return given


_ON_THE_WIRE = ConfigDict(
    alias_generator=to_camel,
    validate_by_name=True,
    validate_by_alias=True,
    str_max_length=LONGEST_STRING,
)


@pydantic_dataclass(frozen=True, slots=True, config=_ON_THE_WIRE)
class Project:
    """A project as its place identifies it: a folder on a host, and its repository's origin.

    ``origin`` is the address of the repository without credentials, empty where it has none.
    """

    host: str
    folder: str
    origin: str = ""

    def __str__(self) -> str:
        """The project on one line, as lists and the audit show it."""
        place = f"{self.host}:{self.folder}"
        return f"{place} ({self.origin})" if self.origin else place


@pydantic_dataclass(frozen=True, slots=True, config=_ON_THE_WIRE)
class RunRef:
    """One run: an agent works in a session, on a branch of it.

    Calls that come together share a card when all four are equal. ``run_id`` tells runs
    apart that work on one branch at the same time; most agents need none. ``project`` is
    what the agent works on, a place or a name that the agent gives: what people store for
    it holds in all of the agent's sessions on it. A name is never a place.

    Where ``is_named`` is false, ``session_id`` is no conversation that anybody named. Nothing
    is stored for such a session, unless it is the run itself: then it ends with the run.
    """

    agent_id: str
    session_id: str
    branch_id: str = "main"
    run_id: str = ""
    # Left out where there is none: it is written as it was before there were projects.
    project: Annotated[str | Project, Field(exclude_if=not_)] = ""
    is_named: Annotated[bool, Field(exclude_if=bool)] = True

    @property
    def can_remember(self) -> bool:
        """Return whether rules can be stored for its session: a conversation, or the run."""
        return bool(self.session_id) and (self.is_named or self.session_id == self.run_id)

    @property
    def project_text(self) -> str:
        """The project on one line: a place, or ``name:`` and a name; empty without one."""
        is_name = bool(self.project) and isinstance(self.project, str)
        return f"name:{self.project}" if is_name else str(self.project)

    def is_in_session_of(self, other: RunRef) -> bool:
        """Whether both work in the same session of the same agent."""
        return (self.agent_id, self.session_id) == (other.agent_id, other.session_id)


@pydantic_dataclass(frozen=True, slots=True)
class Folder:
    """Where an agent works, as it says itself: the root of its project.

    Relative paths begin in ``begins``, else at the root. With ``seen`` this process
    sees the agent's files, and follows links before it takes a path for one of a folder.
    """

    root: str
    begins: str = ""
    seen: bool = False


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool, before it runs.

    ``arguments`` must be expressible as JSON. ``call_id`` is the agent
    framework's own id where it has one, otherwise random. Without a ``folder``
    no rule about paths is about the call.
    """

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    call_id: str = field(default_factory=new_id)
    folder: Folder | None = None
