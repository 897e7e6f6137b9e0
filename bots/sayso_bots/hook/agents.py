"""The agents whose hooks are commands, what is particular to each, and how long a hook waits.

Loads next to nothing.
"""

from __future__ import annotations

import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

DEFAULT_SECONDS = 540.0
"""How long a question waits unless told: a minute less than the agents' own limit for a hook."""

MARGIN_SECONDS = 30.0
"""When the time of the question is over by so much, whatever goes on ends in a denial."""

SPARE_SECONDS = 60
"""So much longer than the question is the limit that is written for the agent."""

TELLING_SECONDS = 10
"""The limit that is written for telling how a call went, and how long that is tried."""

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGALRM)
"""What ends the wait: the agent's own limit sends SIGTERM, ours SIGALRM."""

MAX_BYTES = 64 * 1024 * 1024
"""Longer than any call that a gate takes."""

Answer = Mapping[str, Any]
Went = Literal["succeeded", "failed"]


@dataclass(frozen=True, slots=True)
class Answered:
    """What the hook says, and whether a person was asked about a call that may run now."""

    answer: Answer
    was_asked: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """What is written: an answer on stdout, or, where there is none, words on stderr."""

    answer: Answer | None
    words: str = ""


@dataclass(frozen=True, slots=True)
class HookAgent:
    """An agent that starts a command before each tool call.

    ``otherwise`` ends the command that is written into its settings: what stops a call where
    the command itself cannot. ``by_login_shell`` starts it by the user's login shell, whose
    profile may print something before us: then no answer on stdout is read, and the tool runs.
    So a denial is an exit code, and a yes without changed arguments says nothing. ``outcomes``
    are the events after a call, and how it went then.
    """

    key: str
    title: str
    events: tuple[str, ...]
    otherwise: str
    outcomes: Mapping[str, Went]
    by_login_shell: bool = False

    def reply(self, answer: Answer) -> Reply:
        """The answer as this agent reads it."""
        said = answer["hookSpecificOutput"]
        if not self.by_login_shell:
            return Reply(answer)
        if said["permissionDecision"] != "allow":
            return Reply(None, said["permissionDecisionReason"])
        return Reply(answer if "updatedInput" in said else {})


CLAUDE_CODE = HookAgent(
    "claude-code",
    "Claude Code",
    ("PreToolUse", "PermissionRequest"),
    "|| exit 2",
    {"PostToolUse": "succeeded", "PostToolUseFailure": "failed"},
)
CODEX = HookAgent(
    "codex",
    "Codex",
    ("PreToolUse",),
    # Codex takes an exit code of 2 without words for a failure, and runs the tool.
    "|| { echo 'Sayso: the call did not run' >&2; exit 2; }",
    {"PostToolUse": "succeeded"},
    by_login_shell=True,
)
AGENTS = {agent.key: agent for agent in (CLAUDE_CODE, CODEX)}
