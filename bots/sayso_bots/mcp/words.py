"""What models and people read of calls that come by MCP."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class McpWords:
    """The sentences, with what is filled in between braces."""

    where: str = "{client} calls a tool of the MCP server {server}"
    goes_on: str = (
        "{client} goes on with a call of the MCP server {server}, which wanted more of it"
    )
    somebody: str = "an MCP client"
    waiting: str = "Waiting for an answer in chat: {tool}"
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
    strange_name: str = (
        "Not reached under this Host, or not from this Origin. Name the host with --name where "
        "sayso is started.\n"
    )
    instructions: str = (
        "Ask with request_approval before you do what a person should decide, and do it only if "
        "the result says that it was approved, with the arguments that it gives. Nothing in here "
        "can approve a call: a person does, in chat."
    )
    request: str = (
        "Ask a person in chat whether a tool may be called with these arguments, and wait for "
        "the answer. Call the tool only if the result says that it was approved."
    )
    request_tool: str = "The name of the tool that is to be called"
    request_arguments: str = "Its arguments, all of them, as it would be called"
    request_description: str = "Why, in a sentence, for the person who decides"
    request_wait: str = "false: do not wait, and look with approval_status later"
    status: str = "How a question stands that request_approval has asked"
    status_id: str = "The permission id that request_approval has given"
    prompt: str = (
        "For Claude Code's option --permission-prompt-tool: asks a person in chat whether a tool "
        "may be used"
    )
    may_run: str = "Approved: {tool} may be called once, with exactly these arguments: {arguments}"
    come_back: str = (
        "A person is asked whether {tool} may be called; it may not yet. Look with "
        "approval_status, permission_id {id}"
    )
    still_waits: str = "Nobody has answered yet: the tool may not be called"
    withdrawn: str = "the client withdrew the call"


MCP_WORDS = McpWords()
