"""Callers that hang up before they are answered."""

from __future__ import annotations

import asyncio

from aiohttp import web


async def gone(request: web.Request) -> None:
    """Return when the caller has hung up; wait for ever where that cannot be noticed.

    A connection that notices it sets its event ``gone``.
    """
    event: asyncio.Event = getattr(request.protocol, "gone", None) or asyncio.Event()
    await event.wait()
