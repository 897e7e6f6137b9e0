"""A command of ours that serves MCP over HTTP, in a process of its own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp
from support.commands import start_command
from support.mcp_machine import Machine

from sayso.testing.builders import PATIENCE_SECONDS

ACCEPT = {"Accept": "application/json, text/event-stream"}
BEGIN = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c"}},
}
SESSION = "Mcp-Session-Id"


@dataclass
class Served:
    """A command of ours that serves over HTTP."""

    url: str
    process: asyncio.subprocess.Process

    async def begin(self) -> dict[str, str]:
        """The headers that name a new session of an older client."""
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(PATIENCE_SECONDS)) as session,
            session.post(self.url, json=BEGIN, headers=ACCEPT) as response,
        ):
            return {SESSION: response.headers[SESSION]}

    async def post(
        self, message: Mapping[str, Any], headers: Mapping[str, str] | None = None
    ) -> tuple[int, Any]:
        """Send a message with the headers that belong to it, or with others."""
        own = {**ACCEPT, **_headers(message), **(headers or {})}
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(PATIENCE_SECONDS)) as session,
            session.post(self.url, json=message, headers=own) as response,
        ):
            if response.content_type == "text/event-stream":
                lines = [line async for line in response.content if line.startswith(b"data:")]
                return response.status, json.loads(lines[-1][5:]) if lines else None
            body = await response.read()
            is_json = response.content_type == "application/json"
            return response.status, json.loads(body) if is_json and body else None


def _headers(message: Mapping[str, Any]) -> dict[str, str]:
    params = message.get("params", {})
    version = params.get("_meta", {}).get("io.modelcontextprotocol/protocolVersion")
    if version is None:
        return {}
    more = {"Mcp-Name": params["name"]} if "name" in params else {}
    return {"MCP-Protocol-Version": version, "Mcp-Method": message["method"], **more}


@asynccontextmanager
async def served(machine: Machine, *words: str, **env: str) -> AsyncIterator[Served]:
    """A command that serves on a free port, and does not outlive the block."""
    process = await start_command(
        *(*words[:1], "--listen", "127.0.0.1:0", *words[1:]),
        env={**machine.env, **env},
        cwd=machine.folder,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stderr is not None
        async with asyncio.timeout(PATIENCE_SECONDS):
            said = (await process.stderr.readline()).decode()
        assert "serves MCP on" in said, said
        yield Served(said.split()[-1], process)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
