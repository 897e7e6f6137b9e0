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
    nothing_waits: str
    asked_by: str
    expires: str
    open_card: str
    more_waiting: Counted
    ask_privately: str

    waiting: str
    your_rules: str
    no_rules: str
    allows: str
    denies: str
    any_arguments: str
    of_agent: str
    stored_by: str
    until: str
    revoke: str
    revoke_really: str
    keep: str
    more_rules: Counted
    decisions: str
    no_decisions: str
    unavailable: str


ENGLISH = CallWords(
    for_whom="For",
    quiet="Quiet hours until {until}: nobody is called. It waits, and expires as always.",
    still_waiting=Counted("Still waiting for an answer", "{count} questions still wait"),
    waits_for_you=Counted("A question waits for you", "{count} questions wait for you"),
    nothing_waits="Nothing waits for you.",
    asked_by="asked by",
    expires="expires",
    open_card="Open the card",
    more_waiting=Counted("{count} more question waits", "{count} more questions wait"),
    ask_privately="What waits for you is told to you alone: write /pending to the bot itself.",
    waiting="Waiting for you",
    your_rules="Your rules",
    no_rules="No rule of yours is remembered.",
    allows="Allows",
    denies="Denies",
    any_arguments="with any arguments",
    of_agent="of agent",
    stored_by="stored by",
    until="until",
    revoke="Revoke",
    revoke_really="From now on people are asked again about such calls.",
    keep="Keep it",
    more_rules=Counted("{count} more rule is kept", "{count} more rules are kept"),
    decisions="Last decisions",
    no_decisions="Nothing was decided yet.",
    unavailable="This cannot be told right now. Try again in a moment.",
)
