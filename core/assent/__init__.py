"""Assent: an AI agent asks, a person answers in the chat they have open, the agent goes on."""

from assent.batch import CallResult
from assent.calls import RunRef, ToolCall
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
from assent.errors import (
    AlreadySettledError,
    AssentError,
    InvalidInputError,
    SchemaError,
    UnknownAgentError,
    UnknownRequestError,
    WrongQuestionError,
)
from assent.events import Event, Outcome, RequestEnding, UserInputRequest, UserInputResponse
from assent.gate import Gate
from assent.orchestrator import Orchestrator
from assent.permission import PermissionRequestEvent, PermissionResponseEvent
from assent.permissions import Permissions
from assent.policy import Context, Decision, Policy, RulePolicy
from assent.rules import Rule
from assent.structured_input import (
    Collect,
    Collected,
    StructuredInputRequestEvent,
    StructuredInputResponseEvent,
)
from assent.text_approval import (
    ApproveText,
    TextApproval,
    TextApprovalRequestEvent,
    TextApprovalResponseEvent,
)
from assent.verdict import Pending, Verdict

__all__ = [
    "AlreadySettledError",
    "ApproveText",
    "AssentError",
    "CallResult",
    "Clarification",
    "ClarificationRequestEvent",
    "ClarificationResponseEvent",
    "Clarify",
    "Collect",
    "Collected",
    "Context",
    "Continuation",
    "ContinuationRequestEvent",
    "ContinuationResponseEvent",
    "Continue",
    "Decision",
    "Event",
    "Gate",
    "InvalidInputError",
    "Orchestrator",
    "Outcome",
    "Pending",
    "PermissionRequestEvent",
    "PermissionResponseEvent",
    "Permissions",
    "Policy",
    "RequestEnding",
    "Rule",
    "RulePolicy",
    "RunRef",
    "SchemaError",
    "StructuredInputRequestEvent",
    "StructuredInputResponseEvent",
    "TextApproval",
    "TextApprovalRequestEvent",
    "TextApprovalResponseEvent",
    "ToolCall",
    "UnknownAgentError",
    "UnknownRequestError",
    "UserInputRequest",
    "UserInputResponse",
    "Verdict",
    "WrongQuestionError",
]
