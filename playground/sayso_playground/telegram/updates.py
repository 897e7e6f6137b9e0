"""Delivers updates to the bot, by webhook with retries or by long polling."""

import asyncio
import json
import re
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from sayso_playground.config import PlaygroundConfig
from sayso_playground.faults import CALLBACK, DeliverTwice, Faults, Slow
from sayso_playground.telegram.state import Json, bad_request
from sayso_playground.telegram.state import TelegramRefusalError as Refusal

CALLBACK_QUERY_SECONDS = 150  # tdlib/telegram-bot-api, Client.cpp: callback queries expire
OTHER_SECONDS = 24 * 3600
_LONGEST_DELAY = 60  # tdlib/telegram-bot-api, WebhookActor.cpp: capped at 60-120 s
_LONGEST_RETRY_AFTER = 3600
_LONGEST_POLL = 50  # core.telegram.org, getUpdates
_NOT_BY_DEFAULT = ("chat_member", "message_reaction", "message_reaction_count")
_PORTS = (80, 88, 443, 8443)  # core.telegram.org, setWebhook
_LOCAL = ("127.0.0.1", "localhost", "::1")


@dataclass(slots=True)
class Update:
    """One update on its way; ``settled`` when delivered, given up or never allowed."""

    update_id: int
    kind: str
    content: Json
    key: str
    made: float
    statuses: list[int | None] = field(default_factory=list)
    body: str = ""
    seconds: float = 0.0
    waited: float = 0.0
    settled: bool = False
    delivered: bool = False

    @property
    def seconds_to_live(self) -> float:
        """The time for which it is worth delivering."""
        return CALLBACK_QUERY_SECONDS if self.kind == "callback_query" else OTHER_SECONDS

    def json(self) -> Json:
        """The update as the bot gets it."""
        return {"update_id": self.update_id, self.kind: self.content}


class Updates:
    """The queue between the chats and the bot."""

    def __init__(
        self,
        config: PlaygroundConfig,
        faults: Faults,
        changed: Callable[[], None],
        perform: Callable[[str, Json], Any],
    ) -> None:
        self._config = config
        self._faults = faults
        self._changed = changed
        self._perform = perform
        self._next_id = 500_000 + secrets.randbelow(100_000)
        self._workers: dict[str, asyncio.Task[None]] = {}
        self._poll: asyncio.Future[None] | None = None
        self.pending: list[Update] = []
        self.url = ""
        self.max_connections = 40
        self.allowed: list[str] = []
        self.last_error: tuple[int, str] | None = None
        self._secret = ""

    @property
    def is_polled(self) -> bool:
        """Return whether a getUpdates call is waiting at this moment."""
        return self._poll is not None

    def add(self, kind: str, content: Json, key: str) -> Update:
        """Queue an update; those of one key stay in order and wait for each other."""
        self._next_id += 1
        update = Update(self._next_id, kind, content, key, self._config.clock())
        if not (kind in self.allowed if self.allowed else kind not in _NOT_BY_DEFAULT):
            update.settled = True
            return update
        self.pending.append(update)
        self._wake()
        return update

    def set_webhook(self, arguments: Json) -> str:
        """Point the webhook somewhere, or nowhere; what did not come along is kept.

        Raises:
            TelegramRefusalError: an address, secret or list Telegram does not take.
        """
        url = str(arguments.get("url") or "")
        secret = str(arguments.get("secret_token") or "")
        _check_url(url)
        if len(secret) > 256:
            raise bad_request("secret token is too long")
        if not re.fullmatch(r"[A-Za-z0-9_-]*", secret):
            raise bad_request("secret token contains unallowed characters")
        self._set_allowed(arguments)
        if str(arguments.get("drop_pending_updates", "")).lower() in ("1", "true"):
            self._drop(self.pending)
        if self.url == url and self._secret == secret:
            return "Webhook is already set" if url else "Webhook is already deleted"
        self.url, self._secret, self.last_error = url, secret if url else "", None
        if arguments.get("max_connections") is not None:
            self.max_connections = min(max(int(arguments["max_connections"]), 1), 100)
        self._end_poll()
        self._wake()
        return "Webhook was set" if url else "Webhook was deleted"

    def webhook_info(self) -> Json:
        """Return the answer of getWebhookInfo."""
        info: Json = {"url": self.url, "has_custom_certificate": False}
        info["pending_update_count"] = len(self._fresh())
        if self.url:
            info |= {"max_connections": self.max_connections, "ip_address": "127.0.0.1"}
        if self.last_error:
            info["last_error_date"], info["last_error_message"] = self.last_error
        if self.allowed:
            info["allowed_updates"] = self.allowed
        return info

    async def poll(self, arguments: Json) -> list[Json]:
        """Return the answer of getUpdates, now or as soon as there is something.

        Raises:
            TelegramRefusalError: 409 with a webhook set, or when another poll takes over.
        """
        if self.url:
            raise Refusal(
                409,
                "Conflict: can't use getUpdates method while webhook is active; "
                "use deleteWebhook to delete the webhook first",
            )
        self._end_poll()
        self._set_allowed(arguments)
        self._confirm(int(arguments.get("offset") or 0))
        limit = min(max(int(arguments.get("limit") or 100), 1), 100)
        wait = min(float(arguments.get("timeout") or 0), _LONGEST_POLL)
        if not self._fresh() and wait > 0:
            await self._wait_for_update(wait)
        taken = self._fresh()[:limit]
        for update in taken:
            update.statuses.append(200)
            update.settled = update.delivered = True
        self._changed()
        twice = taken and isinstance(self._faults.take(CALLBACK), DeliverTwice)
        return [update.json() for update in (taken * 2 if twice else taken)]

    async def close(self) -> None:
        """Stop delivering."""
        self.url = ""
        self._end_poll()
        workers = list(self._workers.values())
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)

    async def _wait_for_update(self, seconds: float) -> None:
        self._poll = mine = asyncio.get_running_loop().create_future()
        self._changed()
        try:
            async with asyncio.timeout(seconds):
                await asyncio.shield(mine)
        except TimeoutError:
            pass
        finally:
            if self._poll is mine:
                self._poll = None
            mine.cancel()

    def _end_poll(self) -> None:
        if self._poll and not self._poll.done():
            reason = "setWebhook" if self.url else "other getUpdates"
            text = f"Conflict: terminated by {reason} request; make sure that only one bot"
            self._poll.set_exception(Refusal(409, f"{text} instance is running"))

    def _confirm(self, offset: int) -> None:
        """core.telegram.org, getUpdates: a higher offset forgets what was before it."""
        if offset < 0:
            self._drop(self.pending[:offset])
        else:
            self._drop([update for update in self.pending if update.update_id < offset])

    def _drop(self, updates: list[Update]) -> None:
        for update in list(updates):
            update.settled = True
            self.pending.remove(update)
        self._changed()

    def _fresh(self) -> list[Update]:
        now = self._config.clock()
        self._drop([u for u in self.pending if now - u.made > u.seconds_to_live])
        return list(self.pending)

    def _set_allowed(self, arguments: Json) -> None:
        """core.telegram.org, setWebhook: when not specified, the previous setting is used."""
        given = arguments.get("allowed_updates")
        if given is None:
            return
        try:
            names = json.loads(given) if isinstance(given, str) else given
        except ValueError:
            names = None
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise bad_request("can't parse allowed_updates: expected an Array of String")
        self.allowed = names

    def _wake(self) -> None:
        if not self.url:
            if self._poll and not self._poll.done():
                self._poll.set_result(None)
            return
        for key in {update.key for update in self.pending} - set(self._workers):
            worker = asyncio.create_task(self._work(key))
            self._workers[key] = worker
            worker.add_done_callback(partial(self._retire, key))

    def _retire(self, key: str, _: asyncio.Task[None]) -> None:
        """A worker found its queue empty; what came in that moment gets a new one."""
        del self._workers[key]
        if any(update.key == key for update in self.pending):
            self._wake()

    async def _work(self, key: str) -> None:
        while self.url and (queue := [u for u in self.pending if u.key == key]):
            await self._deliver(queue[0])

    async def _deliver(self, update: Update) -> None:
        """tdlib/telegram-bot-api, WebhookActor.cpp: at once, then after 2, 4, 8 … seconds."""
        backoff = 0.0
        while self.url and update in self.pending:
            started = time.monotonic()
            status, retry_after = await self._post(update)
            update.seconds = time.monotonic() - started
            update.statuses.append(status)
            if status is not None and 200 <= status < 300:
                update.delivered = True
                return self._drop([update])
            delay = backoff if retry_after is None else retry_after
            backoff = min(max(backoff * 2, 2), _LONGEST_DELAY)
            update.waited += update.seconds + delay
            if update.waited > update.seconds_to_live:
                return self._drop([update])
            self._changed()
            await self._config.sleep(delay)
        return None

    async def _post(self, update: Update) -> tuple[int | None, float | None]:
        fault = self._faults.take(CALLBACK)
        if isinstance(fault, Slow):
            await asyncio.sleep(fault.seconds)
        times = 2 if isinstance(fault, DeliverTwice) else 1
        return (await asyncio.gather(*[self._post_once(update) for _ in range(times)]))[0]

    async def _post_once(self, update: Update) -> tuple[int | None, float | None]:
        headers = {"X-Telegram-Bot-Api-Secret-Token": self._secret} if self._secret else {}
        timeout = aiohttp.ClientTimeout(total=self._config.telegram_webhook_seconds)
        try:
            async with (
                aiohttp.ClientSession(timeout=timeout) as client,
                client.post(self.url, json=update.json(), headers=headers) as answer,
            ):
                update.body = await answer.text()
                if not answer.ok:
                    self._note(f"Wrong response from the webhook: {answer.status} {answer.reason}")
                else:
                    self._perform_reply(update.body)
                return answer.status, _retry_after(answer.headers.get("Retry-After"))
        except (aiohttp.ClientError, TimeoutError) as error:
            timed_out = isinstance(error, TimeoutError)
            self._note("Read timeout expired" if timed_out else "Connection refused")
            return None, None

    def _note(self, problem: str) -> None:
        self.last_error = (int(self._config.clock()), problem)

    def _perform_reply(self, body: str) -> None:
        """core.telegram.org, making requests when getting updates: the result stays unknown."""
        try:
            reply = json.loads(body)
        except ValueError:
            return
        if isinstance(reply, dict) and isinstance(reply.get("method"), str):
            self._perform(reply.pop("method"), reply)


def _retry_after(value: str | None) -> float | None:
    if value and value.isdigit():
        return min(float(value), _LONGEST_RETRY_AFTER)
    return None


def _check_url(url: str) -> None:
    """https on four ports; on this machine anything, as a local Bot API server allows."""
    parts = urlsplit(url)
    if not url or parts.hostname in _LOCAL:
        return
    if parts.scheme != "https":
        raise bad_request("bad webhook: An HTTPS URL must be provided for webhook")
    if (parts.port or 443) not in _PORTS:
        ports = "80, 88, 443 or 8443"
        raise bad_request(f"bad webhook: Webhook can be set up only on ports {ports}")
