"""What Codex does after a hook, from its public source: for tests that have no Codex.

``codex-rs/hooks`` of github.com/openai/codex: ``schema/generated/pre-tool-use.command.*`` for the
form of events and answers, ``engine/output_parser.rs`` and ``events/pre_tool_use.rs`` for what an
answer does, ``engine/command_runner.rs`` for the shell. Each row was tried with codex-cli 0.169.0.
"""

from __future__ import annotations

import json
from typing import Any, Literal

Does = Literal["runs", "stops"] | dict[str, Any]
"""It runs the call, stops it, or runs it with other arguments."""

_FIELDS = {
    "hookEventName": str,
    "permissionDecision": str,
    "permissionDecisionReason": str,
    "updatedInput": object,
    "additionalContext": str,
}
_DEEPEST = 127


def codex_event(tool: str = "Bash", **arguments: Any) -> bytes:
    """A call before it runs, with every field that Codex sends and no other."""
    said = {
        "session_id": "01a203d0-0000-7000-8000-000000000001",
        "turn_id": "01a203d0-0000-7000-8000-000000000002",
        "transcript_path": None,
        "cwd": "/work/shop",
        "hook_event_name": "PreToolUse",
        "model": "a-model",
        "permission_mode": "bypassPermissions",
        "tool_name": tool,
        "tool_input": arguments,
        "tool_use_id": "call_1",
    }
    return json.dumps(said).encode()


def codex_does(code: int, out: str, err: str) -> Does:
    """What becomes of the call; whatever Codex does not understand runs it."""
    if code == 2 and err.strip():
        return "stops"
    if code != 0:
        return "runs"
    try:
        said = json.loads(out.strip())
        out.encode()
        json.dumps(said, ensure_ascii=False).encode()
    except ValueError:
        return "runs"
    if not isinstance(said, dict) or set(said) - {"hookSpecificOutput"} or _depth(said) > _DEEPEST:
        return "runs"
    answer = said.get("hookSpecificOutput") or {}
    if any(not isinstance(answer[name], _FIELDS.get(name, ())) for name in answer):
        return "runs"
    decision, changed = answer.get("permissionDecision"), answer.get("updatedInput")
    if (
        decision == "deny"
        and changed is None
        and answer.get("permissionDecisionReason", "").strip()
    ):
        return "stops"
    return changed if decision == "allow" and changed is not None else "runs"


def _depth(value: Any) -> int:
    inside = (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    )
    return 0 if inside is None else 1 + max(map(_depth, inside), default=0)
