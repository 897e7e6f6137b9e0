"""The tools of ``sayso mcp`` in this process."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from support.mcp_room import TESTS, McpRoom, call

from sayso_bots.mcp.approvals import Client
from sayso_bots.mcp.builtin import Asked, Own
from sayso_bots.mcp.messages import read


class AskRoom(McpRoom):
    """Our own server on a store, and people who answer."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.proxy = Asked(self.proxy.guard)
        self.own = Own()

    async def tool(
        self, name: str, arguments: Mapping[str, Any], *, client: Client = TESTS, **more: Any
    ) -> Any:
        """Call one of its tools."""
        return await self.say(call(name, arguments=arguments, **more), client)

    async def say(self, message: Mapping[str, Any], client: Client = TESTS) -> Any:
        """What a client reads."""
        line = json.dumps(message).encode()
        said = await self.proxy.request(read(line), client, self.own, self.tell)
        return None if said is None else json.loads(said)
