"""The words of the desk: what pressers are told. Nothing decides on them."""

from __future__ import annotations

from dataclasses import dataclass

from sayso.calling import words as calling
from sayso.calling.words import CallWords
from sayso.cards.words import CardWords
from sayso.events import Outcome
from sayso.questions import words as questions
from sayso.questions.words import QuestionWords
from sayso.text.counted import Counted


@dataclass(frozen=True, slots=True)
class DeskWords:
    """One language of the desk, with that of its questions. Another language is another value."""

    questions: QuestionWords
    calls: CallWords

    unknown: str
    not_allowed: str
    own_request: str
    second_press: str
    would_allow: str
    would_deny: str
    not_yet: str
    no_such_button: str
    recorded: str
    unheard: str
    not_approved: str
    rule_revoked: str
    not_in_force: str
    may_not_revoke: str

    invalid: str
    not_asked: str
    no_reason_asked: str
    nobody_waits: str
    not_shown: str

    none_allowed: str
    own_requests: str
    unseen: Counted
    decided: str
    already: Counted
    gone: Counted
    by_rule: Counted
    forbidden: str
    own: str
    for_nobody: str
    listed: str

    @property
    def cards(self) -> CardWords:
        """The words of its cards."""
        return self.questions.cards

    @property
    def tag(self) -> str:
        """What the language is called in the settings."""
        return self.cards.tag

    def outcome(self, outcome: Outcome) -> str:
        """How a question ended, as the first word of a sentence."""
        return self.cards.how(outcome.value).capitalize()


ENGLISH = DeskWords(
    questions=questions.ENGLISH,
    calls=calling.ENGLISH,
    unknown="This card is no longer known. Nothing was decided.",
    not_allowed="You may not decide this one. It stays open.",
    own_request="You asked for this, so somebody else has to approve it. It stays open.",
    second_press="{choice} needs a second press: see the card.",
    would_allow="It would have allowed {count} of the last {all} calls of this session",
    would_deny="It would have denied {count} of the last {all} calls of this session",
    not_yet="Not yet: {why}",
    no_such_button="This card has no such button.",
    recorded="{outcome}.",
    unheard="{outcome} and recorded, but nobody is waiting for it right now.",
    not_approved="Not approved: {reason}.",
    rule_revoked="Revoked. Its calls are asked about again.",
    not_in_force="This is not in force any more: it has expired, or was revoked before.",
    may_not_revoke="You may not revoke this one.",
    invalid="Some answers do not fit.",
    not_asked="You could not be asked for it: {problem}.",
    no_reason_asked="{outcome}; no reason could be asked for: {problem}.",
    nobody_waits="{said} Nobody is waiting for it right now.",
    not_shown="It could not be shown in full: {problem}.",
    none_allowed="You may not decide these. They stay open.",
    own_requests="You asked for these, so somebody else has to approve them. They stay open.",
    unseen=Counted(
        "Not yet: {count} call is cut. Press {show_all} there first.",
        "Not yet: {count} calls are cut. Press {show_all} there first.",
    ),
    decided="{count} {outcome}",
    already=Counted("{count} was already {how}", "{count} were already {how}"),
    gone=Counted("{count} was no longer known", "{count} were no longer known"),
    by_rule=Counted("{count} is denied by a rule", "{count} are denied by a rule"),
    forbidden="{count} you may not decide",
    own="{count} you asked for, so somebody else has to approve",
    for_nobody="nobody is waiting for {count} of them right now",
    listed="{parts}.",
)
