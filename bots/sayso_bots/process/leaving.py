"""Callers that hang up before they are answered."""

from __future__ import annotations

import asyncio
from typing import Protocol, runtime_checkable

from aiohttp import web


@runtime_checkable
class Noticing(Protocol):
    """A connection that says when its other end is gone."""

    @property
    def gone(self) -> asyncio.Event:
        """Set once nobody is there any more."""
        ...


async def gone(request: web.Request) -> None:
    """Return when the caller has hung up; wait for ever where that cannot be noticed."""
    connection = request.protocol
    event = connection.gone if isinstance(connection, Noticing) else asyncio.Event()
    await event.wait()
