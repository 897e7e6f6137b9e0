"""The words by which people are called, and of the lists of what waits for them."""

from __future__ import annotations

from dataclasses import dataclass

from sayso.text.counted import Counted


@dataclass(frozen=True, slots=True)
class CallWords:
    """One language of reminders, direct messages and lists: templates with named gaps."""

    for_whom: str
    quiet: str
    still_waiting: Counted
    waits_for_you: Counted
    asked_by: str
    expires: str
    open_card: str
    more_waiting: Counted


ENGLISH = CallWords(
    for_whom="For",
    quiet="Quiet hours until {until}: nobody is called. It waits, and expires as always.",
    still_waiting=Counted("Still waiting for an answer", "{count} questions still wait"),
    waits_for_you=Counted("A question waits for you", "{count} questions wait for you"),
    asked_by="asked by",
    expires="expires",
    open_card="Open the card",
    more_waiting=Counted("{count} more question waits", "{count} more questions wait"),
)
