"""A model server for the real Claude Code: it plays turns, and keeps what it was told.

It speaks as much of the messages API as the command uses: one stream for each request.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

Block = Mapping[str, Any]
Turn = Sequence[Block] | Callable[[], Sequence[Block]]
"""What the model answers; what hangs on what it was told is made when it is asked."""


def says(text: str) -> Block:
    """The model says something."""
    return {"type": "text", "text": text}


def calls(tool: str, call_id: str, **arguments: Any) -> Block:
    """The model calls a tool."""
    return {"type": "tool_use", "id": call_id, "name": tool, "input": arguments}


@dataclass
class Model:
    """Plays one turn after the other; when there are none left it says that it is done."""

    url: str = ""
    turns: deque[Turn] = field(default_factory=deque)
    results: dict[str, str] = field(default_factory=dict)
    """What the model was told of each call, by the call's id."""
    heard: str = ""
    """All that the model was sent, the last time."""

    def plays(self, *turns: Turn) -> None:
        """What the model answers, one turn for each request."""
        self.turns.extend(turns)

    def _hear(self, body: Mapping[str, Any]) -> None:
        for message in body.get("messages", []):
            content = message.get("content")
            for block in content if isinstance(content, list) else []:
                if block.get("type") == "tool_result":
                    self.results[block["tool_use_id"]] = _text(block.get("content"))

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """One request of the messages API."""
        body = await request.json()
        self._hear(body)
        self.heard = json.dumps(body.get("messages"))
        # Titles and the like are asked for without tools, and are no turn of the conversation.
        is_turn = bool(body.get("tools")) and self.turns
        turn = self.turns.popleft() if is_turn else [says("done")]
        blocks = turn() if callable(turn) else turn
        message = _message(body.get("model", "a-model"), blocks)
        if not body.get("stream"):
            return web.json_response({**message, "content": list(blocks)})
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for event in _events(message, blocks):
            line = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"
            await response.write(line.encode())
        return response


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content)
    return str(content)


def _message(model: str, blocks: Sequence[Block]) -> dict[str, Any]:
    calls_a_tool = any(block["type"] == "tool_use" for block in blocks)
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": "tool_use" if calls_a_tool else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def _events(message: Mapping[str, Any], blocks: Sequence[Block]) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**message, "stop_reason": None}}
    ]
    for index, block in enumerate(blocks):
        start, delta = _parts(block)
        events += [
            {"type": "content_block_start", "index": index, "content_block": start},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    ended = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    events.append({"type": "message_delta", "delta": ended, "usage": {"output_tokens": 1}})
    return [*events, {"type": "message_stop"}]


def _parts(block: Block) -> tuple[dict[str, Any], dict[str, Any]]:
    if block["type"] == "text":
        return {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
    written = json.dumps(block["input"])
    return {**block, "input": {}}, {"type": "input_json_delta", "partial_json": written}


@asynccontextmanager
async def model_served() -> AsyncIterator[Model]:
    """The model server on a port of its own while the block runs."""
    model = Model()
    app = web.Application(client_max_size=64 * 1024 * 1024)
    app.router.add_post("/v1/messages", model.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        model.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield model
    finally:
        await runner.cleanup()
