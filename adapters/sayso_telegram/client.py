"""The Bot API's client: made without a call to Telegram, quiet about the token."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, cast

from telegram import Bot
from telegram.error import TelegramError
from telegram.request import RequestData

from sayso.errors import DeliveryError
from sayso_telegram.config import TelegramConfig
from sayso_telegram.failures import PLATFORM, cause_of, delivery_error
from sayso_telegram.request import ANSWER_SECONDS, PlainData, request_for


class Client:
    """One bot's client. It works inside its ``opened`` block."""

    def __init__(self, config: TelegramConfig) -> None:
        _keep_the_token_out_of_logs()
        self._token = config.bot_token
        self._request = request_for(config.api_url)
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

    async def call(self, method: str, *, answer_seconds: float = 0, **arguments: Any) -> Any:
        """The result of a method as a JSON value; inside of an ``errors`` block.

        ``arguments`` are JSON values; None is left out. python-telegram-bot's own methods build
        strict objects, which takes longer than the call, and fail as a whole on a field
        that this server, older or newer, does not have.

        Raises:
            TelegramError: Telegram did not do it.
        """
        given = {name: value for name, value in arguments.items() if value is not None}
        return await self._request.post(
            f"{self.bot.base_url}/{method}",
            cast("RequestData", PlainData(given)),
            read_timeout=answer_seconds + ANSWER_SECONDS,
        )

    async def raw(self, method: str, *, answer_seconds: float = 0, **arguments: Any) -> Any:
        """The result of a method as a JSON value.

        Raises:
            DeliveryError: Telegram did not do it.
        """
        with self.errors():
            return await self.call(method, answer_seconds=answer_seconds, **arguments)

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn the client's errors into ours; the token does not leave this block.

        Raises:
            ChannelMigratedError: the chat has a new address.
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


def _keep_the_token_out_of_logs() -> None:
    """The token is in the path of every URL: httpx logs those at INFO, the others at DEBUG."""
    for name in ("httpx", "httpcore", "telegram.Bot"):
        logging.getLogger(name).setLevel(logging.WARNING)
