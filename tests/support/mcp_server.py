"""A small MCP server at stdin and stdout, in any revision: it writes down every line it reads.

Started as ``python mcp_server.py FOLDER``; every message is a line of FOLDER/read.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

TOOLS = [
    {"name": name, "description": name, "inputSchema": {"type": "object"}}
    for name in ("write", "look", "explode")
]
ABLE = {"tools": {"listChanged": True}}
SELF = {"name": "noting", "version": "1.0"}


def answer(message: dict) -> dict:  # type: ignore[type-arg]  # runs by itself
    """What it answers to a request."""
    method, params = message["method"], message.get("params", {})
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": ABLE,
            "serverInfo": SELF,
        }
    is_modern = "io.modelcontextprotocol/protocolVersion" in params.get("_meta", {})
    kind = {"resultType": "complete"} if is_modern else {}
    if method == "server/discover" and is_modern:
        return {
            **kind,
            "supportedVersions": ["2026-07-28"],
            "capabilities": ABLE,
            "serverInfo": SELF,
            "ttlMs": 0,
            "cacheScope": "private",
        }
    if method == "tools/list":
        more = {"ttlMs": 0, "cacheScope": "private"} if is_modern else {}
        return {**kind, **more, "tools": TOOLS}
    if method == "tools/call":
        ran = f"{params['name']} ran with {json.dumps(params.get('arguments'))}"
        return {**kind, "content": [{"type": "text", "text": ran}]}
    raise KeyError(method)


def main() -> None:
    """Answer until the input ends."""
    with (Path(sys.argv[1]) / "read").open("ab", 0) as noted:
        for line in sys.stdin.buffer:
            noted.write(line)
            message = json.loads(line)
            if "method" not in message or "id" not in message:
                continue
            try:
                said = {"result": answer(message)}
            except KeyError:
                said = {"error": {"code": -32601, "message": "Method not found"}}
            text = json.dumps({"jsonrpc": "2.0", "id": message["id"], **said})
            sys.stdout.write(f"{text}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
