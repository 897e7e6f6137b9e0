"""Sayso: an AI agent asks, a person answers in the chat they have open, the agent goes on.

The names that agents use; each is loaded when it is first used. What operators run is
``sayso_bots``, and no platform is known here.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sayso.agent.batch import CallResult, SubmittedCall
    from sayso.agent.gate import Gate
    from sayso.agent.handle.handle import Handle, connect
    from sayso.agent.orchestrator import Orchestrator
    from sayso.agent.responding import Authority, Responder
    from sayso.agent.tools.wrap import LocalGate, wrap
    from sayso.agent.verdict import CheckResult, PendingResult
    from sayso.always.terms import GrantOptions
    from sayso.calls import Folder, RunRef, ToolCall
    from sayso.errors import (
        AlreadyResolvedError,
        ArgumentsChangedError,
        ConfigError,
        GateClosedError,
        IdempotencyConflictError,
        InvalidCallError,
        InvalidInputError,
        NotApproverError,
        RequestNotFoundError,
        RequestUnansweredError,
        SaysoError,
        SchemaError,
        StoreUnreachableError,
        SubscriptionLostError,
        ToolBlocked,
        WaitTimeoutError,
        WrongRequestTypeError,
    )
    from sayso.events import Event, Outcome, Resolution, UserInputRequest, UserInputResponse
    from sayso.policy.chain import Chain, When
    from sayso.policy.decision import Decision, Policy, PolicyContext, Ruling
    from sayso.policy.permissions import Permissions
    from sayso.policy.remembered import Remembered
    from sayso.policy.rule_policy import RulePolicy
    from sayso.questions.clarification import (
        Clarification,
        ClarificationRequestEvent,
        ClarificationResponseEvent,
        Clarify,
    )
    from sayso.questions.continuation import (
        Continuation,
        ContinuationRequestEvent,
        ContinuationResponseEvent,
        Continue,
    )
    from sayso.questions.inquiry import Question
    from sayso.questions.permission import PermissionRequestEvent
    from sayso.questions.permission_answer import PermissionResponseEvent
    from sayso.questions.structured_input import (
        Collect,
        Collected,
        StructuredInputRequestEvent,
        StructuredInputResponseEvent,
    )
    from sayso.questions.text_approval import (
        ApproveText,
        TextApproval,
        TextApprovalRequestEvent,
        TextApprovalResponseEvent,
    )
    from sayso.rules.declarations import (
        Requirements,
        ToolAnnotations,
        multi_agent_tool,
        requires_permission,
        sub_agent_tool,
    )
    from sayso.rules.deny_rule import DenyRule
    from sayso.rules.glob import escape_glob
    from sayso.rules.lint import lint_rules
    from sayso.rules.matchers import HostMatcher, PathMatcher, ShellMatcher
    from sayso.rules.rule import PatternRule, RememberedRule, Rule
    from sayso.stores.connect import open_store

__all__ = [
    "AlreadyResolvedError",
    "ApproveText",
    "ArgumentsChangedError",
    "Authority",
    "CallResult",
    "Chain",
    "CheckResult",
    "Clarification",
    "ClarificationRequestEvent",
    "ClarificationResponseEvent",
    "Clarify",
    "Collect",
    "Collected",
    "ConfigError",
    "Continuation",
    "ContinuationRequestEvent",
    "ContinuationResponseEvent",
    "Continue",
    "Decision",
    "DenyRule",
    "Event",
    "Folder",
    "Gate",
    "GateClosedError",
    "GrantOptions",
    "Handle",
    "HostMatcher",
    "IdempotencyConflictError",
    "InvalidCallError",
    "InvalidInputError",
    "LocalGate",
    "NotApproverError",
    "Orchestrator",
    "Outcome",
    "PathMatcher",
    "PatternRule",
    "PendingResult",
    "PermissionRequestEvent",
    "PermissionResponseEvent",
    "Permissions",
    "Policy",
    "PolicyContext",
    "Question",
    "Remembered",
    "RememberedRule",
    "RequestNotFoundError",
    "RequestUnansweredError",
    "Requirements",
    "Resolution",
    "Responder",
    "Rule",
    "RulePolicy",
    "Ruling",
    "RunRef",
    "SaysoError",
    "SchemaError",
    "ShellMatcher",
    "StoreUnreachableError",
    "StructuredInputRequestEvent",
    "StructuredInputResponseEvent",
    "SubmittedCall",
    "SubscriptionLostError",
    "TextApproval",
    "TextApprovalRequestEvent",
    "TextApprovalResponseEvent",
    "ToolAnnotations",
    "ToolBlocked",
    "ToolCall",
    "UserInputRequest",
    "UserInputResponse",
    "WaitTimeoutError",
    "When",
    "WrongRequestTypeError",
    "connect",
    "escape_glob",
    "lint_rules",
    "multi_agent_tool",
    "open_store",
    "requires_permission",
    "sub_agent_tool",
    "wrap",
]

# Nothing is loaded here: whatever imports a room of sayso, a command that starts in an instant
# among them, runs this first.
_ROOMS = {
    "sayso.agent.batch": (
        "CallResult",
        "SubmittedCall",
    ),
    "sayso.agent.gate": ("Gate",),
    "sayso.agent.handle.handle": (
        "Handle",
        "connect",
    ),
    "sayso.agent.orchestrator": ("Orchestrator",),
    "sayso.agent.responding": (
        "Authority",
        "Responder",
    ),
    "sayso.agent.tools.wrap": (
        "LocalGate",
        "wrap",
    ),
    "sayso.agent.verdict": (
        "PendingResult",
        "CheckResult",
    ),
    "sayso.always.terms": ("GrantOptions",),
    "sayso.calls": (
        "Folder",
        "RunRef",
        "ToolCall",
    ),
    "sayso.errors": (
        "AlreadyResolvedError",
        "ArgumentsChangedError",
        "SubscriptionLostError",
        "ConfigError",
        "IdempotencyConflictError",
        "SchemaError",
        "GateClosedError",
        "InvalidCallError",
        "InvalidInputError",
        "NotApproverError",
        "RequestUnansweredError",
        "StoreUnreachableError",
        "SaysoError",
        "ToolBlocked",
        "RequestNotFoundError",
        "WaitTimeoutError",
        "WrongRequestTypeError",
    ),
    "sayso.events": (
        "Event",
        "Outcome",
        "Resolution",
        "UserInputRequest",
        "UserInputResponse",
    ),
    "sayso.rules.glob": ("escape_glob",),
    "sayso.policy.chain": (
        "Chain",
        "When",
    ),
    "sayso.policy.decision": (
        "PolicyContext",
        "Decision",
        "Policy",
        "Ruling",
    ),
    "sayso.policy.permissions": ("Permissions",),
    "sayso.policy.remembered": ("Remembered",),
    "sayso.policy.rule_policy": ("RulePolicy",),
    "sayso.questions.clarification": (
        "Clarification",
        "ClarificationRequestEvent",
        "ClarificationResponseEvent",
        "Clarify",
    ),
    "sayso.questions.continuation": (
        "Continuation",
        "ContinuationRequestEvent",
        "ContinuationResponseEvent",
        "Continue",
    ),
    "sayso.questions.inquiry": ("Question",),
    "sayso.questions.permission": ("PermissionRequestEvent",),
    "sayso.questions.permission_answer": ("PermissionResponseEvent",),
    "sayso.questions.structured_input": (
        "Collect",
        "Collected",
        "StructuredInputRequestEvent",
        "StructuredInputResponseEvent",
    ),
    "sayso.questions.text_approval": (
        "ApproveText",
        "TextApproval",
        "TextApprovalRequestEvent",
        "TextApprovalResponseEvent",
    ),
    "sayso.rules.declarations": (
        "ToolAnnotations",
        "Requirements",
        "multi_agent_tool",
        "requires_permission",
        "sub_agent_tool",
    ),
    "sayso.rules.deny_rule": ("DenyRule",),
    "sayso.rules.matchers": (
        "HostMatcher",
        "PathMatcher",
        "ShellMatcher",
    ),
    "sayso.rules.lint": ("lint_rules",),
    "sayso.rules.rule": (
        "PatternRule",
        "RememberedRule",
        "Rule",
    ),
    "sayso.stores.connect": ("open_store",),
}
_LATER = {name: room for room, names in _ROOMS.items() for name in names}

# Type checkers read the imports above: to them, another name is a mistake.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """What is loaded on its first use."""
        if name not in _LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(import_module(_LATER[name]), name)
        return found

    def __dir__() -> list[str]:
        return sorted({*globals(), *_LATER})
