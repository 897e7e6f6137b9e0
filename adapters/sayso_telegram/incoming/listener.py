"""Where Telegram's updates come in: the webhook, or long polling."""

from __future__ import annotations

import asyncio
import hmac
import logging
import math
from collections.abc import Awaitable, Callable
from typing import Any, Self

from aiohttp import web
from pydantic_core import from_json

from sayso.chats.adapter import PressTaker
from sayso.chats.incoming import bounded_body
from sayso.platforms.conversation_replies import ConversationReplies
from sayso.seldom import Seldom
from sayso.stores.protocols import KeyValueStore
from sayso.tasks import Background
from sayso_telegram.adapter import TelegramAdapter
from sayso_telegram.config import TelegramConfig
from sayso_telegram.incoming.commands import Commands
from sayso_telegram.incoming.intake import DESK_SECONDS, Intake, Taken, Toast
from sayso_telegram.incoming.polling import Poller
from sayso_telegram.incoming.webhook import WEBHOOK_PATH

_log = logging.getLogger(__name__)

_HEADER = "X-Telegram-Bot-Api-Secret-Token"
_FORGED = (
    "Telegram update refused: it does not hold TELEGRAM_WEBHOOK_SECRET; where Telegram sent it, "
    "`sayso webhook set URL` registers the secret"
)
_MOST_BYTES = 1024 * 1024
# WebhookActor.cpp honours Retry-After; without it the pauses would grow to minutes.
_RETRY_SECONDS = 2
_LONGEST_RETRY_SECONDS = 60
_CLOSE_SECONDS = 5.0


class TelegramListener:
    """Takes updates, hands presses to the desk and answers every presser.

    A press is answered 200 only after the desk has taken it; when it could
    not be stored the answer is 503 and Telegram delivers it again for 150
    seconds.
    """

    def __init__(
        self,
        config: TelegramConfig,
        adapter: TelegramAdapter,
        desk: PressTaker,
        key_value: KeyValueStore,
        *,
        owner: str,
        desk_seconds: float = DESK_SECONDS,
        pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._refusals = Seldom(_log)
        self._secrets = tuple(secret.encode() for secret in config.webhook_secrets)
        self._adapter = adapter
        self._intake = Intake(
            desk,
            ConversationReplies(adapter.conversations, desk),
            adapter.people,
            Commands(adapter, desk, seconds=desk_seconds),
            desk_seconds=desk_seconds,
        )
        self._toasts = Background("an answer to a press in Telegram", patience=_CLOSE_SECONDS)
        self._poller = Poller(
            adapter,
            self._intake,
            key_value,
            lease=f"telegram:{config.bot_id}",
            owner=owner,
            tell=self._tell,
            pause=pause,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def routes(self) -> list[web.RouteDef]:
        """The webhook's route."""
        return [web.post(WEBHOOK_PATH, self._webhook)]

    async def run_polling(self) -> None:
        """Fetch updates until cancelled; of all processes with this bot, only one does."""
        await self._poller.run()

    async def close(self) -> None:
        """Wait for the answers that are still on their way, within seconds."""
        await self._toasts.finish()

    async def _webhook(self, request: web.Request) -> web.Response:
        """Let nobody in without the secret; after that, refuse only what may come again."""
        if not self._knows(request.headers.get(_HEADER, "")):
            self._refusals.say(_FORGED, request.remote or "")
            return web.Response(status=401, text=f"{_HEADER} is missing or wrong")
        if request.content_type != "application/json":
            return web.Response(status=415, text="updates are application/json")
        body = await bounded_body(
            request.content.iter_any(), most=_MOST_BYTES, declared=request.content_length
        )
        if body is None:
            return web.Response(status=413, text=f"an update has at most {_MOST_BYTES} bytes")
        try:
            update = from_json(body)
        except ValueError:
            # It would be no better the next time, and hold up what comes after it.
            return web.Response()
        return await self._taken(update)

    async def _taken(self, update: Any) -> web.Response:
        """Acknowledge what is stored; the presser is answered by a call, after that.

        Telegram would also perform an answer in our answer, but other servers
        that speak its API need not, and nobody would know how it went.
        """
        taken = await self._intake.take(update)
        if taken.toast is not None:
            self._tell(taken.toast)
        if not taken.stored:
            return web.Response(status=503, text="not stored", headers=_retry_after(taken))
        return web.Response()

    def _knows(self, sent: str) -> bool:
        # Header bytes that are not UTF-8 reach us as lone surrogates; no secret has a `?`.
        given = sent.encode("utf-8", "replace")
        return any(hmac.compare_digest(given, secret) for secret in self._secrets)

    def _tell(self, toast: Toast) -> None:
        self._toasts.start(self._adapter.toast(toast.query_id, toast.text, alert=toast.alert))


def _retry_after(taken: Taken) -> dict[str, str]:
    """As long as Telegram asked us to wait, where it did."""
    seconds = max(_RETRY_SECONDS, math.ceil(min(taken.retry_after or 0, _LONGEST_RETRY_SECONDS)))
    return {"Retry-After": str(seconds)}
