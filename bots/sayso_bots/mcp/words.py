"""What models and people read of calls that come by MCP."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class McpWords:
    """The sentences, with what is filled in between braces."""

    where: str = "{client} calls a tool of the MCP server {server}"
    somebody: str = "an MCP client"
    waiting: str = "Waiting for an answer in chat: {tool}"
    strange_state: str = (
        "Sayso did not give this requestState for this call, so the call did not run. Call the "
        "tool again without it."
    )
    old_state: str = (
        "This call was waited for too long, so it did not run. Call the tool again without its "
        "requestState."
    )
    edited: str = "The arguments were changed before the call ran; these ran: {arguments}"
    failed: str = "Sayso could not get an answer, so the call did not run: {why}"
    refused: str = "Sayso did not understand the call, so it did not run: {why}"
    broken: str = "an error inside Sayso ({kind})"
    inexact: str = (
        "The arguments were changed, and the server would not read them as they were approved (a "
        "number has too many digits, or they are nested too deeply), so the call did not run. "
        "These were approved: {arguments}"
    )
    used: str = (
        "This approval was used already, so the call did not run again. Whether the first one "
        "ran to its end is not known: look before you call the tool once more."
    )
    too_late: str = "The call was approved, but too long ago, so it did not run. Call it again."
    server_gone: str = (
        "The MCP server ended before it answered ({why}): whether the call ran is not known."
    )
    withdrawn: str = "the client withdrew the call"
    stopped: str = "the MCP proxy was stopped"
    open_chat: str = "Answer in chat whether {tool} may run"


MCP_WORDS = McpWords()
