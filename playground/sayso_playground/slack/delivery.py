"""Delivers interactions and events to the bot: signed over HTTP, or over Socket Mode."""

import asyncio
import json
import secrets
import time
import uuid
from collections.abc import Mapping
from urllib.parse import urlencode

import aiohttp
from aiohttp import WSMsgType, web

from sayso_playground.config import PlaygroundConfig
from sayso_playground.faults import CALLBACK, DeliverTwice, Delivery, Faults, Slow
from sayso_playground.slack.callbacks import FORM, form_body, signed_headers
from sayso_playground.slack.state import Json

_NOT_OK = "the app answered {status}"
_NO_ANSWER = "the app did not answer within {seconds:g} s"
_UNREACHABLE = "the app could not be reached"


_MOST_CONNECTIONS = 10  # docs.slack.dev, using socket mode: ten connections an app
_NO_ACKNOWLEDGEMENT = "Slack could not reach the app"


class SlackSocket:
    """The connections of one app; each payload goes to exactly one of them, in turn."""

    def __init__(self, config: PlaygroundConfig) -> None:
        self._config = config
        self._tickets: set[str] = set()
        self._connections: list[web.WebSocketResponse] = []
        self._waiting: dict[str, asyncio.Future[str]] = {}
        self._connected = asyncio.Event()

    @property
    def connections(self) -> int:
        """The number of websockets that are open."""
        return len(self._connections)

    async def connected(self) -> None:
        """Wait until a bot has a connection open."""
        await self._connected.wait()

    def new_url(self, base_url: str) -> str:
        """Return the answer of apps.connections.open: an address that works once."""
        ticket = secrets.token_urlsafe(16)
        self._tickets.add(ticket)
        return f"{base_url.replace('http', 'ws', 1)}/slack/socket?ticket={ticket}"

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        """Say hello, then take acknowledgements until the bot leaves."""
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets or len(self._connections) >= _MOST_CONNECTIONS:
            raise web.HTTPForbidden
        self._tickets.remove(ticket)
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self._connections.append(socket)
        await socket.send_json(self._hello())
        self._connected.set()
        try:
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    self._acknowledge(message.data)
        finally:
            self._connections.remove(socket)
            if not self._connections:
                self._connected.clear()
        return socket

    async def deliver(self, kind: str, payload: Json) -> Delivery:
        """Send one envelope and wait for its acknowledgement, as long as Slack does."""
        if not self._connections:
            return Delivery(None, error=_NO_ACKNOWLEDGEMENT, statuses=(None,))
        envelope_id = str(uuid.uuid4())
        envelope: Json = {"envelope_id": envelope_id, "type": kind, "payload": payload}
        envelope["accepts_response_payload"] = kind in ("interactive", "slash_commands")
        if kind == "events_api":
            envelope |= {"retry_attempt": 0, "retry_reason": ""}
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._waiting[envelope_id] = answer
        started = time.monotonic()
        try:
            self._connections.append(socket := self._connections.pop(0))
            await socket.send_json(envelope)
            body = await asyncio.wait_for(answer, self._config.slack_ack_seconds)
        except (TimeoutError, ConnectionError):
            seconds = time.monotonic() - started
            return Delivery(None, seconds=seconds, error=_NO_ACKNOWLEDGEMENT, statuses=(None,))
        finally:
            del self._waiting[envelope_id]
        return Delivery(200, body, time.monotonic() - started, statuses=(200,))

    async def disconnect(self, reason: str = "refresh_requested") -> None:
        """Tell every connection that it ends, then end it."""
        goodbye = {"type": "disconnect", "reason": reason, "debug_info": {"host": "playground"}}
        for socket in list(self._connections):
            await socket.send_json(goodbye)
            await socket.close()

    async def close(self) -> None:
        """End every connection without a word."""
        for socket in list(self._connections):
            await socket.close()

    def _hello(self) -> Json:
        return {
            "type": "hello",
            "num_connections": len(self._connections),
            "debug_info": {"host": "playground", "approximate_connection_time": 18060},
            "connection_info": {"app_id": self._config.slack_app_id},
        }

    def _acknowledge(self, text: str) -> None:
        try:
            answer = json.loads(text)
            waiting = self._waiting.get(answer["envelope_id"])
        except (ValueError, KeyError, TypeError):
            return
        if waiting and not waiting.done():
            payload = answer.get("payload")
            waiting.set_result(json.dumps(payload) if payload else "")


class SlackDelivery:
    """One attempt each: Slack repeats no interaction, so neither does this."""

    def __init__(self, config: PlaygroundConfig, faults: Faults, socket: SlackSocket) -> None:
        self._config = config
        self._faults = faults
        self._socket = socket
        self.url = config.slack_events_url
        self.all: list[Delivery] = []

    async def interaction(self, payload: Json) -> Delivery:
        """Deliver a press or a form, as often as a planned fault says."""
        return await self._deliver("interactive", payload, form_body(payload), FORM)

    async def command(self, payload: Json) -> Delivery:
        """Deliver a slash command: a form of flat fields."""
        return await self._deliver("slash_commands", payload, urlencode(payload).encode(), FORM)

    async def event(self, payload: Json) -> Delivery:
        """Deliver an Events API callback."""
        body = json.dumps(payload).encode()
        return await self._deliver("events_api", payload, body, "application/json")

    async def raw(self, body: bytes, headers: Mapping[str, str]) -> Delivery:
        """Post these bytes with these headers, right or wrong."""
        if self.url is None:
            raise LookupError("there is no address to deliver to: call deliver_to(url) first")
        started = time.monotonic()
        timeout = aiohttp.ClientTimeout(total=self._config.slack_ack_seconds)
        status, text = None, ""
        try:
            async with (
                aiohttp.ClientSession(timeout=timeout) as client,
                client.post(self.url, data=body, headers=headers) as answer,
            ):
                status, text = answer.status, await answer.text()
            error = None if status == 200 else _NOT_OK.format(status=status)
        except TimeoutError:
            error = _NO_ANSWER.format(seconds=self._config.slack_ack_seconds)
        except aiohttp.ClientError:
            error = _UNREACHABLE
        seconds = time.monotonic() - started
        return self._noted(Delivery(status, text, seconds, error, (status,)))

    async def _deliver(self, kind: str, payload: Json, body: bytes, form: str) -> Delivery:
        fault = self._faults.take(CALLBACK)
        if isinstance(fault, Slow):
            await asyncio.sleep(fault.seconds)
        times = 2 if isinstance(fault, DeliverTwice) else 1
        # Twice is the very same, with one signature.
        signed = self._signed(body, form)
        attempts = [self._once(kind, payload, body, signed) for _ in range(times)]
        return (await asyncio.gather(*attempts))[0]

    async def _once(
        self, kind: str, payload: Json, body: bytes, signed: Mapping[str, str]
    ) -> Delivery:
        if self.url is None:
            return self._noted(await self._socket.deliver(kind, payload))
        return await self.raw(body, signed)

    def _signed(self, body: bytes, form: str) -> Mapping[str, str]:
        secret = self._config.slack_signing_secret
        return {"Content-Type": form, **signed_headers(secret, body, int(self._config.clock()))}

    def _noted(self, delivery: Delivery) -> Delivery:
        self.all.append(delivery)
        return delivery
