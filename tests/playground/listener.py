"""A bot that only listens: it keeps what it is sent and answers what a test says."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs

from aiohttp import web

Answer = Callable[[dict[str, Any]], Awaitable[web.Response]]


async def accept(_: dict[str, Any]) -> web.Response:
    """Answer 200 and nothing else."""
    return web.Response()


@dataclass(frozen=True)
class Heard:
    """One request as it came in."""

    body: bytes
    headers: dict[str, str]

    @property
    def payload(self) -> dict[str, Any]:
        """The JSON in it, of a form or of the body."""
        text = self.body.decode()
        form = parse_qs(text).get("payload")
        found: dict[str, Any] = json.loads(form[0] if form else text)
        return found


@dataclass
class Listener:
    """A webhook on a free port; ``answer`` may be replaced at any time."""

    answer: Answer = accept
    heard: list[Heard] = field(default_factory=list)
    url: str = ""
    release: asyncio.Event = field(default_factory=asyncio.Event)
    _runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.add_routes([web.post("/hook", self._hear)])
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/hook"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release.set()
        if self._runner:
            await self._runner.cleanup()

    async def _hear(self, request: web.Request) -> web.Response:
        headers = {name.lower(): value for name, value in request.headers.items()}
        heard = Heard(await request.read(), headers)
        self.heard.append(heard)
        return await self.answer(heard.payload)


def a_button(label: str = "Allow", **fields: Any) -> dict[str, Any]:
    """A Slack button."""
    text = {"type": "plain_text", "text": label}
    return {"type": "button", "action_id": label.lower(), "text": text, "value": "h1", **fields}


def some_blocks(*elements: dict[str, Any]) -> list[dict[str, Any]]:
    """A section and a row of buttons."""
    return [
        {"type": "section", "text": {"type": "plain_text", "text": "May I?"}},
        {"type": "actions", "block_id": "row", "elements": list(elements) or [a_button()]},
    ]


def a_modal(**fields: Any) -> dict[str, Any]:
    """A Slack modal with one input."""
    label = {"type": "plain_text", "text": "Reason"}
    element = {"type": "plain_text_input", "action_id": "reason"}
    return {
        "type": "modal",
        "callback_id": "deny",
        "title": {"type": "plain_text", "text": "Deny"},
        "submit": {"type": "plain_text", "text": "Deny"},
        "blocks": [{"type": "input", "block_id": "why", "label": label, "element": element}],
        **fields,
    }
