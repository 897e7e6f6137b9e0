"""A server of the protocol's own library at an address, in this process; it notes what ran."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any

import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from pydantic import Field
from support.ports import free_port

from sayso.testing.builders import PATIENCE_SECONDS

_Region = Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]


@dataclass
class WebServer:
    """Where it is, the headers and bodies of its requests, and the calls that ran."""

    url: str
    ran: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    came: list[tuple[dict[str, str], bytes]] = field(default_factory=list)

    @property
    def calls(self) -> list[tuple[dict[str, str], bytes]]:
        """The requests that called a tool."""
        return [
            (headers, body)
            for headers, body in self.came
            if body and json.loads(body).get("method") == "tools/call"
        ]


def _tools(web: WebServer) -> MCPServer[Any]:
    server = MCPServer[Any]("on the web")

    @server.tool(structured_output=False)
    async def write(path: str, region: _Region = "eu") -> str:
        """Write."""
        web.ran.append(("write", {"path": path, "region": region}))
        return f"wrote {path}"

    @server.tool(structured_output=False)
    async def look(context: Context) -> str:
        """Look."""
        web.ran.append(("look", {}))
        await context.report_progress(1, 2, "half")
        return "looked"

    return server


@asynccontextmanager
async def web_server() -> AsyncIterator[WebServer]:
    """The server while the block runs."""
    port = free_port()
    web = WebServer(f"http://127.0.0.1:{port}/mcp")
    inner = _tools(web).streamable_http_app()

    async def noting(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return await inner(scope, receive, send)
        body = bytearray()
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}

        async def heard() -> Any:
            message = await receive()
            body.extend(message.get("body", b""))
            if message["type"] == "http.request" and not message.get("more_body"):
                web.came.append((headers, bytes(body)))
            return message

        return await inner(scope, heard, send)

    config = uvicorn.Config(noting, port=port, log_level="critical", lifespan="on")
    server = uvicorn.Server(config)
    server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
    serving = asyncio.create_task(server.serve())
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not server.started:
                await asyncio.sleep(0.01)
        yield web
    finally:
        server.should_exit = server.force_exit = True
        await serving
