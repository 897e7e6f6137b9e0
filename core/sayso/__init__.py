"""Sayso: an AI agent asks, a person answers in the chat they have open, the agent goes on."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sayso.batch import CallResult
from sayso.calls import RunRef, ToolCall
from sayso.errors import (
    AlreadySettledError,
    ArgumentsChangedError,
    BusLostError,
    ConfigError,
    InvalidCallError,
    InvalidInputError,
    ListenerError,
    RequestEndedError,
    SaysoError,
    SchemaError,
    StoreUnreachableError,
    ToolBlocked,
    UnknownAgentError,
    UnknownRequestError,
    WaitTimeoutError,
    WrongQuestionError,
)
from sayso.events import Event, Outcome, RequestEnding, UserInputRequest, UserInputResponse
from sayso.gate import Gate
from sayso.permission import PermissionRequestEvent, PermissionResponseEvent
from sayso.policy import Context, Decision, Policy, Remembered, RulePolicy, Ruling
from sayso.requirements import (
    Declaration,
    Requirements,
    multi_agent_tool,
    requires_permission,
    sub_agent_tool,
)
from sayso.rules import RememberedRule, Rule
from sayso.submitted import Submitted
from sayso.verdict import Pending, Verdict

if TYPE_CHECKING:
    from sayso.clarification import (
        Clarification,
        ClarificationRequestEvent,
        ClarificationResponseEvent,
        Clarify,
    )
    from sayso.continuation import (
        Continuation,
        ContinuationRequestEvent,
        ContinuationResponseEvent,
        Continue,
    )
    from sayso.lint import lint_rules
    from sayso.middleware import Chain, When
    from sayso.orchestrator import Orchestrator
    from sayso.permissions import Permissions
    from sayso.structured_input import (
        Collect,
        Collected,
        StructuredInputRequestEvent,
        StructuredInputResponseEvent,
    )
    from sayso.terms import Terms
    from sayso.text_approval import (
        ApproveText,
        TextApproval,
        TextApprovalRequestEvent,
        TextApprovalResponseEvent,
    )
    from sayso.wrapping import LocalGate, wrap

__all__ = [
    "AlreadySettledError",
    "ApproveText",
    "ArgumentsChangedError",
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
    "SaysoError",
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
    "Clarification": "sayso.clarification",
    "ClarificationRequestEvent": "sayso.clarification",
    "ClarificationResponseEvent": "sayso.clarification",
    "Clarify": "sayso.clarification",
    "Continuation": "sayso.continuation",
    "ContinuationRequestEvent": "sayso.continuation",
    "ContinuationResponseEvent": "sayso.continuation",
    "Continue": "sayso.continuation",
    "lint_rules": "sayso.lint",
    "Chain": "sayso.middleware",
    "When": "sayso.middleware",
    "Orchestrator": "sayso.orchestrator",
    "Permissions": "sayso.permissions",
    "Collect": "sayso.structured_input",
    "Collected": "sayso.structured_input",
    "StructuredInputRequestEvent": "sayso.structured_input",
    "StructuredInputResponseEvent": "sayso.structured_input",
    "Terms": "sayso.terms",
    "ApproveText": "sayso.text_approval",
    "TextApproval": "sayso.text_approval",
    "TextApprovalRequestEvent": "sayso.text_approval",
    "TextApprovalResponseEvent": "sayso.text_approval",
    "LocalGate": "sayso.wrapping",
    "wrap": "sayso.wrapping",
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
