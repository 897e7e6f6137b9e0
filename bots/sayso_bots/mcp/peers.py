"""Which server a client over HTTP speaks to: its own where it has a session, else everybody's."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from sayso.calls import new_id
from sayso_bots.mcp.asking import Server, Tell
from sayso_bots.mcp.calls import is_modern
from sayso_bots.mcp.messages import Message
from sayso_bots.mcp.servers.headers import SESSION, VERSION
from sayso_bots.mcp.servers.process import Process
from sayso_bots.mcp.servers.shared import Shared
from sayso_bots.mcp.servers.web import Peer, Web

_log = logging.getLogger(__name__)

MOST_SESSIONS = 100
_MOST_UNHEARD = 1_000
_BEGINS = "initialize"
_PASSED_BACK = (SESSION, "WWW-Authenticate")


class NoSessionError(Exception):
    """The session that a client names is not known, or over: it has to begin anew."""


class TooManyError(Exception):
    """There are as many sessions as this process may have."""


@dataclass
class Side:
    """The server as one client over HTTP speaks to it; ``session`` is empty where it has none."""

    server: Server
    session: str = ""

    @property
    def status(self) -> int:
        """The status of the last answer."""
        return self.server.status if isinstance(self.server, Peer) else 200

    @property
    def headers(self) -> Mapping[str, str]:
        """What the client must be told besides the answer."""
        came = self.server.said if isinstance(self.server, Peer) else {}
        passed = {header: came[header] for header in _PASSED_BACK if header in came}
        return {SESSION: self.session, **passed} if self.session else passed


class Sides(Protocol):
    """Finds the server for each message."""

    async def side(self, message: Message, headers: Mapping[str, str]) -> Side:
        """The server as the client speaks to it.

        Raises:
            NoSessionError: it names a session that is over.
            TooManyError: it cannot begin one now.
            ServerGoneError: the server cannot be started.
        """
        ...

    async def listen(self, headers: Mapping[str, str], tell: Tell) -> bool:
        """Hand on what a server says by itself in a session; False where it has nothing to say."""
        ...

    async def leave(self, headers: Mapping[str, str]) -> bool:
        """End a session; False where there is none."""
        ...

    async def close(self) -> None:
        """End all."""
        ...


@dataclass(frozen=True, slots=True)
class Alone:
    """A server in this process, which says nothing by itself."""

    server: Server

    async def side(self, message: Message, headers: Mapping[str, str]) -> Side:  # noqa: ARG002
        """The same for all."""
        return Side(self.server)

    async def listen(self, headers: Mapping[str, str], tell: Tell) -> bool:  # noqa: ARG002
        """Nothing."""
        return False

    async def leave(self, headers: Mapping[str, str]) -> bool:  # noqa: ARG002
        """There are no sessions."""
        return False

    async def close(self) -> None:
        """Nothing is open."""


@dataclass
class AtAddress:
    """A server at an address: clients speak to it with headers of their own."""

    web: Web
    passes: Sequence[str] = (SESSION, VERSION, "Authorization", "Last-Event-ID")

    async def side(self, message: Message, headers: Mapping[str, str]) -> Side:
        """The server, with the headers of this request."""
        return Side(self._peer(headers), "" if is_modern(message) else headers.get(SESSION, ""))

    async def listen(self, headers: Mapping[str, str], tell: Tell) -> bool:
        """What it says by itself."""
        await self._peer(headers).listen(tell)
        return True

    async def leave(self, headers: Mapping[str, str]) -> bool:
        """Tell it that a session is over."""
        await self._peer(headers).leave()
        return SESSION in headers

    async def close(self) -> None:
        """Reach it no more."""
        await self.web.close()

    def _peer(self, headers: Mapping[str, str]) -> Peer:
        return Peer(self.web, {name: headers[name] for name in self.passes if name in headers})


@dataclass
class _Session:
    """A process of one client of an older revision, and what it says that nobody has heard."""

    process: Process
    unheard: asyncio.Queue[bytes] = field(
        default_factory=lambda: asyncio.Queue(maxsize=_MOST_UNHEARD)
    )


class InProcesses:
    """A server that is a command: a process for each session, and one for all who have none."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str]) -> None:
        self._command = command
        self._env = env
        self._sessions: dict[str, _Session] = {}
        self._shared: Shared | None = None
        self._starting = asyncio.Lock()

    async def side(self, message: Message, headers: Mapping[str, str]) -> Side:
        """The process of the client's session, a new one for one that begins, or everybody's."""
        if is_modern(message):
            return Side(await self._everybodys())
        if message.method == _BEGINS:
            return await self._begun()
        session = self._sessions.get(headers.get(SESSION, ""))
        if session is None or session.process.ended.is_set():
            raise NoSessionError
        return Side(session.process, headers[SESSION])

    async def listen(self, headers: Mapping[str, str], tell: Tell) -> bool:
        """What the process of a session says by itself."""
        session = self._sessions.get(headers.get(SESSION, ""))
        if session is None:
            return False
        while not session.process.ended.is_set():
            await tell(await session.unheard.get())
        return True

    async def leave(self, headers: Mapping[str, str]) -> bool:
        """End the process of a session."""
        session = self._sessions.pop(headers.get(SESSION, ""), None)
        if session is None:
            return False
        await session.process.close()
        return True

    async def close(self) -> None:
        """End all processes."""
        processes = [session.process for session in self._sessions.values()]
        if self._shared is not None:
            processes.append(self._shared.process)
        await asyncio.gather(*(process.close() for process in processes))

    async def _begun(self) -> Side:
        ended = [name for name, one in self._sessions.items() if one.process.ended.is_set()]
        for name in ended:
            await self._sessions.pop(name).process.close()
        if len(self._sessions) >= MOST_SESSIONS:
            raise TooManyError
        unheard: list[_Session] = []

        async def tell(line: bytes) -> None:
            queue = unheard[0].unheard
            if queue.full():
                queue.get_nowait()
            queue.put_nowait(line)

        session = _Session(Process(self._command, tell))
        unheard.append(session)
        await session.process.start(self._env)
        name = new_id()
        self._sessions[name] = session
        return Side(session.process, name)

    async def _everybodys(self) -> Shared:
        async with self._starting:
            if self._shared is None or self._shared.process.ended.is_set():
                found: list[Shared] = []

                async def tell(line: bytes) -> None:
                    await found[0].told(line)

                process = Process(self._command, tell)
                found.append(Shared(process))
                await process.start(self._env)
                self._shared = found[0]
            return self._shared


def principal_of(headers: Mapping[str, str]) -> str:
    """What tells apart those who prove to the server who they are; empty where nobody does."""
    proof = headers.get("Authorization", "")
    known = proof.encode("utf-8", "surrogateescape")
    return hashlib.sha256(known).hexdigest()[:16] if proof else ""
