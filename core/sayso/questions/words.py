"""The words of the kinds of question: on their cards, in their forms, of their answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sayso.always import words as always
from sayso.always.words import AlwaysWords
from sayso.calls import ToolCall
from sayso.cards import words as cards
from sayso.cards.words import CardWords
from sayso.chats.words import ENGLISH as LIMIT_ENGLISH
from sayso.chats.words import LimitWords
from sayso.dangers import words as dangers
from sayso.dangers.words import DangerWords
from sayso.events import UserInputRequest
from sayso.known import wordings
from sayso.text.counted import Counted
from sayso.wording.wording import Templates, Wording


@dataclass(frozen=True, slots=True)
class QuestionWords:
    """One language of questions, with those of cards and of *Always*: templates with named gaps.

    A kind of your own that speaks several languages has them in a subclass, and finds it in
    its ``language``.
    """

    allow: str
    deny: str
    may_run: str
    asked_because: str
    works_in: str
    says: str
    says_of: str
    says_link: str
    not_shown: str
    runs_hidden: Counted
    runs_with: str
    no_arguments: str
    new_digest: str

    edit: str
    edit_title: str
    edit_note: str
    allow_these: str
    arguments: str
    hidden_moved: str
    neither: str
    no_such_argument: str
    given_twice: str
    value_not_json: str
    unfit_for_tool: str
    not_editable: str

    deny_with_reason: str
    denial: str
    reason: str
    agent_is_told: str
    without_reason: Counted
    leave_reason_out: str
    closed_without_reason: str
    reason_is_written: str
    ask_for_changes: str
    changes_title: str
    what_should_change: str
    agent_can_ask_again: str
    asked_for: str
    changes: str

    context: str
    question: str
    answer: str
    your_answer: str
    answer_it: str
    answer_otherwise: str
    decline: str
    answered: str

    may_be_used: str
    approve: str
    approved: str
    approves_hidden: Counted

    input_needed: str
    fields: str
    fill_in: str
    filled_in: str
    unfit_answer: str

    may_continue: str
    used: str
    go_on: str
    stop: str
    more_iterations: Counted

    cards: CardWords
    always: AlwaysWords
    dangers: DangerWords
    limits: LimitWords = LIMIT_ENGLISH
    known: Mapping[str, Templates] = field(default_factory=lambda: wordings.ENGLISH, hash=False)

    def well_known(self, call: ToolCall, shown: Mapping[str, Any]) -> Wording | None:
        """What is said of a well-known tool's call, with its arguments as people may see them."""
        return wordings.well_known(call, shown, self.known, self.cards.formats)


ENGLISH = QuestionWords(
    allow="Allow",
    deny="Deny",
    may_run="May this run?",
    asked_because="Asked because",
    works_in="Folder",
    says="The tool says",
    says_of="The tool says: {name}",
    says_link="The tool links to",
    not_shown="Not shown",
    runs_hidden=Counted(
        "{count} value that looks like a secret; it runs as it is",
        "{count} values that look like secrets; they run as they are",
    ),
    runs_with="Runs with",
    no_arguments="(no arguments)",
    new_digest="Digest of that",
    edit="Edit arguments…",
    edit_title="Edit the arguments",
    edit_note=(
        "Change the JSON, or write only what changes as name=value, one per line. "
        "Leave a hidden value unchanged to keep it."
    ),
    allow_these="Allow with these",
    arguments="Arguments",
    hidden_moved=(
        "a hidden value cannot be moved or changed in part: leave it as it stands or replace it"
    ),
    neither="line {line} is neither JSON nor name=value",
    no_such_argument="there is no argument {name}, only {known}; use JSON to add one",
    given_twice="{name} is given twice",
    value_not_json="{name} is not a string, so its value must be JSON",
    unfit_for_tool="this does not fit the tool: {problem}",
    not_editable="nothing can be edited: {problem}",
    deny_with_reason="Deny with a reason…",
    denial="Deny with a reason",
    reason="Reason",
    agent_is_told="The agent is told this.",
    without_reason=Counted(
        "Without a reason it is denied in {count} second.",
        "Without a reason it is denied in {count} seconds.",
    ),
    leave_reason_out="Without a reason",
    closed_without_reason="If you close this, the denial counts at once, without a reason.",
    reason_is_written="{who} denies this; the reason is being written.",
    ask_for_changes="Ask for changes…",
    changes_title="Ask for changes",
    what_should_change="What should change",
    agent_can_ask_again="The agent is told this and can ask again.",
    asked_for="Asked for",
    changes="changes",
    context="Context given",
    question="Question",
    answer="Answer",
    your_answer="Your answer",
    answer_it="Answer…",
    answer_otherwise="Other…",
    decline="Don't answer",
    answered="answered",
    may_be_used="May this text be used as it is?",
    approve="Approve",
    approved="approved",
    approves_hidden=Counted(
        "{count} value that looks like a secret; it is approved as it is",
        "{count} values that look like secrets; they are approved as they are",
    ),
    input_needed="Input needed",
    fields="Fields",
    fill_in="Fill in…",
    filled_in="filled in",
    unfit_answer="it does not fit what was asked for",
    may_continue="Continue?",
    used="The run has used {used} of {most} iterations.",
    go_on="Continue (+{count})",
    stop="Stop",
    more_iterations=Counted("{count} more iteration", "{count} more iterations"),
    cards=cards.ENGLISH,
    always=always.ENGLISH,
    dangers=dangers.ENGLISH,
)


def words_of(request: UserInputRequest) -> QuestionWords:
    """The language that the request speaks."""
    return request.language if isinstance(request.language, QuestionWords) else ENGLISH
