"""May this text be used as it is? The request, its answer, and the card between them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import Field, StrictBool, model_validator

from sayso.cards.card import NAME_LIMIT, CardBody, Choice
from sayso.clock import utc_now
from sayso.digests import short_digest
from sayso.errors import ArgumentsChangedError, SchemaError
from sayso.events import Outcome, Resolution, UserInputRequest, UserInputResponse
from sayso.forms.form_values import NO_INPUTS, Inputs
from sayso.questions.inquiry import Question
from sayso.questions.permission_answer import CHANGES
from sayso.questions.refusals import (
    DENY_WITH_REASON,
    changes_choice,
    deny_with_reason_choice,
    reason_in,
)
from sayso.questions.unanswered import unanswered
from sayso.text.agents import from_agent, shown_as_agents
from sayso.text.secrets import redaction
from sayso.text.visible import format_count, shortened
from sayso.values import one_value

TITLE_LIMIT = 200
TEXT_LIMIT = 200_000
CONTEXT_LIMIT = 20_000

APPROVE, DENY = "approve", "deny"


def text_digest(text: str) -> str:
    """SHA-256 of the text in UTF-8, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class TextApproval:
    """Whether a text was approved.

    ``text`` is the approved text and None without an approval. Where a person
    ``asks_for_changes``, ``reason`` says which.
    """

    outcome: Outcome
    text: str | None = None
    reason: str = ""
    decided_by: str | None = None
    asks_for_changes: bool = False

    @property
    def approved(self) -> bool:
        """True if the text may be used."""
        return self.outcome is Outcome.APPROVED


class TextApprovalRequestEvent(UserInputRequest):
    """A run asks a person to approve a text: a plan, a draft, a diff. No tool runs by it."""

    result_type = TextApproval

    type: Literal["TEXT_APPROVAL_REQUEST"] = "TEXT_APPROVAL_REQUEST"
    request_id: str
    title: Annotated[str, Field(max_length=TITLE_LIMIT)]
    text: Annotated[str, Field(max_length=TEXT_LIMIT)]
    context: Annotated[str, Field(max_length=CONTEXT_LIMIT)] = ""

    @model_validator(mode="after")
    def _can_be_shown(self) -> Self:
        for name, text in (("title", self.title), ("text", self.text)):
            if not text.strip():
                raise SchemaError.at_field(name, reason="it is empty")
        return self

    @property
    def question_id(self) -> str:
        """The request id."""
        return self.request_id

    @property
    def subject(self) -> str:
        """Routes know this kind of question as ``text-approval``."""
        return "text-approval"

    @property
    def digest_of_arguments(self) -> str:
        """The digest of the text."""
        return text_digest(self.text)

    def card(self) -> CardBody:
        """The text, the buttons Approve and Deny, and behind More… the denials that say more."""
        translations, (text, hidden) = self.translations, redaction(self.text)
        not_shown = (
            translations.gettext("Not shown"),
            format_count(
                translations,
                "{count} value that looks like a secret; it is approved as it is",
                "{count} values that look like secrets; they are approved as they are",
                hidden,
            ),
        )
        return CardBody(
            title=shortened(from_agent(self.title, one_line=True), NAME_LIMIT),
            description=from_agent(self.context),
            described=translations.gettext("Context given"),
            values=one_value(shown_as_agents(text)),
            question=translations.gettext("May this text be used as it is?"),
            digest=short_digest(self.digest_of_arguments),
            facts=(*self.origin, *((not_shown,) if hidden else ())),
            choices=(
                Choice(APPROVE, translations.gettext("Approve"), "primary", needs_sight=True),
                Choice(DENY, translations.gettext("Deny"), "danger"),
            ),
            more=(changes_choice(translations), deny_with_reason_choice(DENY, translations)),
            granted=translations.pgettext("text", "approved"),
        )

    def answer(
        self, choice: Choice, *, by: str, at: datetime, inputs: Inputs = NO_INPUTS
    ) -> TextApprovalResponseEvent:
        """The response that a choice stands for: Approve, or one of the denials.

        Raises:
            InvalidInputError: a reason is nothing but white space.
            ValueError: the choice is not one of this card.
        """
        if choice.key == APPROVE:
            return self.approve(by=by, at=at)
        if choice.key == DENY:
            return self.deny(by=by, at=at)
        if choice.key in (CHANGES, DENY_WITH_REASON):
            reason = reason_in(inputs, self.translations)
            return self.deny(by=by, at=at, reason=reason, asks_for_changes=choice.key == CHANGES)
        raise ValueError(f"a text approval has no choice {choice.key!r}")

    def approve(
        self, *, by: str, at: datetime | None = None, reason: str = ""
    ) -> TextApprovalResponseEvent:
        """The response that lets the text be used, as it is."""
        return self._response(True, by=by, at=at, reason=reason)

    def deny(
        self,
        *,
        by: str,
        at: datetime | None = None,
        reason: str = "",
        asks_for_changes: bool = False,
    ) -> TextApprovalResponseEvent:
        """The response that refuses the text; with ``asks_for_changes``, the reason says which."""
        return self._response(False, by=by, at=at, reason=reason, asks_for_changes=asks_for_changes)

    def said(
        self, fields: Mapping[str, Any], *, by: str, at: datetime
    ) -> TextApprovalResponseEvent:
        """Whether the text may be used, or needs changes."""
        reason = fields.get("reason", "")
        if fields.get("approved"):
            return self.approve(by=by, at=at, reason=reason)
        changes = bool(fields.get("asks_for_changes"))
        return self.deny(by=by, at=at, reason=reason, asks_for_changes=changes)

    def told(self, ending: Resolution) -> tuple[tuple[str, str], ...]:
        """That changes were asked for; the reason says which."""
        if isinstance(ending, TextApprovalResponseEvent) and ending.asks_for_changes:
            return ((self.translations.gettext("Asked for"), self.translations.gettext("changes")),)
        return ()

    def result(self, ending: Resolution) -> TextApproval:
        """What the ending of the question means for the text.

        Raises:
            ArgumentsChangedError: another text was approved.
        """
        if isinstance(ending, TextApprovalResponseEvent):
            if ending.approved and ending.text_digest != self.digest_of_arguments:
                raise ArgumentsChangedError("the text is not the one that was approved: ask again")
            return TextApproval(
                ending.outcome,
                self.text if ending.approved else None,
                ending.reason,
                ending.decided_by,
                ending.asks_for_changes and not ending.approved,
            )
        outcome, reason = unanswered(ending, "not approved")
        return TextApproval(outcome, None, reason, ending.decided_by)

    def _response(
        self,
        approved: bool,
        *,
        by: str,
        at: datetime | None,
        reason: str,
        asks_for_changes: bool = False,
    ) -> TextApprovalResponseEvent:
        return TextApprovalResponseEvent(
            request_id=self.request_id,
            source_name=self.source_name,
            approved=approved,
            asks_for_changes=asks_for_changes,
            text_digest=self.digest_of_arguments,
            decided_by=by,
            decided_at=at or utc_now(),
            reason=reason,
        )


class TextApprovalResponseEvent(UserInputResponse):
    """The answer that counts; ``text_digest`` says for which text it holds.

    A denial that ``asks_for_changes`` names them in its ``reason``.
    """

    type: Literal["TEXT_APPROVAL_RESPONSE"] = "TEXT_APPROVAL_RESPONSE"
    request_id: str
    approved: StrictBool
    asks_for_changes: StrictBool = False
    text_digest: str

    @property
    def question_id(self) -> str:
        """The request id."""
        return self.request_id

    @property
    def outcome(self) -> Outcome:
        """Approved or denied."""
        return Outcome.APPROVED if self.approved else Outcome.DENIED

    @property
    def chosen(self) -> str:
        """Approve, deny or changes."""
        if self.approved:
            return APPROVE
        return CHANGES if self.asks_for_changes else DENY


@dataclass(frozen=True, slots=True)
class ApproveText(Question[TextApprovalRequestEvent, TextApproval]):
    """A text to approve as it is.

    Its request raises ValueError for an empty text, or one of more than
    200,000 characters; its result raises ArgumentsChangedError where another
    text was approved.
    """

    text: str
    title: str = "Text to approve"
    context: str = ""

    def request(self, question_id: str, fields: dict[str, Any]) -> TextApprovalRequestEvent:
        """The text as a request."""
        return TextApprovalRequestEvent(
            request_id=question_id,
            title=self.title,
            text=self.text,
            context=self.context,
            **fields,
        )
