"""Claude Code's HTTP hook: an event is the body of a POST, and its decision the answer.

With ``onFailure: "block"`` Claude Code stops the call unless the answer is a 2xx. A 2xx without a
decision runs it. So each 2xx to an event before a call has a decision.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
from collections import OrderedDict
from collections.abc import Callable

from aiohttp import web

from sayso.errors import ConfigError, SaysoError
from sayso.stores.backend import Backend
from sayso.tasks import Background
from sayso_bots.asking.service import AskService, Requester
from sayso_bots.config.store_settings import AskSettings
from sayso_bots.hook.agents import CLAUDE_CODE, MARGIN_SECONDS, Answered
from sayso_bots.hook.asking import answer_event, failed, report_run
from sayso_bots.hook.events import HookEvent, Ran, is_answer, read_event, read_ran
from sayso_bots.hook.http_hook import DECIDE_PATH, REPORT_PATH
from sayso_bots.hook.noted import MOST
from sayso_bots.strict_json import MalformedMessageError

_log = logging.getLogger(__name__)


class HookRoute:
    """Decides on the calls of one user's Claude Code.

    Args:
        store: where people are asked.
        store_url: its address, as the settings named it at the start.
        token: what Claude Code brings.
        read_setup: reads the settings, for each call anew.
    """

    def __init__(
        self,
        store: Backend,
        store_url: str,
        token: str,
        read_setup: Callable[[], tuple[AskSettings, Requester]],
    ) -> None:
        self._store = store
        self._store_url = store_url
        self._token = token
        self._read_setup = read_setup
        self._approved: OrderedDict[tuple[str, str], tuple[str, str]] = OrderedDict()
        self._asking: set[asyncio.Task[Answered]] = set()
        self._background = Background("reports of calls that ran")

    def routes(self) -> list[web.RouteDef]:
        """Return the routes of the hooks."""
        return [web.post(DECIDE_PATH, self._decide), web.post(REPORT_PATH, self._take_report)]

    async def close(self) -> None:
        """Withdraw what is asked, and give up the reports that are on their way."""
        for task in self._asking:
            task.cancel()
        if self._asking:
            await asyncio.wait(self._asking)
        await self._background.cancel()

    async def _decide(self, request: web.Request) -> web.Response:
        text = await self._read_body(request)
        try:
            event = read_event(text, CLAUDE_CODE)
        except MalformedMessageError as error:
            raise web.HTTPBadRequest(
                text=f"what came in is not an event of a tool call ({error})"
            ) from None
        try:
            settings, asker = self._read_setup()
        except ConfigError as error:
            return _decision(event, Answered(failed(event.name, str(error))))
        if settings.store.url != self._store_url:
            return _decision(
                event,
                Answered(
                    failed(
                        event.name,
                        "the settings name another store by now: start `sayso hook serve` again",
                    )
                ),
            )
        asking = asyncio.create_task(self._ask(event, settings, asker))
        self._asking.add(asking)
        asking.add_done_callback(self._asking.discard)
        # A client that leaves cancels this, and so the task.
        result = await asking
        if result.was_asked and event.key:
            self._approved[event.session, event.call_id] = (asker.agent, event.key)
            while len(self._approved) > MOST:
                self._approved.popitem(last=False)
        return _decision(event, result)

    async def _ask(self, event: HookEvent, settings: AskSettings, asker: Requester) -> Answered:
        """Ask within the time; cancelled when Claude Code leaves, which withdraws the request."""
        try:
            async with asyncio.timeout(asker.max_seconds + MARGIN_SECONDS):
                service = AskService(self._store, settings, asker, "hook")
                return await answer_event(event, service, _log.warning)
        except TimeoutError:
            return Answered(failed(event.name, "its time was over"))

    async def _take_report(self, request: web.Request) -> web.Response:
        """Note how a call went; Claude Code waits for nothing, and nothing is stopped by it."""
        try:
            ran = read_ran(await self._read_body(request), CLAUDE_CODE)
        except MalformedMessageError as error:
            raise web.HTTPBadRequest(
                text=f"what came in is not an event of a tool call ({error})"
            ) from None
        if ran is None:
            # Before a call, Claude Code would take an empty 2xx for leave to run it.
            raise web.HTTPBadRequest(text="what came in is not an event after a call")
        if asked := self._approved.pop((ran.session, ran.call_id), None):
            self._background.start(self._report(ran, *asked))
        return web.Response(status=204)

    async def _report(self, ran: Ran, agent: str, key: str) -> None:
        try:
            await report_run(ran, agent, key, self._store)
        except SaysoError as error:
            _log.warning("a card does not say how its call went: %s", error)

    async def _read_body(self, request: web.Request) -> str:
        """Return the body of a request that brings the token."""
        # Bytes that are not UTF-8 come as lone surrogates.
        brought = request.headers.get("Authorization", "").encode("utf-8", "surrogateescape")
        if not hmac.compare_digest(brought, f"Bearer {self._token}".encode()):
            raise web.HTTPUnauthorized(headers={"WWW-Authenticate": "Bearer"})
        try:
            return (await request.read()).decode()
        except UnicodeDecodeError:
            raise web.HTTPBadRequest(
                text="what came in is not an event of a tool call (not UTF-8)"
            ) from None


def _decision(event: HookEvent, result: Answered) -> web.Response:
    """Return the answer of a decision.

    Raises:
        TypeError: it is none, which Claude Code would take for leave to run the call.
    """
    if not is_answer(result.answer, event.name):
        raise TypeError("not an answer")
    body = json.dumps(result.answer, allow_nan=False).encode()
    return web.Response(body=body, content_type="application/json")
