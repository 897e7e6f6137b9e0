"""What people and models read in the answers of hooks."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HookWords:
    """The sentences, with what is filled in between braces."""

    mode: str = "{agent}, permission mode {mode}"
    edited: str = "The arguments were changed before the call ran; these ran: {arguments}"
    inexact: str = (
        "The arguments were changed, and {agent} would not read them as they were approved (a "
        "number has too many digits, or they are nested too deeply), so the call did not run. "
        "These were approved: {arguments}"
    )
    noisy: str = (
        "The arguments were changed, and {agent} would not read them: its login shell prints "
        "something before each hook. So the call did not run; make the shell's profile silent"
    )
    unseen: str = (
        "Sayso: no bots are running on this store, so nobody can see this question; "
        "`sayso serve` starts them"
    )
    was_unseen: str = (
        "No bots are running on this store, so nobody could see the question; "
        "`sayso serve` starts them"
    )
    no_reason: str = "the call may not run"
    failed: str = "Sayso could not get an answer, so the call did not run: {why}"
    broken: str = "an error inside Sayso ({kind})"
    unreadable: str = "what came in is not an event of a tool call ({why})"
    other_store: str = "the settings name another store by now: start `sayso hook serve` again"
    stopped: str = "it was stopped while it waited"
    out_of_time: str = "its time was over"
    started_by_hand: str = (
        "sayso: {agent} starts this and writes the event to its input; "
        "`sayso hook install {key}` puts it into the settings"
    )


HOOK_WORDS = HookWords()
