"""Sayso: an AI agent asks, a person answers in the chat they have open, the agent goes on.

The names that agents use, each loaded on its first use; the rest is imported from its folder,
events from ``sayso.events``, errors from ``sayso.errors``. What operators run is
``sayso_bots``, and no platform is known here.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sayso.agent.batch import CallResult, SubmittedCall
    from sayso.agent.connected.connect import connect
    from sayso.agent.gate import Gate
    from sayso.agent.orchestrator import Orchestrator
    from sayso.agent.tools.wrap import wrap
    from sayso.agent.verdict import CheckResult, PendingResult
    from sayso.calls import RunRef, ToolCall
    from sayso.errors import (
        ArgumentsChangedError,
        ConfigError,
        IdempotencyConflictError,
        InvalidCallError,
        RequestNotFoundError,
        SaysoError,
        StoreUnreachableError,
        ToolBlocked,
        WaitTimeoutError,
    )
    from sayso.events import Outcome, Resolution
    from sayso.policy.chain import Chain, When
    from sayso.policy.decision import Decision, Policy, PolicyContext
    from sayso.policy.rule_policy import RulePolicy
    from sayso.questions.clarification import Clarification, Clarify
    from sayso.questions.continuation import Continuation, Continue
    from sayso.questions.inquiry import Question
    from sayso.questions.structured_input import Collect, Collected
    from sayso.questions.text_approval import ApproveText, TextApproval
    from sayso.rules.declarations import ToolAnnotations, requires_permission
    from sayso.rules.glob import escape_glob
    from sayso.rules.lint import lint_rules
    from sayso.rules.matchers import HostMatcher, PathMatcher, ShellMatcher
    from sayso.rules.rule import Rule
    from sayso.stores.connect import open_store

__all__ = [
    "ApproveText",
    "ArgumentsChangedError",
    "CallResult",
    "Chain",
    "CheckResult",
    "Clarification",
    "Clarify",
    "Collect",
    "Collected",
    "ConfigError",
    "Continuation",
    "Continue",
    "Decision",
    "Gate",
    "HostMatcher",
    "IdempotencyConflictError",
    "InvalidCallError",
    "Orchestrator",
    "Outcome",
    "PathMatcher",
    "PendingResult",
    "Policy",
    "PolicyContext",
    "Question",
    "RequestNotFoundError",
    "Resolution",
    "Rule",
    "RulePolicy",
    "RunRef",
    "SaysoError",
    "ShellMatcher",
    "StoreUnreachableError",
    "SubmittedCall",
    "TextApproval",
    "ToolAnnotations",
    "ToolBlocked",
    "ToolCall",
    "WaitTimeoutError",
    "When",
    "connect",
    "escape_glob",
    "lint_rules",
    "open_store",
    "requires_permission",
    "wrap",
]

# A command that starts in an instant imports this first, so nothing is loaded here.
_FILES: dict[str, tuple[str, ...]] = {
    "sayso.agent.batch": (
        "CallResult",
        "SubmittedCall",
    ),
    "sayso.agent.gate": ("Gate",),
    "sayso.agent.connected.connect": ("connect",),
    "sayso.agent.orchestrator": ("Orchestrator",),
    "sayso.agent.tools.wrap": ("wrap",),
    "sayso.agent.verdict": (
        "CheckResult",
        "PendingResult",
    ),
    "sayso.calls": (
        "RunRef",
        "ToolCall",
    ),
    "sayso.errors": (
        "ArgumentsChangedError",
        "ConfigError",
        "IdempotencyConflictError",
        "InvalidCallError",
        "RequestNotFoundError",
        "SaysoError",
        "StoreUnreachableError",
        "ToolBlocked",
        "WaitTimeoutError",
    ),
    "sayso.events": (
        "Outcome",
        "Resolution",
    ),
    "sayso.policy.chain": (
        "Chain",
        "When",
    ),
    "sayso.policy.decision": (
        "Decision",
        "Policy",
        "PolicyContext",
    ),
    "sayso.policy.rule_policy": ("RulePolicy",),
    "sayso.questions.clarification": (
        "Clarification",
        "Clarify",
    ),
    "sayso.questions.continuation": (
        "Continuation",
        "Continue",
    ),
    "sayso.questions.inquiry": ("Question",),
    "sayso.questions.structured_input": (
        "Collect",
        "Collected",
    ),
    "sayso.questions.text_approval": (
        "ApproveText",
        "TextApproval",
    ),
    "sayso.rules.declarations": (
        "ToolAnnotations",
        "requires_permission",
    ),
    "sayso.rules.glob": ("escape_glob",),
    "sayso.rules.lint": ("lint_rules",),
    "sayso.rules.matchers": (
        "HostMatcher",
        "PathMatcher",
        "ShellMatcher",
    ),
    "sayso.rules.rule": ("Rule",),
    "sayso.stores.connect": ("open_store",),
}

# Type checkers read the imports above: to them, another name is a mistake.
if not TYPE_CHECKING:
    _FILE_OF = {name: file for file, names in _FILES.items() for name in names}

    def __getattr__(name: str) -> Any:
        """Load a name on its first use."""
        if name not in _FILE_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        loaded = globals()[name] = getattr(import_module(_FILE_OF[name]), name)
        return loaded

    def __dir__() -> list[str]:
        return sorted({*globals(), *_FILE_OF})
