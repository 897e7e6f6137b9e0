"""Telegram's updates as they come in: by webhook, or by long polling of one process at a time."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import math
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Self

from aiohttp import web

from sayso.chats.adapter import PressTaker
from sayso.chats.incoming import bounded_body
from sayso.errors import DeliveryError, StoreUnreachableError
from sayso.platforms.conversation_replies import ConversationReplies
from sayso.seldom import Seldom
from sayso.stores.protocols import KeyValueStore
from sayso.tasks import Background
from sayso_telegram.adapter import TelegramAdapter
from sayso_telegram.config import TelegramConfig
from sayso_telegram.parse_update import update_id
from sayso_telegram.pending_messages import PendingCommands
from sayso_telegram.updates_handler import DESK_SECONDS, HandledUpdate, Toast, UpdatesHandler
from sayso_telegram.webhook import WEBHOOK_PATH

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
_MAX_TOASTS = 1_000

_POLL_SECONDS = 25
_LEASE_SECONDS = 30.0
_RENEW_SECONDS = 10.0
_WAIT_SECONDS = 2.0
_LONGEST_PAUSE_SECONDS = 30.0
# A lease cannot be given back: it is kept for one more second instead.
_LAST_LEASE_SECONDS = 1.0


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
        self._handler = UpdatesHandler(
            desk,
            ConversationReplies(adapter.conversations, desk),
            adapter.people,
            PendingCommands(adapter, desk, seconds=desk_seconds),
            desk_seconds=desk_seconds,
        )
        self._toasts = Background("an answer to a press in Telegram", patience=_CLOSE_SECONDS)
        self._unanswered = Seldom(_log)
        self._poller = Poller(
            adapter,
            self._handler,
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
            # Half a surrogate pair is no reason to lose a press, as it is to stricter parsers.
            update = json.loads(body.decode(errors="replace"))
        except (ValueError, RecursionError):
            # It would be no better the next time, and hold up what comes after it.
            return web.Response()
        return await self._handle_update(update)

    async def _handle_update(self, update: Any) -> web.Response:
        """Acknowledge what is stored; the presser is answered by a call, after that.

        Telegram would also perform an answer in our answer, but other servers
        that speak its API need not, and nobody would know how it went.
        """
        taken = await self._handler.handle(update)
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
        if len(self._toasts) >= _MAX_TOASTS:
            self._unanswered.say("a presser is not answered: too many to answer")
            return
        self._toasts.start(self._adapter.toast(toast.query_id, toast.text, alert=toast.alert))


def _retry_after(taken: HandledUpdate) -> dict[str, str]:
    """As long as Telegram asked us to wait, where it did."""
    seconds = max(_RETRY_SECONDS, math.ceil(min(taken.retry_after or 0, _LONGEST_RETRY_SECONDS)))
    return {"Retry-After": str(seconds)}


class Poller:
    """Fetches updates while it holds the bot's lease.

    An update is confirmed to Telegram, by asking for the one after it, only
    when it was stored: what a process took along when it died comes again.
    """

    def __init__(
        self,
        adapter: TelegramAdapter,
        handler: UpdatesHandler,
        key_value: KeyValueStore,
        *,
        lease: str,
        owner: str,
        tell: Callable[[Toast], None],
        pause: Callable[[float], Awaitable[object]],
        renew_after: float = _RENEW_SECONDS,
    ) -> None:
        self._adapter = adapter
        self._handler = handler
        self._key_value = key_value
        self._lease = lease
        self._owner = owner
        self._tell = tell
        self._pause = pause
        self._renew_after = renew_after
        self._offset = 0
        self._away = Seldom(_log)

    async def run(self) -> None:
        """Fetch updates until cancelled, whenever nobody else does."""
        while True:
            if await self._holds(_LEASE_SECONDS):
                _log.info("polling Telegram for updates")
                await self._while_held()
                _log.warning("no longer polling Telegram: the lease is lost")
            await self._pause(_WAIT_SECONDS)

    async def _while_held(self) -> None:
        polling = asyncio.create_task(self._poll())
        try:
            while not polling.done():
                await asyncio.wait({polling}, timeout=self._renew_after)
                if not await self._holds(_LEASE_SECONDS):
                    return
            polling.result()
        finally:
            polling.cancel()
            await asyncio.gather(polling, return_exceptions=True)
            await self._holds(_LAST_LEASE_SECONDS)

    async def _holds(self, seconds: float) -> bool:
        """True while the lease is ours; not while the store is away: nothing could be stored."""
        try:
            return await self._key_value.acquire_lease(self._lease, self._owner, seconds=seconds)
        except StoreUnreachableError as error:
            self._away.say(f"polling waits for the store: {error}")
            return False

    async def _poll(self) -> None:
        failures = 0
        while True:
            try:
                updates = await self._adapter.updates(self._offset, _POLL_SECONDS)
            except DeliveryError as error:
                failures += 1
                _log.warning("updates cannot be fetched: %s", error.reason)
                pause = min(2.0 ** min(failures, 10), _LONGEST_PAUSE_SECONDS)
                await self._pause(error.retry_after or pause)
                continue
            if failures:
                _log.info("updates are fetched again, after %d failed attempts", failures)
            failures = 0
            if not await self._took(updates):
                await self._pause(_WAIT_SECONDS)

    async def _took(self, updates: Sequence[Any]) -> bool:
        """Hand in the updates; whether all of them were stored and will not come again."""
        taken = await asyncio.gather(*(self._handler.handle(update) for update in updates))
        for one in taken:
            if one.toast is not None:
                self._tell(one.toast)
        before, self._offset = self._offset, next_offset(updates, taken, self._offset)
        return not updates or (all(one.stored for one in taken) and self._offset != before)


def next_offset(updates: Sequence[Any], taken: Sequence[HandledUpdate], offset: int) -> int:
    """One more than the last update before the first that is not stored.

    After an empty answer everything is confirmed, and no number is kept:
    when a week was quiet, Telegram counts on from anywhere.
    """
    if not updates:
        return 0
    for update, one in zip(updates, taken, strict=True):
        if not one.stored:
            break
        offset = max(offset, (update_id(update) or 0) + 1)
    return offset
