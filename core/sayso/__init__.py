"""Sayso: an AI agent asks, a person answers in the chat they have open, the agent goes on.

The names that agents use; a room's names are loaded when they are first used. What
operators run is ``sayso_bots``, and no platform is known here.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sayso.calls import RunRef, ToolCall
from sayso.errors import (
    AlreadySettledError,
    ArgumentsChangedError,
    BusLostError,
    ConfigError,
    DeniedByRuleError,
    DuplicateRequestError,
    FieldError,
    HandleClosedError,
    InvalidCallError,
    InvalidInputError,
    KeyReusedError,
    ListenerError,
    NotApproverError,
    RequestEndedError,
    RequestLostError,
    SaysoError,
    SchemaError,
    StoreUnreachableError,
    ToolBlocked,
    UnknownAgentError,
    UnknownKeyError,
    UnknownRequestError,
    WaitTimeoutError,
    WrongLoopError,
    WrongQuestionError,
)
from sayso.events import Event, Outcome, RequestEnding, UserInputRequest, UserInputResponse
from sayso.globs.glob import escape
from sayso.policy.decision import Context, Decision, Policy, Ruling
from sayso.policy.remembered import Remembered
from sayso.policy.rule_policy import RulePolicy
from sayso.questions.permission import PermissionRequestEvent
from sayso.questions.permission_answer import PermissionResponseEvent
from sayso.rules.declarations import (
    Declaration,
    Requirements,
    multi_agent_tool,
    requires_permission,
    sub_agent_tool,
)
from sayso.rules.deny_rule import DenyRule
from sayso.rules.rule import PatternRule, RememberedRule, Rule

if TYPE_CHECKING:
    from sayso.agent.batch import CallResult, Submitted
    from sayso.agent.gate import Gate
    from sayso.agent.handle.handle import Handle, connect
    from sayso.agent.orchestrator import Orchestrator
    from sayso.agent.responding import Authority, Responder
    from sayso.agent.tools.wrap import LocalGate, wrap
    from sayso.agent.verdict import Pending, Verdict
    from sayso.always.terms import Terms
    from sayso.policy.chain import Chain, When
    from sayso.policy.permissions import Permissions
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
    from sayso.questions.inquiry import Inquiry
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
    from sayso.rules.lint import lint_rules
    from sayso.stores.connect import open_backend

__all__ = [
    "AlreadySettledError",
    "ApproveText",
    "ArgumentsChangedError",
    "Authority",
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
    "DeniedByRuleError",
    "DenyRule",
    "DuplicateRequestError",
    "Event",
    "FieldError",
    "Gate",
    "Handle",
    "HandleClosedError",
    "Inquiry",
    "InvalidCallError",
    "InvalidInputError",
    "KeyReusedError",
    "ListenerError",
    "LocalGate",
    "NotApproverError",
    "Orchestrator",
    "Outcome",
    "PatternRule",
    "Pending",
    "PermissionRequestEvent",
    "PermissionResponseEvent",
    "Permissions",
    "Policy",
    "Remembered",
    "RememberedRule",
    "RequestEndedError",
    "RequestEnding",
    "RequestLostError",
    "Requirements",
    "Responder",
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
    "UnknownKeyError",
    "UnknownRequestError",
    "UserInputRequest",
    "UserInputResponse",
    "Verdict",
    "WaitTimeoutError",
    "When",
    "WrongLoopError",
    "WrongQuestionError",
    "connect",
    "escape",
    "lint_rules",
    "multi_agent_tool",
    "open_backend",
    "requires_permission",
    "sub_agent_tool",
    "wrap",
]

# Not every process needs these: each is loaded when it is first used. Nothing of the agent may be
# loaded here, because whatever imports a room of sayso, the desk among them, runs this first.
_LATER = {
    "CallResult": "sayso.agent.batch",
    "Submitted": "sayso.agent.batch",
    "Gate": "sayso.agent.gate",
    "Handle": "sayso.agent.handle.handle",
    "connect": "sayso.agent.handle.handle",
    "Pending": "sayso.agent.verdict",
    "Verdict": "sayso.agent.verdict",
    "Clarification": "sayso.questions.clarification",
    "ClarificationRequestEvent": "sayso.questions.clarification",
    "ClarificationResponseEvent": "sayso.questions.clarification",
    "Clarify": "sayso.questions.clarification",
    "Continuation": "sayso.questions.continuation",
    "ContinuationRequestEvent": "sayso.questions.continuation",
    "ContinuationResponseEvent": "sayso.questions.continuation",
    "Continue": "sayso.questions.continuation",
    "open_backend": "sayso.stores.connect",
    "Inquiry": "sayso.questions.inquiry",
    "lint_rules": "sayso.rules.lint",
    "Chain": "sayso.policy.chain",
    "When": "sayso.policy.chain",
    "Orchestrator": "sayso.agent.orchestrator",
    "Authority": "sayso.agent.responding",
    "Responder": "sayso.agent.responding",
    "Permissions": "sayso.policy.permissions",
    "Collect": "sayso.questions.structured_input",
    "Collected": "sayso.questions.structured_input",
    "StructuredInputRequestEvent": "sayso.questions.structured_input",
    "StructuredInputResponseEvent": "sayso.questions.structured_input",
    "Terms": "sayso.always.terms",
    "ApproveText": "sayso.questions.text_approval",
    "TextApproval": "sayso.questions.text_approval",
    "TextApprovalRequestEvent": "sayso.questions.text_approval",
    "TextApprovalResponseEvent": "sayso.questions.text_approval",
    "LocalGate": "sayso.agent.tools.wrap",
    "wrap": "sayso.agent.tools.wrap",
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
