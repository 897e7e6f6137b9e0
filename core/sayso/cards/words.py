"""The words of cards: what people read on any card, whatever is asked. Nothing decides on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from sayso.formats import ENGLISH as ENGLISH_FORMATS
from sayso.formats import Formats
from sayso.forms import words as forms
from sayso.forms.words import FormWords
from sayso.text.counted import Counted
from sayso.values import words as values
from sayso.values.words import ValueWords

SUPERSEDED = "superseded"
"""How a card stands that another message shows by now, while its question is open."""


@dataclass(frozen=True, slots=True)
class CardWords:
    """One language of cards: templates with named gaps. Another language is another value.

    ``tag`` is what the settings call the language, such as ``en``; ``formats`` is how it writes
    numbers and times.
    """

    tag: str
    formats: Formats

    show_all: str
    more: str
    back: str
    revoke: str
    revoked: str
    details: str
    allow_all: str
    deny_all: str

    asked_by: str
    source: str
    session: str
    where: str
    project: str
    project_named: str
    request: str
    requested_by: str
    filed_by: str
    reason_given: str
    granted: str
    danger: str
    more_dangers: Counted

    call: str
    all_decided: Counted
    waiting: Counted
    waiting_of: Counted
    unseen: Counted
    and_others: Counted

    cut_content: str
    hidden: str
    hidden_of: str
    hidden_lines: Counted
    hidden_characters: Counted
    more_values: Counted
    cut_description: str
    too_long: str
    see_all: str
    press_first: str
    said_by_agent: str

    asks: str
    buttons: str
    expires: str
    expires_in: str
    ended: str
    digest: str
    reason: str
    remembered: str
    until: str
    nobody_answered: str
    more_answers: Counted

    really: str
    really_for: str
    yes: str
    note: str
    press_to_remember: str
    said_before: str
    will_remember: str
    confirm: str
    not_now: str

    moment: str
    last_expires: str
    first_and_last: str
    the_answer: str
    more_label: str
    facts_left: Counted
    more_facts: Counted
    and_more_facts: Counted
    and_more_answers: Counted
    more_left: Counted
    choices_left: Counted
    cut_answer: Counted
    cut_see: str
    cut_too_long: str
    from_agent: str
    everything: str
    all_asked: str
    close: str

    afterwards: str
    started: str
    ran: str
    failed: str

    late: str
    elsewhere: str
    took_too_long: str
    by: str
    outcomes: Mapping[str, str] = field(hash=False)
    forms: FormWords
    values: ValueWords

    def outcome(self, outcome: str) -> str:
        """How a question ended, in a word; a kind of one's own may have others."""
        return self.outcomes.get(outcome, outcome)

    def how(self, outcome: str, who: str = "") -> str:
        """How a question ended, and by whom where somebody did it."""
        word = self.outcome(outcome)
        return self.by.format(outcome=word, who=who) if who else word


ENGLISH = CardWords(
    tag="en",
    formats=ENGLISH_FORMATS,
    show_all="Show all",
    more="More…",
    back="Back",
    revoke="Revoke",
    revoked="revoked by {who}; it was: {stored}",
    details="Details",
    allow_all="Allow all",
    deny_all="Deny all",
    asked_by="Asked by",
    source="Source",
    session="Session",
    where="Claims to work in",
    project="Project",
    project_named="Agent's project name",
    request="Request",
    requested_by="Requested by",
    filed_by="Asked through",
    reason_given="Reason given",
    granted="allowed",
    danger="Danger: {dangers}",
    more_dangers=Counted("{count} more", "{count} more"),
    call="Call {number} of {count}",
    all_decided=Counted("The call is decided", "All {count} calls are decided"),
    waiting=Counted("{count} call is waiting", "{count} calls are waiting"),
    waiting_of=Counted("{count} of {all} calls is waiting", "{count} of {all} calls are waiting"),
    unseen=Counted(
        "{allow_all} is offered once everything was seen: {count} of the calls is cut.",
        "{allow_all} is offered once everything was seen: {count} of the calls are cut.",
    ),
    and_others=Counted("(and {count} more)", "(and {count} more)"),
    cut_content="Not shown here: {parts}",
    hidden="{lines} ({characters})",
    hidden_of="{lines} of {name} ({characters})",
    hidden_lines=Counted("{count} more line", "{count} more lines"),
    hidden_characters=Counted("{count} character", "{count} characters"),
    more_values=Counted("{count} more argument", "{count} more arguments"),
    cut_description="Not shown here: parts of the reason",
    too_long="{missing}. It is too long for this chat: it can only be denied here.",
    see_all="{missing}. See it with {show_all}.",
    press_first="{missing}. Press {show_all} before it can be {granted}.",
    said_by_agent="{described} by the agent:",
    asks="{asker} asks: {title}",
    buttons="Buttons: {labels}.",
    expires="Expires",
    expires_in="Expires in {time}",
    ended="Ended",
    digest="Digest",
    reason="Reason",
    remembered="Remembered",
    until="until",
    nobody_answered="nobody answered in time",
    more_answers=Counted(
        "{count} more answer is not shown here.", "{count} more answers are not shown here."
    ),
    really="Really? This would be remembered:",
    really_for="Really? For {number} this would be remembered:",
    yes="Yes, {label}",
    note="Note: {warning}",
    press_to_remember="Press {button} to remember it.",
    said_before="You will see what would be remembered before it is stored.",
    will_remember="This will be remembered: {stored}.",
    confirm="{label}?",
    not_now="Not now",
    moment="{date} at {time}",
    last_expires="The last one expires {when}",
    first_and_last="{first}, the last one {last}",
    the_answer="The answer",
    more_label="More",
    facts_left=Counted("{count} fact is not shown here", "{count} facts are not shown here"),
    more_facts=Counted(
        "{count} more fact is not shown here", "{count} more facts are not shown here"
    ),
    and_more_facts=Counted("… and {count} more fact", "… and {count} more facts"),
    and_more_answers=Counted("… and {count} more answer", "… and {count} more answers"),
    more_left=Counted("{count} more not shown", "{count} more not shown"),
    choices_left=Counted(
        "{count} more choice does not fit into this message.",
        "{count} more choices do not fit into this message.",
    ),
    cut_answer=Counted("(cut, {count} character in all)", "(cut, {count} characters in all)"),
    cut_see="Cut: see {show_all}",
    cut_too_long="Cut, and too long for this chat",
    from_agent="Written by the agent, from here to the end:",
    everything="Everything, complete.",
    all_asked="All that is asked",
    close="Close",
    afterwards="Afterwards",
    started="started; how it went was not told",
    ran="ran",
    failed="failed",
    late="Too late: this was already {how}.",
    elsewhere="This button does not belong to this message.",
    took_too_long="it took too long",
    outcomes={
        "approved": "approved",
        "denied": "denied",
        "expired": "expired",
        "cancelled": "cancelled",
        "answered": "answered",
        "undeliverable": "undeliverable",
        SUPERSEDED: "shown in another message here",
    },
    by="{outcome} by {who}",
    forms=forms.ENGLISH,
    values=values.ENGLISH,
)


class Language(Protocol):
    """The tables of one language. Kinds of question know which others it has."""

    @property
    def cards(self) -> CardWords:
        """What any card says, whatever is asked."""
        ...
