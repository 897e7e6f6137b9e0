"""Callbacks over a websocket that we open: no public address is needed."""

from __future__ import annotations

import asyncio
import json
import logging
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse

from sayso.errors import DeliveryError
from sayso.tasks import Background
from sayso_slack.adapter import SlackAdapter
from sayso_slack.config import SlackConfig
from sayso_slack.direct import direct_session
from sayso_slack.incoming.answers import HttpAnswer
from sayso_slack.loggers import muffled
from sayso_slack.reading.payload import Payload

_log = logging.getLogger(__name__)

Take = Callable[[str, Payload], Awaitable[HttpAnswer]]

_CLOSE_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class Pace:
    """How long to wait for what, in seconds.

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
        adapter: SlackAdapter,
        app: AsyncApp,
        take: Take,
        *,
        pace: Pace = Pace(),
        pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._config = config
        self._adapter = adapter
        self._app = app
        self._take = take
        self._pace = pace
        self._pause = pause
        self._library = muffled()
        self._envelopes = Background("an envelope of Socket Mode", patience=_CLOSE_SECONDS)

    async def run(self) -> None:
        """Stay connected until cancelled; then answer what has arrived and leave.

        Raises:
            DeliveryError: Slack does not accept the app-level token.
        """
        failures = 0
        while True:
            handler = self._handler()
            try:
                async with asyncio.timeout(self._pace.connect):
                    handler.client.wss_uri = await self._adapter.socket_url()
                    await handler.connect()
                again = f" again, after {failures} failed attempts" if failures else ""
                _log.info("connected to Slack over Socket Mode%s", again)
                failures = 0
                await self._until_lost(handler.client)
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
                await handler.close_async()  # type: ignore[no-untyped-call]  # likewise

    def _handler(self) -> _Handler:
        token, ping = self._config.app_token, self._pace.ping
        return _Handler(self._app, token, self._adapter, self._taken, ping, self._library)

    async def _until_lost(self, client: AsyncBaseSocketModeClient) -> None:
        """Return when slack_sdk does not come back.

        It reconnects by itself, but with one address, and an address of
        Slack's works once and for seconds.
        """
        away = 0.0
        while away < self._pace.away:
            await asyncio.sleep(self._pace.ping)
            away = 0.0 if await client.is_connected() else away + self._pace.ping
        _log.warning("the Socket Mode connection is lost; opening a new one")

    async def _taken(self, client: AsyncBaseSocketModeClient, envelope: SocketModeRequest) -> None:
        # slack_sdk holds no reference to the task that this runs in, so it gets one here.
        self._envelopes.start(self._answer(client, envelope))

    async def _answer(self, client: AsyncBaseSocketModeClient, envelope: SocketModeRequest) -> None:
        answer = await self._take(envelope.envelope_id, envelope.payload)
        if answer.status != 200:
            return
        payload = json.loads(answer.body) if answer.content_type == "application/json" else None
        try:
            await client.send_socket_mode_response(
                SocketModeResponse(envelope_id=envelope.envelope_id, payload=payload)
            )
        except Exception as error:
            # Whatever the dying connection raises: the press is stored, its user sees an error.
            _log.warning("an envelope was not acknowledged: %s", type(error).__name__)


class _Handler(AsyncSocketModeHandler):
    """Bolt's handler, with envelopes going the way of HTTP callbacks instead of into bolt."""

    def __init__(
        self,
        app: AsyncApp,
        app_token: str,
        adapter: SlackAdapter,
        taken: Callable[[AsyncBaseSocketModeClient, SocketModeRequest], Awaitable[None]],
        ping_seconds: float,
        logger: logging.Logger,
    ) -> None:
        self._taken = taken
        super().__init__(
            app,
            app_token,
            logger=logger,
            web_client=adapter.client,
            ping_interval=ping_seconds,
        )

    async def connect(self) -> None:
        """Connect, in place of the session that slack_sdk opened over one without redirects."""
        followed = self.client.aiohttp_client_session
        self.client.aiohttp_client_session = direct_session()
        await followed.close()
        await self.connect_async()  # type: ignore[no-untyped-call]  # as bolt has it

    async def handle(self, client: AsyncBaseSocketModeClient, req: SocketModeRequest) -> None:
        await self._taken(client, req)
