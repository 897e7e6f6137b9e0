"""A machine with settings, a server of its own, and the real client of the protocol."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import support.mcp_server
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import CallToolResult

from sayso.stores.backend import Backend

POLICY = """
[[policy]]
allow = [{ tool = "look" }]
deny = [{ tool = "explode" }]
"""


@dataclass(frozen=True)
class Machine:
    """Where a client starts its servers."""

    folder: Path
    env: Mapping[str, str]
    backend: Backend

    @property
    def server(self) -> tuple[str, ...]:
        """The command of the server."""
        return (sys.executable, support.mcp_server.__file__, str(self.folder))

    def proxied(self, *options: str) -> tuple[str, ...]:
        """The words of the command that stands before it."""
        return ("mcp-proxy", "--agent", "files", *options, "--", *self.server)

    def command(self, *words: str) -> StdioServerParameters:
        """A command of ours, as a client starts it."""
        return StdioServerParameters(
            command=sys.executable, args=["-m", "sayso_bots", *words], env=dict(self.env)
        )

    @asynccontextmanager
    async def client(self, *words: str, mode: str = "auto", **more: Any) -> AsyncIterator[Client]:
        """The real client, which started this command."""
        with (self.folder / "stderr").open("a") as errors:
            transport = stdio_client(self.command(*words), errlog=errors)
            async with Client(transport, mode=mode, **more) as client:
                yield client

    @property
    def read(self) -> list[dict[str, Any]]:
        """What the server has read."""
        noted = self.folder / "read"
        return (
            [json.loads(line) for line in noted.read_bytes().splitlines()] if noted.exists() else []
        )

    @property
    def ran(self) -> list[dict[str, Any]]:
        """The calls that reached it."""
        return [one["params"] for one in self.read if one.get("method") == "tools/call"]


def text(result: CallToolResult) -> str:
    """What the model reads."""
    return "\n".join(getattr(block, "text", "") for block in result.content)
