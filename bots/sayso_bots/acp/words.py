"""What people read of a proxy between an editor and its agent."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AcpWords:
    """The sentences, with what is filled in between braces."""

    cancelled: str = "the editor cancelled it"
    changed: str = "the agent changed the call while it was asked about"
    ended: str = "the editor or the agent is gone"
    failed: str = "Sayso could not ask about {what}, so it was rejected: {why}"
    edited: str = (
        "{what} was approved with other arguments, which this protocol cannot carry, so it was "
        "rejected. These were approved: {arguments}"
    )
    only_editor: str = "Sayso cannot ask about a request in chat: {why}; only the editor is asked"
    unasked: str = "Sayso cannot ask about a request in chat: {why}; it was rejected"
    unreadable: str = "a message of {whose} was dropped: {why}"


ACP_WORDS = AcpWords()
