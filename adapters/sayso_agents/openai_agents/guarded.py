"""Tools that ask themselves before they run."""

from __future__ import annotations

import copy
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from agents import (
    FunctionTool,
    Tool,
    ToolGuardrailFunctionOutput,
    ToolOutputGuardrail,
    ToolOutputGuardrailData,
)
from agents.tool_context import ToolContext

from sayso.calls import ToolCall
from sayso.digests import arguments_digest
from sayso_agents.calls import Said, arguments_in, asked, first_line
from sayso_agents.openai_agents.asker import Asker, asker_in, asking
from sayso_agents.used import Used

if TYPE_CHECKING:
    from sayso.agent.gate import Gate

# Of the whole process: tools may be guarded anew for each run.
_used = Used()


class _Refusal(str):
    """What the model is told in place of the result of a tool."""

    __slots__ = ()


def guard(sayso: Gate, tools: Sequence[Tool]) -> list[Tool]:
    """The same tools, each of whose calls is decided on before it runs.

    What a person changed is what runs; a call that is not approved results in a text that
    says why. They ask themselves: ``needs_approval`` of these tools is off. The run's
    ``group_id`` is the session, else the handle's; without a name, an *Always* ends with the run.

    Raises:
        TypeError: a tool that is no FunctionTool. OpenAI runs most of those; a shell, a
            patch or a custom tool has ``needs_approval`` for ``run``.
    """
    return [_guarded(sayso, tool) for tool in tools]


def _guarded(sayso: Gate, tool: Tool) -> Tool:
    if not isinstance(tool, FunctionTool):
        raise TypeError(
            f"guard cannot stand before {type(tool).__name__}, which is no function of yours: "
            "leave it out, and give it needs_approval (or require_approval) where it has that"
        )
    name = tool.qualified_name
    about = first_line(tool.description)

    async def invoke(context: ToolContext[Any], text: str) -> Any:
        asker = asker_in(sayso, context)

        async def ask(key: str | None) -> Said:
            return await asked(
                name,
                lambda: ToolCall(name, arguments_in(text), context.tool_call_id),
                lambda call: asker.run().check(call, key=key, path=asker.path, description=about),
            )

        said, key = await _let_through(tool, asker, context.tool_call_id, text, ask)
        if said.arguments is None:
            return _Refusal(said.text)
        with asking(asker):
            # Written anew: what another reader might make of the model's text was not approved.
            result = await tool.on_invoke_tool(context, json.dumps(said.arguments))
        if result is None and key is not None:
            # The run inside it was interrupted: it will be invoked again, for the same call.
            _used.release(key)
        return f"{result}\n\n{said.text}" if said.text and type(result) is str else result

    guarded = copy.copy(tool)
    guarded.on_invoke_tool = invoke
    guarded.needs_approval = False
    if tool.output_json_schema is not None:
        # A text is no such object: the run would fail where the model should read why not.
        first: ToolOutputGuardrail[Any] = ToolOutputGuardrail(_tell_refusal, name="sayso")
        guarded.tool_output_guardrails = [first, *(tool.tool_output_guardrails or ())]
    return guarded


async def _let_through(
    tool: FunctionTool,
    asker: Asker,
    call_id: str,
    text: str,
    ask: Callable[[str | None], Awaitable[Said]],
) -> tuple[Said, str | None]:
    """What came of asking about a call, and its key if its tool can be invoked again for it.

    The SDK does that with agents as tools alone. Its ids are those of a run: agents of several
    runs inside one may use them again, and what the call is tells more of them apart.
    """
    if not getattr(tool, "_is_agent_tool", False):
        return await ask(None), None
    said_of_it = {"path": asker.path, "tool": tool.qualified_name, "call": call_id, "text": text}
    key = f"openai-agents:{asker.run_id}:{arguments_digest(said_of_it)}"
    return await _used.once(key, ask)


def _tell_refusal(data: ToolOutputGuardrailData) -> ToolGuardrailFunctionOutput:
    if isinstance(data.output, _Refusal):
        return ToolGuardrailFunctionOutput.reject_content(str(data.output))
    return ToolGuardrailFunctionOutput.allow()
