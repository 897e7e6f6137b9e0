"""The agents whose hooks are commands, and what is particular to each. Loads next to nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Answer = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class HookAgent:
    """An agent that starts a command before each tool call.

    ``otherwise`` ends the command that is written into its settings: what stops a call where
    the command itself cannot. With ``silent``, only *no* and changed arguments may be said:
    a yes without them is an empty answer.
    """

    key: str
    title: str
    events: tuple[str, ...]
    otherwise: str
    silent: bool = False

    def written(self, answer: Answer) -> Answer:
        """The answer as this agent reads it."""
        said = answer["hookSpecificOutput"]
        if self.silent and said["permissionDecision"] == "allow" and "updatedInput" not in said:
            return {}
        return answer


CLAUDE_CODE = HookAgent(
    "claude-code", "Claude Code", ("PreToolUse", "PermissionRequest"), "|| exit 2"
)
CODEX = HookAgent(
    "codex",
    "Codex",
    ("PreToolUse",),
    # Codex takes an exit code of 2 without words for a failure, and runs the tool.
    "|| { echo 'Sayso did not answer, so the call did not run' >&2; exit 2; }",
    silent=True,
)
AGENTS = {agent.key: agent for agent in (CLAUDE_CODE, CODEX)}
