"""Slack's Web API client, going to the address it was given and to no other one."""

from __future__ import annotations

from typing import Any

from slack_sdk.web.async_client import AsyncWebClient


class DirectClient(AsyncWebClient):
    """Follows no redirect: what answers one must not send the token and a card elsewhere."""

    async def _request(
        self, *, http_verb: str, api_url: str, req_args: dict[str, Any]
    ) -> dict[str, Any]:
        # slack_sdk hands these to the session, its own or ours, as they are.
        direct = {**req_args, "allow_redirects": False}
        return await super()._request(http_verb=http_verb, api_url=api_url, req_args=direct)
