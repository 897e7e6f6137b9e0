"""The server behind a client over HTTP: a process of its session, a shared one, an address."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import json
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from sayso.calls import new_id
from sayso_bots.mcp import messages
from sayso_bots.mcp.approvals import Server, Tell
from sayso_bots.mcp.messages import CANCELLED, Message, is_modern
from sayso_bots.mcp.stdio import Process
from sayso_bots.mcp.web import SESSION, VERSION, Peer, Web

MAX_SESSIONS = 100
SESSION_SECONDS = 3_600.0
"""A session that nobody has used for so long ends."""

_MAX_UNREAD = 1_000
_PASSED_ON = (SESSION, VERSION, "Authorization", "Last-Event-ID")
_PASSED_BACK = (SESSION, "WWW-Authenticate")
_SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


class NoSessionError(Exception):
    """The session that a client names is not known, or over: it has to begin anew."""


class TooManySessionsError(Exception):
    """All sessions that this process may have are in use."""


@dataclass
class Connection:
    """The server as one client speaks to it; ``session`` is empty where it has none."""

    server: Server
    session: str = ""

    @property
    def status(self) -> int:
        """The status of the last answer."""
        return self.server.status if isinstance(self.server, Peer) else 200

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers that go back to the client."""
        came = self.server.said if isinstance(self.server, Peer) else {}
        passed = {header: came[header] for header in _PASSED_BACK if header in came}
        return {SESSION: self.session, **passed} if self.session else passed


class Upstream(Protocol):
    """A server, as many clients reach it."""

    def connect(
        self, message: Message, headers: Mapping[str, str]
    ) -> AbstractAsyncContextManager[Connection]:
        """Connect the client of a message while the block runs.

        Raises:
            NoSessionError: it names a session that is over.
            TooManySessionsError: it cannot begin one now.
            ServerGoneError: the server cannot be started.
        """
        ...

    async def listen(self, headers: Mapping[str, str], tell: Tell) -> None:
        """Hand on what the server says by itself in a session."""
        ...

    async def end_session(self, headers: Mapping[str, str]) -> bool:
        """End a session; False where there is none."""
        ...

    async def close(self) -> None:
        """End all."""
        ...


@dataclass(frozen=True, slots=True)
class BuiltinUpstream:
    """A server in this process, which has no sessions and says nothing by itself."""

    server: Server

    @asynccontextmanager
    async def connect(
        self,
        message: Message,  # noqa: ARG002
        headers: Mapping[str, str],  # noqa: ARG002
    ) -> AsyncIterator[Connection]:
        """Connect all to the same."""
        yield Connection(self.server)

    async def listen(self, headers: Mapping[str, str], tell: Tell) -> None:
        """Hand on nothing."""

    async def end_session(self, headers: Mapping[str, str]) -> bool:  # noqa: ARG002
        """End nothing."""
        return False

    async def close(self) -> None:
        """Nothing is open."""


@dataclass(frozen=True, slots=True)
class HttpUpstream:
    """A server at an address, to which clients bring headers of their own."""

    web: Web

    @asynccontextmanager
    async def connect(
        self, message: Message, headers: Mapping[str, str]
    ) -> AsyncIterator[Connection]:
        """Connect with the headers of this request."""
        session = "" if is_modern(message) else headers.get(SESSION, "")
        yield Connection(self._peer(headers), session)

    async def listen(self, headers: Mapping[str, str], tell: Tell) -> None:
        """Hand on what it says by itself."""
        await self._peer(headers).listen(tell)

    async def end_session(self, headers: Mapping[str, str]) -> bool:
        """Tell it that a session is over."""
        await self._peer(headers).leave()
        return SESSION in headers

    async def close(self) -> None:
        """Reach it no more."""
        await self.web.close()

    def _peer(self, headers: Mapping[str, str]) -> Peer:
        return Peer(self.web, {name: headers[name] for name in _PASSED_ON if name in headers})


class _Session:
    """A process of one client of an older revision, and what it says that nobody has read."""

    def __init__(self, command: Sequence[str]) -> None:
        self.unread: asyncio.Queue[bytes] = asyncio.Queue(maxsize=_MAX_UNREAD)
        self.process = Process(command, self._keep)
        self.users = 0
        self.used_at = 0.0

    async def _keep(self, line: bytes) -> None:
        if self.unread.full():
            self.unread.get_nowait()
        self.unread.put_nowait(line)

    @property
    def is_busy(self) -> bool:
        """Return True while a client waits for it, or a request runs on it."""
        return self.users > 0 or self.process.is_busy


class ProcessUpstream:
    """A server that is a command: a process for each session, and one for all who have none.

    A session that was not used for long ends. Where there is no room for another one, the one
    that was used longest ago makes room.
    """

    def __init__(self, command: Sequence[str], env: Mapping[str, str]) -> None:
        self._command = command
        self._env = env
        self._sessions: OrderedDict[str, _Session] = OrderedDict()
        self._shared: _SharedProcess | None = None
        self._starting = asyncio.Lock()

    @asynccontextmanager
    async def connect(
        self, message: Message, headers: Mapping[str, str]
    ) -> AsyncIterator[Connection]:
        """Connect to the session's process, a new one for one that begins, or everybody's."""
        await self._end_idle()
        if is_modern(message):
            yield Connection(await self._start_shared())
            return
        name = headers.get(SESSION, "")
        if message.method == "initialize":
            name = await self._start_session()
        session = self._sessions.get(name)
        if session is None:
            raise NoSessionError
        async with self._use(name, session):
            yield Connection(session.process, name)

    async def listen(self, headers: Mapping[str, str], tell: Tell) -> None:
        """Hand on what the process of a session says by itself."""
        name = headers.get(SESSION, "")
        if (session := self._sessions.get(name)) is None:
            return
        async with self._use(name, session):
            while not session.process.ended.is_set():
                await tell(await session.unread.get())

    async def end_session(self, headers: Mapping[str, str]) -> bool:
        """End the process of a session."""
        session = self._sessions.pop(headers.get(SESSION, ""), None)
        if session is not None:
            await session.process.close()
        return session is not None

    async def close(self) -> None:
        """End all processes."""
        processes = [session.process for session in self._sessions.values()]
        if self._shared is not None:
            processes.append(self._shared.process)
        await asyncio.gather(*(process.close() for process in processes))

    @asynccontextmanager
    async def _use(self, name: str, session: _Session) -> AsyncIterator[None]:
        session.users += 1
        try:
            yield
        finally:
            session.users -= 1
            session.used_at = asyncio.get_running_loop().time()
            if name in self._sessions:
                self._sessions.move_to_end(name)

    async def _end_idle(self) -> None:
        """End the sessions that are over: their process has ended, or nobody uses them."""
        oldest = asyncio.get_running_loop().time() - SESSION_SECONDS
        over = [
            name
            for name, session in self._sessions.items()
            if session.process.ended.is_set() or (not session.is_busy and session.used_at < oldest)
        ]
        await asyncio.gather(*(self.end_session({SESSION: name}) for name in over))

    async def _start_session(self) -> str:
        if len(self._sessions) >= MAX_SESSIONS:
            idle = next((name for name, one in self._sessions.items() if not one.is_busy), None)
            if idle is None:
                raise TooManySessionsError
            await self.end_session({SESSION: idle})
        session = _Session(self._command)
        name = new_id()
        # It counts before it has started: others who begin at the same time need room, too.
        self._sessions[name] = session
        session.users += 1
        try:
            await session.process.start(self._env)
        except BaseException:
            del self._sessions[name]
            raise
        finally:
            session.users -= 1
        return name

    async def _start_shared(self) -> _SharedProcess:
        async with self._starting:
            if self._shared is None or self._shared.process.ended.is_set():
                shared = _SharedProcess(self._command)
                await shared.process.start(self._env)
                self._shared = shared
            return self._shared


@dataclass(frozen=True, slots=True)
class _Origin:
    """Whose request it is, what its id was, and what its news were to be known by."""

    tell: Tell
    id: str
    token: str | None


@dataclass
class _SharedProcess:
    """One process for clients that tell with each message who they are.

    Each request goes under an id of ours, and comes back under the client's.
    """

    command: Sequence[str]
    process: Process = field(init=False)
    _numbers: Any = field(default_factory=lambda: itertools.count(1))
    _origins: dict[str, _Origin] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.process = Process(self.command, self._route)

    async def request(self, raw: bytes, message: Message, tell: Tell) -> bytes:
        """Return the answer under the client's id; to cancel this withdraws the request."""
        name = json.dumps(f"sayso-{next(self._numbers)}")
        sent = messages.read(raw)
        params = messages.written(raw.decode(), "params") or "{}"
        token = messages.written(messages.written(params, "_meta") or "{}", "progressToken")
        line = sent.renamed(name)
        if token is not None and is_modern(sent):
            line = messages.read(line).with_meta(progressToken=name)
        self._origins[name] = _Origin(tell, message.id, token)
        try:
            said = await self.process.request(line, replace(message, id=name), tell)
        except BaseException:
            await self._withdraw(name)
            raise
        finally:
            del self._origins[name]
        return messages.edited(said.decode(), {"id": message.id}).encode()

    async def send(self, message: Message) -> None:
        """Send a notification; a client's words about the requests of others concern nobody."""
        if message.kind == "notification" and message.method != CANCELLED:
            await self.process.send(message)

    async def _route(self, line: bytes) -> None:
        """Hand on what the process says before an answer to whoever asked for that."""
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            return
        params = found.get("params") if isinstance(found, dict) else None
        if not isinstance(params, dict) or "id" in found:
            return
        meta = params.get("_meta")
        about = meta.get(_SUBSCRIPTION) if isinstance(meta, dict) else None
        for name in (json.dumps(params.get("progressToken")), json.dumps(about)):
            if (origin := self._origins.get(name)) is not None:
                await origin.tell(_rename_news(found, params, meta, origin))
                return

    async def _withdraw(self, name: str) -> None:
        line = messages.notification(CANCELLED, {"requestId": json.loads(name)})
        if not self.process.ended.is_set():
            await self.process.send(messages.read(line))


def _rename_news(
    found: Mapping[str, Any], params: Mapping[str, Any], meta: object, origin: _Origin
) -> bytes:
    """Return news under the names that the client knows."""
    theirs = dict(params)
    if "progressToken" in theirs and origin.token is not None:
        theirs["progressToken"] = json.loads(origin.token)
    if isinstance(meta, dict) and _SUBSCRIPTION in meta:
        theirs["_meta"] = {**meta, _SUBSCRIPTION: json.loads(origin.id)}
    return json.dumps({**found, "params": theirs}).encode()


def identify_principal(headers: Mapping[str, str]) -> str:
    """Return what tells apart those who prove who they are; empty where nobody does."""
    proof = headers.get("Authorization", "")
    known = proof.encode("utf-8", "surrogateescape")
    return hashlib.sha256(known).hexdigest()[:16] if proof else ""
