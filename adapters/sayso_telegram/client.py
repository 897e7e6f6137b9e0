"""The Bot API's client: made without a call to Telegram, quiet about the token."""

from __future__ import annotations

import logging
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from http import HTTPStatus
from typing import Any

import httpx
from pydantic_core import from_json
from telegram import Bot
from telegram.error import TelegramError
from telegram.request import HTTPXRequest

from sayso.errors import DeliveryError
from sayso_telegram.config import TelegramConfig
from sayso_telegram.failures import (
    PLATFORM,
    FloodError,
    RedirectedError,
    cause_of,
    delivery_error,
)

_CONNECT_SECONDS = 5.0
_ANSWER_SECONDS = 10.0
_UNTOLD_SECONDS = 3.0


class _Request(HTTPXRequest):
    """Raises FloodError on 429: making python-telegram-bot's RetryAfter warns of its own change.

    It follows no redirect: the token is in the path of every URL.
    """

    async def do_request(self, *args: Any, **kwargs: Any) -> tuple[int, bytes]:
        """Make the call; the HTTP status and the body."""
        status, body = await super().do_request(*args, **kwargs)
        if status == HTTPStatus.TOO_MANY_REQUESTS:
            raise FloodError(_seconds_asked_for(body))
        if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
            raise RedirectedError(status)
        return status, body


def _seconds_asked_for(body: bytes) -> float:
    """ResponseParameters, retry_after; a proxy in between may not say it."""
    try:
        return float(from_json(body)["parameters"]["retry_after"])
    except (ValueError, TypeError, KeyError):
        return _UNTOLD_SECONDS


class Client:
    """One bot's client. It works inside its ``opened`` block."""

    def __init__(self, config: TelegramConfig) -> None:
        _keep_the_token_out_of_logs()
        self._token = config.bot_token
        self._request = _Request(
            connect_timeout=_CONNECT_SECONDS,
            read_timeout=_ANSWER_SECONDS,
            write_timeout=_ANSWER_SECONDS,
            pool_timeout=_ANSWER_SECONDS,
            httpx_kwargs={"verify": _tls(), "follow_redirects": False},
        )
        self.bot = Bot(
            config.bot_token,
            base_url=config.base_url,
            request=self._request,
            get_updates_request=self._request,
        )

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Bot]:
        """The bot, ready to be used.

        ``Bot.initialize`` is left out on purpose: it calls getMe, and a bot
        must be able to start while Telegram is away.
        """
        await self._request.initialize()
        try:
            yield self.bot
        finally:
            await self._request.shutdown()

    async def raw(self, method: str, *, answer_seconds: float = 0, **arguments: Any) -> Any:
        """The result of a method as a JSON value.

        python-telegram-bot's own methods build strict objects and fail as a
        whole on a field that this server, older or newer, does not have. In lower
        case (Telegram does not mind) it makes the call as it is.

        Raises:
            DeliveryError: Telegram did not do it.
        """
        patience = answer_seconds + _ANSWER_SECONDS
        with self.errors():
            return await self.bot.do_api_request(method.lower(), arguments, read_timeout=patience)

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn the client's errors into ours; the token does not leave this block.

        Raises:
            PlaceMovedError: the chat has a new address.
            DeliveryError: Telegram did not do it.
        """
        try:
            yield
        except TelegramError as error:
            raise delivery_error(error, self._token) from cause_of(error, self._token)
        except (TypeError, AttributeError, KeyError) as error:
            # The bot library stumbles over an answer of a shape it does not know: it was done.
            kind = type(error).__name__
            reason = f"its answer could not be read ({kind}); it may have been done all the same"
            raise DeliveryError(PLATFORM, reason, permanent=True) from None


@cache
def _tls() -> ssl.SSLContext:
    """Loading the certificates takes 20 ms: once a process is enough."""
    return httpx.create_ssl_context()


def _keep_the_token_out_of_logs() -> None:
    """The token is in the path of every URL: httpx logs those at INFO, the others at DEBUG."""
    for name in ("httpx", "httpcore", "telegram.Bot"):
        logging.getLogger(name).setLevel(logging.WARNING)
