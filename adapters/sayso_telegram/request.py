"""How calls reach the Bot API: aiohttp's client behind python-telegram-bot's request interface."""

from __future__ import annotations

import io
import json
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import urlsplit

import aiohttp
import httpx
from aiohttp import ClientTimeout
from pydantic_core import from_json, to_json
from telegram.error import NetworkError, TelegramError, TimedOut
from telegram.request import BaseRequest, HTTPXRequest, RequestData

from sayso.errors import ConfigError
from sayso_telegram.failures import FloodError, RedirectedError

ANSWER_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class Patience:
    """How many seconds each part of a call may take; a free connection is one of many."""

    free_connection: float = 10.0
    connect: float = 5.0
    write: float = 10.0
    # The largest file that is revealed, over a line of 64 kilobytes a second.
    write_file: float = 60.0
    answer: float = ANSWER_SECONDS


_PATIENCE = Patience()
_MOST_CONNECTIONS = 256
_UNTOLD_SECONDS = 3.0
_JSON = {"Content-Type": "application/json", "User-Agent": BaseRequest.USER_AGENT}
_FORM = {"User-Agent": BaseRequest.USER_AGENT}


def request_for(url: str) -> BaseRequest:
    """What makes calls to this address, through the proxy that the environment names for it.

    Raises:
        ConfigError: the proxy cannot be used.
    """
    proxy = proxy_for(url)
    if not proxy.startswith("socks"):
        return AiohttpRequest(proxy)
    try:
        return _SocksRequest(proxy)
    except RuntimeError as error:  # its extra is not installed
        raise ConfigError(
            "calls to Telegram are to go through a SOCKS proxy (HTTPS_PROXY or ALL_PROXY): "
            'install "python-telegram-bot[socks]", or name an HTTP proxy'
        ) from error


def proxy_for(url: str) -> str:
    """The proxy that the environment or the system names for this address; "" for none."""
    parts = urlsplit(url)
    proxies: Mapping[str, str] = urllib.request.getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all") or ""
    if not proxy or urllib.request.proxy_bypass(parts.netloc.rpartition("@")[2]):
        return ""
    return proxy if "://" in proxy else f"http://{proxy}"


class PlainData:
    """Arguments of a call that are JSON values already: python-telegram-bot's RequestData."""

    contains_files = False
    multipart_data: Mapping[str, Any] = MappingProxyType({})

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self.parameters = parameters

    @property
    def json_parameters(self) -> dict[str, str]:
        """Each value as it stands in a form."""
        return {
            name: value if isinstance(value, str) else json.dumps(value)
            for name, value in self.parameters.items()
        }


class AiohttpRequest(BaseRequest):
    """Calls over one aiohttp session, a fifth of what they cost over httpx.

    It follows no redirect: the token is in the path of every URL. Every call ends in time, also
    where the other end answers byte by byte.
    """

    __slots__ = ("_connections", "_patience", "_proxy", "_session")

    def __init__(
        self,
        proxy: str = "",
        *,
        patience: Patience = _PATIENCE,
        connections: int = _MOST_CONNECTIONS,
    ) -> None:
        self._proxy = proxy or None
        self._patience = patience
        self._connections = connections
        self._session: aiohttp.ClientSession | None = None

    @property
    def read_timeout(self) -> float:
        """How long an answer may take where a call does not say."""
        return self._patience.answer

    async def initialize(self) -> None:
        """Make the session; nothing is connected."""
        if self._session is None or self._session.closed:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=self._connections, ssl=_tls()),
                cookie_jar=aiohttp.DummyCookieJar(),
                proxy=self._proxy,
            )

    async def shutdown(self) -> None:
        """Close every connection."""
        if self._session is not None:
            await self._session.close()

    @staticmethod
    def parse_json_payload(payload: bytes) -> dict[str, Any]:
        """The answer; no word of one that cannot be read is written to the log.

        Raises:
            TelegramError: it is no JSON object.
        """
        try:
            answer = _read(payload)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise TelegramError("Invalid server response")
        return answer

    async def do_request(
        self,
        url: str,
        method: str,
        request_data: RequestData | None = None,
        read_timeout: Any = BaseRequest.DEFAULT_NONE,
        write_timeout: Any = BaseRequest.DEFAULT_NONE,  # noqa: ARG002  the kind of body says it
        connect_timeout: Any = BaseRequest.DEFAULT_NONE,  # noqa: ARG002  the same for all
        pool_timeout: Any = BaseRequest.DEFAULT_NONE,  # noqa: ARG002  the same for all
    ) -> tuple[int, bytes]:
        """Make the call; the HTTP status and the body.

        Raises:
            TimedOut: it took too long.
            NetworkError: the connection was not made, or broke.
            FloodError: Telegram wants to be left alone for a while.
            RedirectedError: the answer sends us elsewhere.
        """
        if self._session is None or self._session.closed:
            raise NetworkError("the client is closed")
        has_files = request_data is not None and request_data.contains_files
        unsaid = read_timeout is BaseRequest.DEFAULT_NONE
        seconds = self._patience.answer if unsaid else read_timeout
        try:
            async with self._session.request(
                method,
                url,
                data=_body(request_data),
                headers=_FORM if has_files else _JSON,
                timeout=_timeout(self._patience, seconds, has_files),
                allow_redirects=False,
            ) as answer:
                return _checked(answer.status, await answer.read())
        except TimeoutError:  # its words may quote the URL, and so the token
            raise TimedOut from None
        except aiohttp.ClientResponseError as error:
            raise NetworkError(f"{type(error).__name__}: HTTP {error.status}") from None
        except aiohttp.InvalidURL:  # its words are the URL
            raise NetworkError("the address of the Bot API is no URL") from None
        except (aiohttp.ClientError, OSError) as error:
            raise NetworkError(f"{type(error).__name__}: {error}") from error


class _SocksRequest(HTTPXRequest):
    """Calls through a SOCKS proxy, which httpx speaks and aiohttp does not."""

    def __init__(self, proxy: str) -> None:
        super().__init__(
            connect_timeout=_PATIENCE.connect,
            read_timeout=_PATIENCE.answer,
            write_timeout=_PATIENCE.write,
            pool_timeout=_PATIENCE.free_connection,
            proxy=proxy,
            httpx_kwargs={"verify": _tls(), "follow_redirects": False},
        )

    async def do_request(self, *args: Any, **kwargs: Any) -> tuple[int, bytes]:
        """Make the call; the HTTP status and the body."""
        return _checked(*await super().do_request(*args, **kwargs))


def _checked(status: int, body: bytes) -> tuple[int, bytes]:
    """FloodError on 429: making python-telegram-bot's RetryAfter warns of its own change."""
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        raise FloodError(_seconds_asked_for(body))
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        raise RedirectedError(status)
    return status, body


def _body(data: RequestData | None) -> bytes | aiohttp.FormData | None:
    if data is None:
        return None
    if not data.contains_files:
        return to_json(data.parameters)
    form = aiohttp.FormData()
    for name, value in data.json_parameters.items():
        form.add_field(name, value)
    for name, (filename, content, kind) in data.multipart_data.items():
        file = io.BytesIO(content) if isinstance(content, bytes) else content
        form.add_field(name, file, filename=filename, content_type=kind)
    return form


@lru_cache
def _timeout(patience: Patience, answer_seconds: float, has_files: bool) -> ClientTimeout:
    write = patience.write_file if has_files else patience.write
    connected = patience.free_connection + patience.connect
    return ClientTimeout(
        total=connected + write + answer_seconds,
        connect=connected,
        sock_connect=patience.connect,
        sock_read=answer_seconds,
    )


def _read(payload: bytes) -> Any:
    try:
        return from_json(payload)
    except ValueError:  # half of a surrogate pair, which people can send, and json takes
        return json.loads(payload.decode(errors="replace"))


def _seconds_asked_for(body: bytes) -> float:
    """ResponseParameters, retry_after; a proxy in between may not say it."""
    try:
        return float(from_json(body)["parameters"]["retry_after"])
    except (ValueError, TypeError, KeyError):
        return _UNTOLD_SECONDS


@cache
def _tls() -> Any:
    """Loading the certificates takes 20 ms: once a process is enough."""
    return httpx.create_ssl_context()
