"""Claude Agent SDK: people decide where Claude Code would ask for a permission.

``can_use_tool`` is the callback of that name. What Claude Code suggests for the card is read
here, too; what it suggests for its own settings is left alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sayso.always.widths import MOST_SUGGESTED, derive
from sayso.calls import ToolCall, new_id
from sayso.digests import arguments_digest
from sayso.known.tools import roles_in
from sayso.rules.matchers import ShellMatcher
from sayso.rules.rule import Rule
from sayso_agents import missing
from sayso_agents.calls import asked, bind_run

try:
    from claude_agent_sdk import (
        CanUseTool,
        PermissionResult,
        PermissionResultAllow,
        PermissionResultDeny,
        PermissionUpdate,
        ToolPermissionContext,
    )
except ImportError as error:
    raise missing("Claude Agent SDK", error, "claude-agent-sdk>=0.2.187,<0.3") from error

if TYPE_CHECKING:
    from sayso import Gate

__all__ = ["can_use_tool"]

_ANY_ENDS = (" *", ":*")


def can_use_tool(sayso: Gate, *, session: str | None = None) -> CanUseTool:
    """For ``ClaudeAgentOptions(can_use_tool=…)``: a person decides where Claude Code would ask.

    A call runs with the arguments that were approved, or Claude is told why it did not
    run; whatever fails is such a no. ``session`` is the one that an *Always* is kept for,
    else the handle's; without a name of either, it is not offered. Claude Code stores nothing by
    itself: what it suggests is offered on the card, as far as we understand it, and kept by
    Sayso, where it can be revoked.
    """
    run = bind_run(sayso, lambda: session)

    async def decide(
        tool: str, arguments: dict[str, Any], context: ToolPermissionContext
    ) -> PermissionResult:
        said = await asked(
            tool,
            lambda: ToolCall(tool, arguments, context.tool_use_id or new_id()),
            lambda call: run().check(
                call,
                path=(f"sub-agent {context.agent_id}",) if context.agent_id else (),
                description=_about(context),
                suggest=_suggested(call, context.suggestions),
            ),
        )
        if said.arguments is None:
            return PermissionResultDeny(message=said.text)
        return PermissionResultAllow(updated_input=said.arguments)

    return decide


def _about(context: ToolPermissionContext) -> str:
    """What Claude Code says of the call, and why it asks."""
    lines = [context.description, context.decision_reason]
    if context.blocked_path:
        lines.append(f"Outside of its folders: {context.blocked_path}")
    return "\n".join(line for line in lines if line)


def _suggested(call: ToolCall, suggestions: Sequence[PermissionUpdate]) -> list[Rule]:
    """The widths that Claude Code suggests, as rules of ours: those that are about this call.

    It reads its patterns by rules of its own, and takes more than we do. What we do not
    take is left out, and so is what the card offers anyway, such as a host or the whole tool.
    """
    command = roles_in(call, None).command
    if not command:
        return []
    offered, found = derive(call), list[Rule]()
    for suggestion in suggestions:
        begins = _beginnings(call, suggestion)
        rule = _line(call, command, begins)
        if begins and rule.matches(call) and rule not in (*found, *offered):
            found.append(rule)
    return found[:MOST_SUGGESTED]


def _beginnings(call: ToolCall, suggestion: PermissionUpdate) -> tuple[tuple[str, ...], ...]:
    """What the parts of a line begin with; none where it says that of a part in another way.

    A line of several parts has a pattern for each of them: it needs them all.
    """
    if suggestion.type != "addRules" or suggestion.behavior != "allow":
        return ()
    rules = suggestion.rules or []
    if any(rule.tool_name != call.name for rule in rules):
        return ()
    begins = {_words(rule.rule_content or "") for rule in rules}
    return tuple(sorted(begins)) if all(begins) else ()


def _words(pattern: str) -> tuple[str, ...]:
    """The words that a part of a line begins with; none where the pattern says something else."""
    for end in _ANY_ENDS:
        if pattern.endswith(end):
            return tuple(pattern.removesuffix(end).split())
    return ()


def _line(call: ToolCall, command: str, begins: tuple[tuple[str, ...], ...]) -> Rule:
    """Lines whose every part begins so; talk may be anything, the rest is held as it is."""
    talk = roles_in(call, None).talk
    others = {key: one for key, one in call.arguments.items() if key not in {command, *talk}}
    matchers = {command: ShellMatcher(begins)}
    return Rule(call.name, matchers=matchers, others_digest=arguments_digest(others), talk=talk)
