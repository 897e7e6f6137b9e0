"""A process that many clients speak to: each request goes under an id of ours, and comes back."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sayso_bots.mcp import messages
from sayso_bots.mcp.asking import Tell
from sayso_bots.mcp.calls import is_modern
from sayso_bots.mcp.messages import CANCELLED, Message
from sayso_bots.mcp.servers.process import Process

_SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


@dataclass(frozen=True, slots=True)
class _Origin:
    """Whose request it is, what its id was, and what its news were to be known by."""

    tell: Tell
    id: str
    token: str | None


@dataclass
class Shared:
    """One process for clients that tell with each message who they are, and for no others."""

    process: Process
    _numbers: Any = field(default_factory=lambda: itertools.count(1))
    _origins: dict[str, _Origin] = field(default_factory=dict)

    async def request(self, raw: bytes, message: Message, tell: Tell) -> bytes:
        """Its answer, under the id that the client gave; withdrawn when this is cancelled."""
        name = json.dumps(f"sayso-{next(self._numbers)}")
        sent = messages.read(raw)
        params = messages.written(raw.decode(), "params") or "{}"
        token = messages.written(messages.written(params, "_meta") or "{}", "progressToken")
        line = sent.renamed(name)
        if token is not None and is_modern(sent):
            line = messages.read(line).with_meta(progressToken=name)
        self._origins[name] = _Origin(tell, message.id, token)
        try:
            said = await self.process.request(line, replace(message, id=name), tell)
        except BaseException:
            await self._withdraw(name)
            raise
        finally:
            del self._origins[name]
        return messages.edited(said.decode(), {"id": message.id}).encode()

    async def send(self, message: Message) -> None:
        """What a client says of others' requests concerns nobody else."""
        if message.kind == "notification" and message.method != CANCELLED:
            await self.process.send(message)

    async def told(self, line: bytes) -> None:
        """Hand on what the process says before an answer to whoever asked for that."""
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            return
        params = found.get("params") if isinstance(found, dict) else None
        if not isinstance(params, dict) or "id" in found:
            return
        meta = params.get("_meta")
        about = meta.get(_SUBSCRIPTION) if isinstance(meta, dict) else None
        for name in (json.dumps(params.get("progressToken")), json.dumps(about)):
            if (origin := self._origins.get(name)) is not None:
                await origin.tell(_as_theirs(found, params, meta, origin))
                return

    async def _withdraw(self, name: str) -> None:
        line = messages.notification(CANCELLED, {"requestId": json.loads(name)})
        if not self.process.ended.is_set():
            await self.process.send(messages.read(line))


def _as_theirs(
    found: Mapping[str, Any], params: Mapping[str, Any], meta: object, origin: _Origin
) -> bytes:
    """News under the names that the client knows."""
    theirs = dict(params)
    if "progressToken" in theirs and origin.token is not None:
        theirs["progressToken"] = json.loads(origin.token)
    if isinstance(meta, dict) and _SUBSCRIPTION in meta:
        theirs["_meta"] = {**meta, _SUBSCRIPTION: json.loads(origin.id)}
    return json.dumps({**found, "params": theirs}).encode()
