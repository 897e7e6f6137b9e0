"""Assent: an AI agent asks, a person answers in the chat they have open, the agent goes on."""

from assent.batch import CallResult
from assent.calls import RunRef, ToolCall
from assent.continuation import (
    Continuation,
    ContinuationRequestEvent,
    ContinuationResponseEvent,
)
from assent.errors import AlreadySettledError, AssentError, UnknownAgentError, UnknownRequestError
from assent.events import Event, Outcome, RequestEnding, UserInputRequest, UserInputResponse
from assent.gate import Gate
from assent.orchestrator import Orchestrator
from assent.permission import PermissionRequestEvent, PermissionResponseEvent
from assent.permissions import Permissions
from assent.policy import Context, Decision, Policy, RulePolicy
from assent.rules import Rule
from assent.verdict import Pending, Verdict

__all__ = [
    "AlreadySettledError",
    "AssentError",
    "CallResult",
    "Context",
    "Continuation",
    "ContinuationRequestEvent",
    "ContinuationResponseEvent",
    "Decision",
    "Event",
    "Gate",
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
    "ToolCall",
    "UnknownAgentError",
    "UnknownRequestError",
    "UserInputRequest",
    "UserInputResponse",
    "Verdict",
]
