"""An API that sends its callers elsewhere, and the place where they would arrive."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web
from aiohttp.test_utils import TestServer

REDIRECTS = (301, 302, 303, 307, 308)


@dataclass
class Elsewhere:
    """``url`` answers every call with a redirect; ``arrived`` are the paths that followed it."""

    url: str
    asked: list[str] = field(default_factory=list)
    arrived: list[str] = field(default_factory=list)


@asynccontextmanager
async def redirecting(status: int) -> AsyncIterator[Elsewhere]:
    """Two servers: one redirects with this status to the other, which says that all is well."""
    elsewhere = Elsewhere("")

    async def arrive(request: web.Request) -> web.Response:
        elsewhere.arrived.append(request.path)
        return web.json_response({"ok": True, "result": True})

    target = web.Application()
    target.add_routes([web.route("*", "/{path:.*}", arrive)])
    async with TestServer(target) as there:

        async def redirect(request: web.Request) -> web.Response:
            elsewhere.asked.append(request.path)
            where = str(there.make_url(request.path))
            return web.json_response({"ok": True}, status=status, headers={"Location": where})

        source = web.Application()
        source.add_routes([web.route("*", "/{path:.*}", redirect)])
        async with TestServer(source) as here:
            elsewhere.url = str(here.make_url("/"))
            yield elsewhere
