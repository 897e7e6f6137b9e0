"""The start of an agent and of a hook: the processor time until a first call is allowed.

Policy allows it, so nobody is asked. Beside each is the least that people write for it: a ping with
redis-py, and a script that reads the call and looks it up in a list.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from bench.processes import SAYSO as COMMAND
from bench.processes import a_world
from bench.question import EVERYDAY, SAYSO
from support.hooked import a_machine, event

_ROUNDS = 9
_POLICY = '[[policy]]\nallow = [{ tool = "read" }]\n'
_OUR_AGENT = """
import sys
from sayso import Rule, RulePolicy, ToolCall, connect
with connect(sys.argv[1], agent="bench", session="start",
             policy=RulePolicy(allow=[Rule("read")])) as gate:
    assert gate.sync.check(ToolCall("read")).approved
"""
_THEIR_AGENT = """
import asyncio, sys
from redis.asyncio import Redis
async def main():
    async with Redis(unix_socket_path=sys.argv[1]) as redis:
        assert await redis.ping()
asyncio.run(main())
"""
_THEIR_HOOK = """
import json, sys
call = json.load(sys.stdin)
decision = "allow" if call["tool_name"] in {"read"} else "ask"
print(json.dumps({"hookSpecificOutput": {
    "hookEventName": "PreToolUse", "permissionDecision": decision}}))
"""


def measure_start() -> dict[str, dict[str, float]]:
    """Return the milliseconds of each, by side."""
    with a_world() as world, TemporaryDirectory() as folder:
        url = world.url("start")
        machine = a_machine(Path(folder), _POLICY, SAYSO_STORE_URL=url)
        python = [sys.executable, "-c"]
        commands: dict[str, dict[str, Sequence[str]]] = {
            "agent": {
                SAYSO: [*python, _OUR_AGENT, url],
                EVERYDAY: [*python, _THEIR_AGENT, world.redis_path],
            },
            "hook": {
                SAYSO: [COMMAND, "hook", "claude-code"],
                EVERYDAY: [*python, _THEIR_HOOK],
            },
        }
        return {
            what: {side: _median(words, machine.env) for side, words in sides.items()}
            for what, sides in commands.items()
        }


def _median(command: Sequence[str], env: Mapping[str, str]) -> float:
    return median(_milliseconds(command, env) for _ in range(_ROUNDS))


def _milliseconds(command: Sequence[str], env: Mapping[str, str]) -> float:
    """Return the processor time of a process, and of no other."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        command, input=event("read"), env=dict(env), stdout=subprocess.PIPE, check=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.stdout:
        assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "allow"
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3
