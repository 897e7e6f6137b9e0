"""Slack's Web API client and sessions for sockets, going to the address given and no other one."""

from __future__ import annotations

import logging
from typing import Any

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

_log = logging.getLogger(__name__)

_REDIRECTS = frozenset({301, 302, 303, 307, 308})


class DirectClient(AsyncWebClient):
    """Follows no redirect: what answers one must not send the token and a card elsewhere."""

    async def _request(
        self, *, http_verb: str, api_url: str, req_args: dict[str, Any]
    ) -> dict[str, Any]:
        # slack_sdk hands these to the session, its own or ours, as they are.
        direct = {**req_args, "allow_redirects": False}
        return await super()._request(http_verb=http_verb, api_url=api_url, req_args=direct)


def direct_session() -> aiohttp.ClientSession:
    """A session that follows no redirect, also where it opens a websocket.

    Whoever is at its other end hears the presses of people and acknowledges them.
    """
    return aiohttp.ClientSession(middlewares=(_not_followed,))


async def _not_followed(
    request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    response = await handler(request)
    if response.status in _REDIRECTS:
        response.close()
        _log.warning("a socket was sent elsewhere with HTTP %d: not followed", response.status)
        # Without the address: it is a secret.
        raise aiohttp.ClientError(f"HTTP {response.status} is not followed")
    return response
