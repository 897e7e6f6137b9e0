"""Assent: an AI agent asks, a person answers in the chat they have open, the agent goes on."""

from assent.calls import RunRef, ToolCall
from assent.errors import AssentError
from assent.events import Event, Outcome, RequestEnding, UserInputRequest, UserInputResponse
from assent.gate import Gate
from assent.permission import PermissionRequestEvent, PermissionResponseEvent
from assent.policy import Context, Decision, Policy, RulePolicy
from assent.rules import Rule
from assent.verdict import Verdict

__all__ = [
    "AssentError",
    "Context",
    "Decision",
    "Event",
    "Gate",
    "Outcome",
    "PermissionRequestEvent",
    "PermissionResponseEvent",
    "Policy",
    "RequestEnding",
    "Rule",
    "RulePolicy",
    "RunRef",
    "ToolCall",
    "UserInputRequest",
    "UserInputResponse",
    "Verdict",
]
