"""The Bot API's client: python-telegram-bot's ``Bot`` over requests that are guarded."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import traceback
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from typing import Any

import httpx
from telegram import (
    Bot,
    ForceReply,
    InlineKeyboardMarkup,
    LinkPreviewOptions,
    Message,
    ReplyParameters,
)
from telegram.error import BadRequest, TelegramError, TimedOut
from telegram.request import BaseRequest, HTTPXRequest, RequestData
from telegram.warnings import PTBUserWarning

from sayso.chats.places import Place
from sayso.errors import ConfigError, DeliveryError
from sayso_telegram.config import PLATFORM, TelegramConfig
from sayso_telegram.errors import (
    FloodError,
    RedirectedError,
    find_safe_cause,
    is_about_entities,
    is_unchanged,
    shorten_refusal,
    to_delivery_error,
)
from sayso_telegram.formatted_text import Formatted

# With more calls under way, httpx's pool takes seconds of the whole event loop.
_MAX_CONNECTIONS = 64
_MAX_IDLE = 20
_IDLE_SECONDS = 30.0
_DEFAULT_RETRY_SECONDS = 3.0
_SHORTEST_RETRY_SECONDS = 1.0
_LONGEST_RETRY_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds that each part of a call may take; their sum is the limit of the whole call."""

    free_connection: float = 10.0
    connect: float = 5.0
    write: float = 10.0
    # The largest file that is revealed, over a line of 64 kilobytes a second.
    write_file: float = 60.0
    answer: float = 10.0


TIMEOUTS = Timeouts()


class GuardedRequest(HTTPXRequest):
    """Calls over httpx that end in time, follow no redirect, and log no answer.

    httpx takes the proxy of the environment (``HTTPS_PROXY``, ``ALL_PROXY``, ``NO_PROXY``).

    Raises:
        ConfigError: that proxy, or the certificates of the environment, cannot be used.
    """

    def __init__(
        self,
        timeouts: Timeouts = TIMEOUTS,
        *,
        token: str = "",
        max_connections: int = _MAX_CONNECTIONS,
    ) -> None:
        self._timeouts = timeouts
        self._token = token
        self._under_way = asyncio.Semaphore(_MAX_CONNECTIONS)
        try:
            super().__init__(
                connect_timeout=timeouts.connect,
                read_timeout=timeouts.answer,
                write_timeout=timeouts.write,
                media_write_timeout=timeouts.write_file,
                pool_timeout=timeouts.free_connection,
                httpx_kwargs={
                    "verify": _tls_context(),
                    "follow_redirects": False,  # the token is in the path of every URL
                    "limits": httpx.Limits(
                        max_connections=max_connections,
                        max_keepalive_connections=_MAX_IDLE,
                        # httpx's 5 seconds would make each lone call shake hands anew.
                        keepalive_expiry=_IDLE_SECONDS,
                    ),
                },
            )
        except RuntimeError as error:  # httpx's extra for SOCKS is not installed
            raise ConfigError(
                "calls to Telegram are to go through a SOCKS proxy (HTTPS_PROXY or ALL_PROXY): "
                'install "python-telegram-bot[socks]", or name an HTTP proxy'
            ) from error
        except (ValueError, httpx.InvalidURL):  # its words may quote the proxy's password
            raise ConfigError(
                "calls to Telegram are to go through a proxy whose address cannot be used: "
                "HTTPS_PROXY or ALL_PROXY must be such as http://HOST:PORT"
            ) from None

    async def do_request(
        self,
        url: str,
        method: str,
        request_data: RequestData | None = None,
        read_timeout: Any = BaseRequest.DEFAULT_NONE,
        *others: Any,
        **more: Any,
    ) -> tuple[int, bytes]:
        """Make the call within a limit for all of it: httpx's limits are for each piece alone.

        Returns:
            The HTTP status and the body.

        Raises:
            TimedOut: it took too long.
            BadRequest: its text cannot be sent.
            FloodError: Telegram wants to be left alone for a while.
            RedirectedError: the answer sends us elsewhere.
        """
        limits = self._timeouts
        has_files = request_data is not None and request_data.contains_files
        write = limits.write_file if has_files else limits.write
        answer = limits.answer if read_timeout is BaseRequest.DEFAULT_NONE else read_timeout
        try:
            async with (
                asyncio.timeout(limits.free_connection + limits.connect + write + answer),
                self._under_way,
            ):
                status, body = await super().do_request(
                    url, method, request_data, read_timeout, *others, **more
                )
        except TimeoutError:
            raise TimedOut from None
        except UnicodeError:  # its words quote the whole text
            raise BadRequest("the text has characters that cannot be sent") from None
        # python-telegram-bot's RetryAfter warns of its own change, and needs the seconds.
        if status == HTTPStatus.TOO_MANY_REQUESTS:
            raise FloodError(_read_retry_after(body))
        if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
            raise RedirectedError(status)
        if status >= HTTPStatus.BAD_REQUEST:
            body = shorten_refusal(body, self._token)
        return status, body

    @staticmethod
    def parse_json_payload(payload: bytes) -> dict[str, Any]:
        """Return the answer; of a sent message its number alone.

        python-telegram-bot raises at one odd field of a message that was sent, and a card would
        stand there that nobody knows of. It logs an answer that it cannot read; this does not.

        Raises:
            TelegramError: it is no JSON object.
            TypeError: the number of the message is none.
        """
        try:
            answer = json.loads(payload.decode(errors="replace"))
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise TelegramError("Invalid server response")
        result = answer.get("result")
        if isinstance(result, dict) and "message_id" in result:
            if type(result["message_id"]) is not int:
                raise TypeError("message_id")
            chat = {"id": 0, "type": "private"}
            answer["result"] = {"message_id": result["message_id"], "date": 0, "chat": chat}
        return answer


class Client:
    """One bot's client. It works inside its ``opened`` block; making it calls nobody."""

    def __init__(self, config: TelegramConfig) -> None:
        _silence_libraries()
        self._token = config.bot_token
        self._request = GuardedRequest(token=config.bot_token)
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

    async def fetch(self, method: str, *, wait_seconds: float = 0, **arguments: Any) -> Any:
        """Return a method's result as the JSON value it is, for answers of which little is read.

        ``Bot.get_updates`` loses every update over one that it cannot read, and asks for the same
        ones for ever; ``Bot.get_chat`` fails where one of 20 required fields is missing.

        Args:
            method: such as ``getChat``.
            wait_seconds: how much longer than usual the answer may take.
            arguments: those of the method.

        Raises:
            DeliveryError: Telegram did not do it.
        """
        with self.errors():
            return await self.bot.do_api_request(
                method, arguments, read_timeout=wait_seconds + TIMEOUTS.answer
            )

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
            raise to_delivery_error(error, self._token) from find_safe_cause(error, self._token)
        except Exception as error:
            # python-telegram-bot stumbles over an answer of a shape it does not know: it was done.
            if not _passed_library(error):
                raise
            raise _unreadable(error) from None


def _unreadable(odd: object) -> DeliveryError:
    kind = type(odd).__name__
    reason = f"its answer could not be read ({kind}); it may have been done all the same"
    return DeliveryError(PLATFORM, reason, permanent=True)


def _passed_library(error: Exception) -> bool:
    """True where it was raised within python-telegram-bot: any other is a mistake of ours."""
    frames = traceback.walk_tb(error.__traceback__)
    return any(frame.f_globals.get("__name__", "").startswith("telegram.") for frame, _ in frames)


def _silence_libraries() -> None:
    """Keep the token out of logs, and a hint at ``Bot.get_updates`` out of stderr.

    The token is in the path of every URL: httpx logs those at INFO, the others at DEBUG.
    """
    for name in ("httpx", "httpcore", "telegram.Bot"):
        logging.getLogger(name).setLevel(logging.WARNING)
    warnings.filterwarnings("ignore", r"Please use 'Bot\.get", PTBUserWarning)


def _read_retry_after(body: bytes) -> float:
    """Read ResponseParameters, retry_after; a proxy in between may not say it, or say anything."""
    try:
        seconds = float(json.loads(body)["parameters"]["retry_after"])
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return _DEFAULT_RETRY_SECONDS
    if math.isnan(seconds):
        return _DEFAULT_RETRY_SECONDS
    return min(max(seconds, _SHORTEST_RETRY_SECONDS), _LONGEST_RETRY_SECONDS)


@cache
def _tls_context() -> Any:
    """Load the certificates once a process: it takes 20 ms.

    Raises:
        ConfigError: they cannot be read.
    """
    try:
        return httpx.create_ssl_context()
    except OSError as error:
        raise ConfigError(
            "the certificates of SSL_CERT_FILE or SSL_CERT_DIR cannot be read: "
            f"{error.strerror or error}"
        ) from None


_log = logging.getLogger(__name__)

_NO_PREVIEW = LinkPreviewOptions(is_disabled=True)

Markup = InlineKeyboardMarkup | ForceReply | None


def reply_parameters(message_id: str) -> ReplyParameters:
    """Reply to a message where that still stands.

    Raises:
        DeliveryError: it is not a number of Telegram's.
    """
    return ReplyParameters(parse_number(message_id), allow_sending_without_reply=True)


async def send_text(client: Client, text: Formatted, **arguments: Any) -> str:
    """Send a message and return its number; ``arguments`` are those of ``Bot.send_message``.

    Raises:
        DeliveryError: Telegram did not take it.
    """
    with client.errors():
        message = await _call_formatted(client.bot.send_message, text, arguments)
    if not isinstance(message, Message):
        raise _unreadable(message)
    return f"{message.message_id:d}"


async def edit_text(client: Client, text: Formatted, **arguments: Any) -> None:
    """Change a message; that it shows this already is success.

    Raises:
        DeliveryError: Telegram did not take it.
    """
    with client.errors():
        try:
            await _call_formatted(client.bot.edit_message_text, text, arguments)
        except BadRequest as error:
            if not is_unchanged(error):
                raise


async def _call_formatted(
    call: Callable[..., Awaitable[Any]], text: Formatted, arguments: dict[str, Any]
) -> Any:
    """Make the call; if Telegram cannot read the formatting, once more without, same buttons."""
    arguments["link_preview_options"] = _NO_PREVIEW
    try:
        return await call(text=text.text, entities=text.entities, **arguments)
    except BadRequest as error:
        if not is_about_entities(error):
            raise
        _log.warning("Telegram refused a card's formatting; it is shown without")
        return await call(text=text.without_entities, **arguments)


def parse_user_id(actor: str) -> int:
    """Return the number of the person whom the core knows as this.

    Raises:
        DeliveryError: the actor is not somebody on Telegram.
    """
    return parse_number(actor.removeprefix(f"{PLATFORM}:"))


def parse_place(place: Place) -> tuple[int, int | None]:
    """Return the chat's number and the topic's, if there is one.

    Raises:
        DeliveryError: the address is not a number.
    """
    try:
        return int(place.address), int(place.thread) if place.thread else None
    except ValueError:
        reason = f"{place} is not a chat: use its number, such as telegram:-1001234567890"
        raise DeliveryError(PLATFORM, reason, permanent=True) from None


def parse_number(message_id: str) -> int:
    """Return the number of a message.

    Raises:
        DeliveryError: it is not a number.
    """
    try:
        return int(message_id)
    except ValueError:
        reason = f"{message_id!r} is not a number of Telegram's"
        raise DeliveryError(PLATFORM, reason, permanent=True) from None
