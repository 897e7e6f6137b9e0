"""Every answer about a request, read by the strict parser of the package that clients use."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from support.aap_room import AapRoom, aap_room
from support.aap_world import Answer

from sayso import Rule
from sayso.policy.server_policy import Section, ServerPolicy
from sayso.policy.written import PlacedRule

# Of each line: whether it is parsed, how it stands, and whether it is what was submitted.
READS = """
import json, sys
from agentapprovalprotocol._wire import loads, matches, parse_request
for line in sys.stdin:
    submitted, answered = json.loads(line)
    request = parse_request(loads(answered))
    print(request.status, matches(request, loads(submitted)))
"""
PLAIN = '{"tool":"run_command","timeout":"10m","arguments":{"command":"ls"}}'
FULL = """{"timeout":"1h","tool":"pay","server":"bank/eu","agent_reasoning":"\\u00e4\\n","context":
{"session_id":"s","project":"p","big":1e400,"none":[],"deep":{"a":[{"b":0.10}]}},
"arguments":{"amount":1250.10,"exact":0.1000000000000000055,"id":9007199254740993,"small":1e-400,
"zero":-0.0,"list":[true,1,1.0],"text":"\\ud83d\\ude00"}}"""


@pytest.fixture
async def room() -> AsyncIterator[AapRoom]:
    rules = Section(
        allow=(PlacedRule(Rule("look"), "here"),), deny=(PlacedRule(Rule("drop"), "here"),)
    )
    async with aap_room(policy=ServerPolicy((rules,))) as opened:
        yield opened


@dataclass
class Told:
    """Answers about requests, each with what was submitted, and how it has to be read."""

    room: AapRoom
    answers: list[tuple[str, str]] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)

    def note(self, body: str, answer: Answer, status: str) -> None:
        """What was told of this submission."""
        self.answers.append((body, answer.text))
        self.expected.append(f"{status} True")

    async def ask(self, body: str, key: str, status: str = "pending") -> str:
        """Submit it; the id of the request."""
        answer = await self.room.call("POST", "/v1/requests", data=body.encode(), key=key)
        self.note(body, answer, status)
        return str(answer.json["id"])

    async def look(self, body: str, request_id: str, status: str) -> None:
        """See how it stands."""
        self.note(body, await self.room.get(request_id), status)

    async def read(self) -> list[str]:
        """What the package reads in all of them."""
        reads = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            READS,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        lines = "".join(f"{json.dumps(one)}\n" for one in self.answers)
        out, _ = await reads.communicate(lines.encode())
        return out.decode().splitlines()


async def test_every_answer_passes_the_strict_parser_of_the_package(room: AapRoom) -> None:
    told = Told(room)
    for number, body in enumerate((PLAIN, FULL)):
        used = await told.ask(body, f"used-{number}")
        await told.ask(body, f"used-{number}")
        await told.look(body, used, "pending")
        assert await room.settled(used) == "approved"
        await told.ask(body, f"used-{number}", "approved")
        told.note(body, await room.consume(used), "approved")
        more = {"note": "it took a while"} if number else {}
        went = "failed" if number else "succeeded"
        told.note(body, await room.report(used, status=went, **more), "approved")
        await told.look(body, used, "approved")

        denied = await told.ask(body, f"denied-{number}")
        await room.settled(denied, approved=False)
        await told.look(body, denied, "denied")

        withdrawn = await told.ask(body, f"withdrawn-{number}")
        cancelled = await room.call("DELETE", f"/v1/requests/{withdrawn}")
        told.note(body, cancelled, "cancelled")

        late = await told.ask(body, f"late-{number}")
        room.clock.advance(timedelta(hours=2))
        await told.look(body, late, "expired")

    for tool, status in (("look", "approved"), ("drop", "denied")):
        body = PLAIN.replace("run_command", tool)
        await told.look(body, await told.ask(body, tool, status), status)

    assert await told.read() == told.expected
