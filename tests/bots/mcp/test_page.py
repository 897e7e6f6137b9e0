"""What the page about MCP says is so."""

from __future__ import annotations

import json
import re
from pathlib import Path

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from support.mcp_machine import Machine, text

from sayso_bots.mcp.builtin import TOOLS
from sayso_bots.mcp.install.clients import CLIENTS

PAGE = (Path(__file__).parents[3] / "docs" / "agents" / "mcp.md").read_text()


async def test_the_settings_on_the_page_start_a_proxy_before_a_server(machine: Machine) -> None:
    (written,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    ((name, entry),) = json.loads(written)["mcpServers"].items()
    words = entry["args"][: entry["args"].index("--") + 1]
    assert entry["command"] == "sayso"
    assert words[words.index("--agent") + 1] == name
    own = machine.command(*words, *machine.server)
    env = {**machine.env, **entry["env"], "SAYSO_STORE_URL": machine.env["SAYSO_STORE_URL"]}
    server = StdioServerParameters(command=own.command, args=own.args, env=env)
    async with Client(stdio_client(server)) as client:
        said = await client.call_tool("look", {})

    assert text(said) == "look ran with {}"


def test_the_page_lists_every_client_with_its_files() -> None:
    rows = dict(re.findall(r"^\| `([a-z-]+)` \| [^|]+ \| (.*) \|$", PAGE, re.MULTILINE))

    assert set(rows) == set(CLIENTS)
    for name, client in CLIENTS.items():
        assert client.title in PAGE
        assert Path(client.user).name in rows[name]
        assert client.project in rows[name]


def test_the_page_lists_every_tool() -> None:
    assert [tool["name"] for tool in TOOLS] == re.findall(
        r"^\| `([a-z_]+_[a-z]+)` \|", PAGE, re.MULTILINE
    )
