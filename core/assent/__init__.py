"""Assent: an AI agent asks, a person answers in the chat they have open, the agent goes on."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from assent.batch import CallResult
from assent.calls import RunRef, ToolCall
from assent.errors import (
    AlreadySettledError,
    ArgumentsChangedError,
    AssentError,
    BusLostError,
    ConfigError,
    InvalidCallError,
    InvalidInputError,
    ListenerError,
    RequestEndedError,
    SchemaError,
    StoreUnreachableError,
    ToolBlocked,
    UnknownAgentError,
    UnknownRequestError,
    WaitTimeoutError,
    WrongQuestionError,
)
from assent.events import Event, Outcome, RequestEnding, UserInputRequest, UserInputResponse
from assent.gate import Gate
from assent.permission import PermissionRequestEvent, PermissionResponseEvent
from assent.policy import Context, Decision, Policy, Remembered, RulePolicy, Ruling
from assent.requirements import (
    Declaration,
    Requirements,
    multi_agent_tool,
    requires_permission,
    sub_agent_tool,
)
from assent.rules import RememberedRule, Rule
from assent.submitted import Submitted
from assent.verdict import Pending, Verdict

if TYPE_CHECKING:
    from assent.clarification import (
        Clarification,
        ClarificationRequestEvent,
        ClarificationResponseEvent,
        Clarify,
    )
    from assent.continuation import (
        Continuation,
        ContinuationRequestEvent,
        ContinuationResponseEvent,
        Continue,
    )
    from assent.lint import lint_rules
    from assent.middleware import Chain, When
    from assent.orchestrator import Orchestrator
    from assent.permissions import Permissions
    from assent.structured_input import (
        Collect,
        Collected,
        StructuredInputRequestEvent,
        StructuredInputResponseEvent,
    )
    from assent.terms import Terms
    from assent.text_approval import (
        ApproveText,
        TextApproval,
        TextApprovalRequestEvent,
        TextApprovalResponseEvent,
    )
    from assent.wrapping import LocalGate, wrap

__all__ = [
    "AlreadySettledError",
    "ApproveText",
    "ArgumentsChangedError",
    "AssentError",
    "BusLostError",
    "CallResult",
    "Chain",
    "Clarification",
    "ClarificationRequestEvent",
    "ClarificationResponseEvent",
    "Clarify",
    "Collect",
    "Collected",
    "ConfigError",
    "Context",
    "Continuation",
    "ContinuationRequestEvent",
    "ContinuationResponseEvent",
    "Continue",
    "Decision",
    "Declaration",
    "Event",
    "Gate",
    "InvalidCallError",
    "InvalidInputError",
    "ListenerError",
    "LocalGate",
    "Orchestrator",
    "Outcome",
    "Pending",
    "PermissionRequestEvent",
    "PermissionResponseEvent",
    "Permissions",
    "Policy",
    "Remembered",
    "RememberedRule",
    "RequestEndedError",
    "RequestEnding",
    "Requirements",
    "Rule",
    "RulePolicy",
    "Ruling",
    "RunRef",
    "SchemaError",
    "StoreUnreachableError",
    "StructuredInputRequestEvent",
    "StructuredInputResponseEvent",
    "Submitted",
    "Terms",
    "TextApproval",
    "TextApprovalRequestEvent",
    "TextApprovalResponseEvent",
    "ToolBlocked",
    "ToolCall",
    "UnknownAgentError",
    "UnknownRequestError",
    "UserInputRequest",
    "UserInputResponse",
    "Verdict",
    "WaitTimeoutError",
    "When",
    "WrongQuestionError",
    "lint_rules",
    "multi_agent_tool",
    "requires_permission",
    "sub_agent_tool",
    "wrap",
]

# Not every run needs these: each is loaded when it is first used.
_LATER = {
    "Clarification": "assent.clarification",
    "ClarificationRequestEvent": "assent.clarification",
    "ClarificationResponseEvent": "assent.clarification",
    "Clarify": "assent.clarification",
    "Continuation": "assent.continuation",
    "ContinuationRequestEvent": "assent.continuation",
    "ContinuationResponseEvent": "assent.continuation",
    "Continue": "assent.continuation",
    "lint_rules": "assent.lint",
    "Chain": "assent.middleware",
    "When": "assent.middleware",
    "Orchestrator": "assent.orchestrator",
    "Permissions": "assent.permissions",
    "Collect": "assent.structured_input",
    "Collected": "assent.structured_input",
    "StructuredInputRequestEvent": "assent.structured_input",
    "StructuredInputResponseEvent": "assent.structured_input",
    "Terms": "assent.terms",
    "ApproveText": "assent.text_approval",
    "TextApproval": "assent.text_approval",
    "TextApprovalRequestEvent": "assent.text_approval",
    "TextApprovalResponseEvent": "assent.text_approval",
    "LocalGate": "assent.wrapping",
    "wrap": "assent.wrapping",
}

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
