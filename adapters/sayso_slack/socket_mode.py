"""Callbacks over a websocket that we open: no public address is needed."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from slack_bolt.adapter.socket_mode.async_internals import send_async_response
from slack_bolt.response import BoltResponse
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest

from sayso.errors import DeliveryError
from sayso.tasks import Background
from sayso_slack.callback_guard import Payload
from sayso_slack.config import SlackConfig
from sayso_slack.web_client import DirectClient, build_muffled_logger, direct_session

_log = logging.getLogger(__name__)

Take = Callable[[str, Payload], Awaitable[BoltResponse]]

_CLOSE_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class Pace:
    """Time limits and pauses, in seconds.

    After ``away`` without a connection a new one is made from scratch. The pauses between
    attempts that fail double from ``retry`` to ``longest``, each up to a quarter longer or shorter.
    """

    ping: float = 5.0
    connect: float = 15.0
    away: float = 30.0
    retry: float = 5.0
    longest: float = 60.0

    def after(self, failures: int) -> float:
        """Return the seconds to wait after so many attempts that failed in a row."""
        seconds = min(self.retry * 2.0 ** min(failures - 1, 16), self.longest)
        return seconds * random.uniform(0.75, 1.25)  # noqa: S311  jitter


class SocketConnection:
    """One Socket Mode connection, kept up.

    An envelope is acknowledged only when its answer is 200, so that Slack
    shows an error for a press that is not stored. What comes while the
    connection is away is lost: Slack says so, and the user presses again.
    """

    def __init__(
        self,
        config: SlackConfig,
        web_client: DirectClient,
        open_url: Callable[[], Awaitable[str]],
        take: Take,
        *,
        pace: Pace = Pace(),
        pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._config = config
        self._web_client = web_client
        self._open_url = open_url
        self._take = take
        self._pace = pace
        self._pause = pause
        self._library = build_muffled_logger()
        self._envelopes = Background("an envelope of Socket Mode", patience=_CLOSE_SECONDS)

    async def run(self) -> None:
        """Stay connected until cancelled; then answer what has arrived and leave.

        Raises:
            DeliveryError: Slack does not accept the app-level token.
        """
        failures = 0
        while True:
            client = await self._build_client()
            try:
                async with asyncio.timeout(self._pace.connect):
                    client.wss_uri = await self._open_url()
                    await client.connect()  # type: ignore[no-untyped-call]  # as slack_sdk has it
                again = f" again, after {failures} failed attempts" if failures else ""
                _log.info("connected to Slack over Socket Mode%s", again)
                failures = 0
                await self._wait_until_lost(client)
            except (TimeoutError, DeliveryError) as error:
                if isinstance(error, DeliveryError) and error.permanent:
                    raise
                failures += 1
                asked = error.retry_after if isinstance(error, DeliveryError) else None
                seconds = self._pace.after(failures) if asked is None else asked
                why = str(error) or "Slack's Socket Mode cannot be reached"
                _log.warning("no Socket Mode connection: %s; next try in %.0f s", why, seconds)
                await self._pause(seconds)
            finally:
                # Still connected: what has arrived can be acknowledged.
                await self._envelopes.finish()
                await client.close()  # type: ignore[no-untyped-call]  # likewise

    async def _build_client(self) -> SocketModeClient:
        """Return a client of slack_sdk whose session follows no redirect."""
        client = SocketModeClient(
            app_token=self._config.app_token,
            logger=self._library,
            web_client=self._web_client,
            ping_interval=self._pace.ping,
        )
        client.socket_mode_request_listeners.append(self._start_answer)
        await client.aiohttp_client_session.close()
        client.aiohttp_client_session = direct_session()
        return client

    async def _wait_until_lost(self, client: SocketModeClient) -> None:
        """Return when slack_sdk does not come back.

        It reconnects by itself, but with one address, and an address of
        Slack's works once and for seconds.
        """
        away = 0.0
        while away < self._pace.away:
            await asyncio.sleep(self._pace.ping)
            away = 0.0 if await client.is_connected() else away + self._pace.ping
        _log.warning("the Socket Mode connection is lost; opening a new one")

    async def _start_answer(
        self, client: AsyncBaseSocketModeClient, envelope: SocketModeRequest
    ) -> None:
        # slack_sdk holds no reference to the task that this runs in, so it gets one here.
        self._envelopes.start(self._answer(client, envelope))

    async def _answer(self, client: AsyncBaseSocketModeClient, envelope: SocketModeRequest) -> None:
        response = await self._take(envelope.envelope_id, envelope.payload)
        try:
            await send_async_response(client, envelope, response, time.time())
        except Exception as error:
            # Whatever the dying connection raises: the press is stored, its user sees an error.
            _log.warning("an envelope was not acknowledged: %s", type(error).__name__)
