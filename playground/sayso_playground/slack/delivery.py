"""Delivers interactions and events to the bot: signed over HTTP, or over Socket Mode."""

import asyncio
import json
import time
from collections.abc import Mapping
from urllib.parse import urlencode

import aiohttp

from sayso_playground.config import PlaygroundConfig
from sayso_playground.faults import CALLBACK, DeliverTwice, Delivery, Faults, Slow
from sayso_playground.slack.callbacks import FORM, form_body, signed_headers
from sayso_playground.slack.socket import SlackSocket
from sayso_playground.slack.state import Json

_NOT_OK = "the app answered {status}"
_NO_ANSWER = "the app did not answer within {seconds:g} s"
_UNREACHABLE = "the app could not be reached"


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
