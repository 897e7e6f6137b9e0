"""A client of the package `mcp` as it was: calls each tool, and says what it heard, a line each.

Started as ``python client.py stdio COMMAND…`` or ``python client.py http URL``.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client

CALLS = (("look", {}), ("explode", {}), ("write", {"path": "/srv/ä"}), ("write", {"path": "/etc"}))


@asynccontextmanager
async def streams(kind: str, *rest: str) -> AsyncIterator[tuple[Any, Any]]:
    """Both directions to the server."""
    if kind == "stdio":
        command = StdioServerParameters(command=rest[0], args=[*rest[1:]], env=dict(os.environ))
        async with stdio_client(command) as (read, write):
            yield read, write
    else:
        async with streamablehttp_client(rest[0]) as (read, write, _):
            yield read, write


def say(**facts: Any) -> None:
    """Tell the test."""
    print(json.dumps(facts), flush=True)


async def main() -> None:
    """Begin, list, and call."""
    heard: list[str] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(message or "")

    async with streams(*sys.argv[1:]) as (read, write), ClientSession(read, write) as session:
        began = await session.initialize()
        tools = (await session.list_tools()).tools
        say(revision=began.protocolVersion, tools=[tool.name for tool in tools])
        for tool, arguments in CALLS:
            heard.clear()
            said = await session.call_tool(tool, arguments, progress_callback=hear)
            text = "\n".join(getattr(block, "text", "") for block in said.content)
            say(is_error=said.isError, text=text, heard=sorted(set(heard)))


asyncio.run(main())
