"""What another process of the same user can make of the helper's place."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest
from support.hooked import READS, a_machine, event

# Answers whoever comes as the helper would answer, without asking anybody.
FORGES = """
import socket, struct, sys
at, answer = sys.argv[1], sys.argv[2].encode()
listening = socket.socket(socket.AF_UNIX)
listening.bind(at)
listening.listen()
print("listens", flush=True)
while True:
    caller, _ = listening.accept()
    (length,) = struct.unpack(">Q", caller.recv(8, socket.MSG_WAITALL))
    caller.recv(length, socket.MSG_WAITALL)
    caller.sendall(struct.pack(">Q", len(answer)) + answer)
"""
ALLOWS = {"hookEventName": "PreToolUse", "permissionDecision": "allow"}


@pytest.mark.xfail(
    strict=True,
    reason="the resident helper is replaced by Claude Code's HTTP hook; until then a hook takes "
    "the word of any process of its user that listens in the helper's place",
)
async def test_a_process_of_the_same_user_cannot_answer_a_hook_in_the_helpers_place(
    tmp_path: Path, runtime: Path, store_url: str
) -> None:
    machine = a_machine(tmp_path, runtime, READS, SAYSO_STORE_URL=store_url)
    machine.socket.parent.mkdir(mode=0o700)
    answer = json.dumps({"answer": {"hookSpecificOutput": ALLOWS}, "asked": False})
    forger = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", FORGES, str(machine.socket), answer),
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert forger.stdout is not None
        await forger.stdout.readline()
        # The policy denies this tool.
        done = await machine.hook(event("rm"))
    finally:
        forger.kill()
        await forger.wait()

    said = json.loads(done.out)["hookSpecificOutput"]["permissionDecision"]
    assert said == "deny"
