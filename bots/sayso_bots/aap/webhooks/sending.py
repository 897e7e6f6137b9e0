"""One try to reach a receiver: its address is checked, then connected to; ten seconds at most."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from ipaddress import ip_address

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from sayso.clock import Clock, utc_now
from sayso_bots.aap.webhooks.networks import Reach
from sayso_bots.aap.webhooks.pace import read_retry_after
from sayso_bots.aap.webhooks.receiver import Receiver
from sayso_bots.aap.webhooks.resolving import Resolve, resolved
from sayso_bots.aap.webhooks.signing import signed_headers

TRY_SECONDS = 10.0
"""From the look-up of the name to the last byte of the answer that is read."""
MOST_ANSWER = 4096
"""Bytes of an answer that are read, but for one more that says it is too long."""


class NotPublicError(Exception):
    """An address of the receiver is not one that may be connected to."""


class UnreachedError(Exception):
    """Nothing came back in time. The text is for the log, and names no more than the host."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back: a status, the beginning of a body, and when to try again if that was said."""

    status: int
    body: bytes = b""
    retry_after: float | None = None

    @property
    def is_success(self) -> bool:
        """Whether the receiver has taken it."""
        return 200 <= self.status < 300


class Sender:
    """Sends signed messages, each over a connection of its own. It follows no redirect."""

    def __init__(
        self,
        reach: Reach,
        tls: ssl.SSLContext,
        *,
        resolve: Resolve = resolved,
        clock: Clock = utc_now,
        seconds: float = TRY_SECONDS,
    ) -> None:
        self._reach = reach
        self._tls = tls
        self._resolve = resolve
        self._clock = clock
        self._seconds = seconds

    async def send(self, receiver: Receiver, message_id: str, body: bytes) -> Reply:
        """Post the message, signed at this moment.

        Raises:
            NotPublicError: the receiver's name leads to an address that is not public.
            UnreachedError: it cannot be reached, is not who it says, or is too slow.
        """
        try:
            async with asyncio.timeout(self._seconds):
                addresses = await self._addresses(receiver)
                return await self._posted(receiver, addresses, message_id, body)
        except TimeoutError:
            raise UnreachedError(f"no answer within {self._seconds:g} s") from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            # The text of others may quote the address with all that stands in it.
            raise UnreachedError(f"it cannot be reached ({type(error).__name__})") from None

    async def check(self, receiver: Receiver) -> None:
        """See that the receiver's name leads to public addresses only, where it leads anywhere.

        Raises:
            NotPublicError: it does not.
        """
        try:
            async with asyncio.timeout(self._seconds):
                await self._addresses(receiver)
        except OSError:  # a name that nobody knows, or nobody who answers: the try will tell
            return

    async def _addresses(self, receiver: Receiver) -> Sequence[str]:
        addresses = await self._resolve(receiver.host, receiver.port)
        if not all(map(self._reach.allows, addresses)):
            raise NotPublicError("it leads to an address that is not public")
        return addresses

    async def _posted(
        self, receiver: Receiver, addresses: Sequence[str], message_id: str, body: bytes
    ) -> Reply:
        headers = {
            "Content-Type": "application/json",
            "Accept-Encoding": "identity",
            "User-Agent": "sayso",
            **signed_headers(receiver, message_id, body, self._clock()),
        }
        async with (
            self._session(addresses) as session,
            session.post(
                URL(receiver.url, encoded=True), data=body, headers=headers, allow_redirects=False
            ) as answer,
        ):
            read = await _beginning(answer) if answer.status == 200 else b""
            after = None
            if answer.status in (429, 503):
                after = read_retry_after(answer.headers.get("Retry-After"), self._clock())
            return Reply(answer.status, read, after)

    @asynccontextmanager
    async def _session(self, addresses: Sequence[str]) -> AsyncIterator[aiohttp.ClientSession]:
        """A session for one connection, to these addresses and no others."""
        connector = aiohttp.TCPConnector(
            resolver=_Known(addresses), ssl=self._tls, use_dns_cache=False, force_close=True
        )
        nothing = aiohttp.ClientTimeout(total=None)  # it rounds up: the limit is ours
        async with aiohttp.ClientSession(
            connector=connector,
            timeout=nothing,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
        ) as session:
            yield session


class _Known(AbstractResolver):
    """Knows the checked addresses, whatever a name server would say by now."""

    def __init__(self, addresses: Sequence[str]) -> None:
        self._addresses = addresses

    async def resolve(
        self,
        host: str,
        port: int = 0,
        family: socket.AddressFamily = socket.AF_UNSPEC,  # noqa: ARG002  each has its own
    ) -> list[ResolveResult]:
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ip_address(address).version == 6 else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for address in self._addresses
        ]

    async def close(self) -> None:
        """Nothing is held."""


async def _beginning(answer: aiohttp.ClientResponse) -> bytes:
    """As much of the body as can matter, and one byte more."""
    read = bytearray()
    while len(read) <= MOST_ANSWER and (chunk := await answer.content.read(MOST_ANSWER + 1)):
        read += chunk
    return bytes(read[: MOST_ANSWER + 1])
