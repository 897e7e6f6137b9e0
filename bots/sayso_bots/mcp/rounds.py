"""What a server wants of its client before it goes on with a call that has become a task."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from sayso_bots import exact
from sayso_bots.mcp import messages
from sayso_bots.mcp.messages import Message


@dataclass(frozen=True, slots=True)
class Round:
    """Requests of a server, by names that no other round of their task has.

    ``answers`` are those of the client, as JSON. ``state`` goes back with them, sealed.
    """

    number: int
    asks: Mapping[str, Any]
    state: str
    answers: Mapping[str, str] = field(default_factory=dict)

    @property
    def open(self) -> dict[str, Any]:
        """What is still asked."""
        return {name: ask for name, ask in self.asks.items() if name not in self.answers}

    def answered(self, given: Mapping[str, Any]) -> Round:
        """The round with these answers; one to something that is not asked counts for nothing."""
        new = {name: exact.written(given[name]) for name in self.open if name in given}
        return replace(self, answers={**self.answers, **new})

    def call(self, call: Message) -> bytes:
        """The call of the task as it goes on, under a new id."""
        named = {name.partition(".")[2]: text for name, text in self.answers.items()}
        inner = ",".join(f"{json.dumps(name)}:{text}" for name, text in named.items())
        again = call.changed(inputResponses=f"{{{inner}}}", requestState=json.dumps(self.state))
        id_ = json.dumps(f"{json.loads(call.id)}.{self.number}")
        return messages.read(again).renamed(id_)

    def written(self) -> str:
        """The round as it is kept."""
        return json.dumps(asdict(self))


def read(kept: str) -> Round:
    """The round that was kept."""
    return Round(**json.loads(kept))


def wanted(said: bytes, before: Round | None) -> Round | None:
    """What the answer of a server wants first; None where it wants nothing.

    Raises:
        ValueError: it could not be passed on as it is.
    """
    result = json.loads(said).get("result")
    if not isinstance(result, dict) or result.get("resultType") != "input_required":
        return None
    number = 1 if before is None else before.number + 1
    asks = result.get("inputRequests") or {}
    if not isinstance(asks, dict):
        raise ValueError("what the server wants is not an object")  # noqa: TRY004 -- a bad value
    json.dumps(asks, allow_nan=False)
    named = {f"{number}.{name}": ask for name, ask in asks.items()}
    return Round(number, named, result["requestState"])
