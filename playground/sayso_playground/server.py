"""The playground: one server on this machine that plays both platforms and their page."""

import socket
from typing import Self

from aiohttp import web

from sayso_playground.config import PlaygroundConfig
from sayso_playground.faults import Changes
from sayso_playground.page.api import PageApi
from sayso_playground.slack.double import SlackDouble
from sayso_playground.telegram.double import TelegramDouble

_LARGEST_BODY = 60 * 1024 * 1024  # core.telegram.org, sendDocument: files of at most 50 MB


class Playground:
    """Doubles of Slack and Telegram behind one port, and a page to use both by hand.

    It lives as long as its ``async with`` block. ``slack`` and ``telegram`` are what a
    test works with, the URLs are what a bot is configured with.
    """

    def __init__(self, config: PlaygroundConfig | None = None) -> None:
        self.config = config or PlaygroundConfig()
        self._runner: web.AppRunner | None = None
        self._changes = Changes()
        self._listener: socket.socket | None = None
        self.slack = SlackDouble(self.config, self._changes, lambda: self.url)
        self.telegram = TelegramDouble(self.config, self._changes)

    @property
    def url(self) -> str:
        """The address of the page; known from the moment the playground is entered."""
        if self._listener is None:
            raise RuntimeError("the playground has no address before `async with`")
        host = self._listener.getsockname()[0]
        if host == "0.0.0.0":  # noqa: S104 - compared, not bound
            host = "127.0.0.1"
        return f"http://{host}:{self._listener.getsockname()[1]}"

    @property
    def slack_api_url(self) -> str:
        """The ``base_url`` of a Slack client."""
        return f"{self.url}/slack/api/"

    @property
    def telegram_api_url(self) -> str:
        """The address that a Telegram client puts before ``/bot<token>/<method>``."""
        return f"{self.url}/telegram"

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=_LARGEST_BODY)
        app.add_routes(
            [
                web.route("*", "/slack/api/{method}", self.slack.api.answer),
                web.post("/slack/response/{key}", self.slack.api.answer_response_url),
                web.get("/slack/socket", self.slack.socket.serve),
                web.route("*", "/telegram/bot{token}/{method}", self.telegram.api.answer),
            ]
        )
        page = PageApi(self.config, self._changes, self.slack, self.telegram)
        app.add_routes(page.routes)
        app.on_shutdown.append(page.stop)
        self._listener = socket.create_server((self.config.host, self.config.port))
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.SockSite(self._runner, self._listener).start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.slack.socket.close()
        await self.telegram.close()
        if self._runner:
            await self._runner.cleanup()
