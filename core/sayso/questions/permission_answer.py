"""The answer to a permission request, and what observers see of it."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, Self

from pydantic import AwareDatetime, StrictBool, model_validator

from sayso.digests import is_digest_of
from sayso.events import Event, Outcome, OutcomeEvent, UserInputResponse
from sayso.rules.rule import RememberedRule, Scope, ToldRule

CHANGES = "changes"
"""The key of the choice to ask for changes."""

ChoiceWord = Literal["ask", "always_allow", "always_deny"]


class PermissionResponseEvent(UserInputResponse):
    """The answer that counts: there is at most one per request.

    ``permission_id`` and ``source_name`` are the request's own, unchanged;
    ``arguments_digest`` says for which arguments the answer holds. When a
    person changed them, ``modified_arguments`` are those to run with and
    ``modified_digest`` is theirs. A denial that asks for changes says in its
    reason which. ``line`` names what denied where a person could not allow it:
    ``deny rule 1``, ``remembered always deny``.
    """

    type: Literal["PERMISSION_RESPONSE"] = "PERMISSION_RESPONSE"
    permission_id: str
    approved: StrictBool
    choice: ChoiceWord = "ask"
    arguments_digest: str
    modified_arguments: dict[str, Any] | None = None
    modified_digest: str | None = None
    asks_for_changes: StrictBool = False
    rule: ToldRule = None
    rule_scope: Scope | None = None
    rule_expires_at: AwareDatetime | None = None
    rule_id: str = ""
    line: str = ""

    @property
    def question_id(self) -> str:
        """The permission id."""
        return self.permission_id

    @model_validator(mode="after")
    def _digest_is_of_the_modified_arguments(self) -> Self:
        if self.modified_arguments is None:
            if self.modified_digest is not None:
                raise ValueError(
                    "there is a digest of modified arguments, but no modified arguments"
                )
        elif self.modified_digest is None or not is_digest_of(
            self.modified_digest, self.modified_arguments
        ):
            raise ValueError("the digest is not that of the modified arguments")
        return self

    def denied(
        self, *, reason: str, line: str, at: datetime | None = None
    ) -> PermissionResponseEvent:
        """The denial by a line of the policy in place of this answer. No person gave it."""
        return PermissionResponseEvent(
            permission_id=self.permission_id,
            source_name=self.source_name,
            approved=False,
            reason=reason,
            decided_at=at or self.decided_at,
            arguments_digest=self.arguments_digest,
            line=line,
        )

    @property
    def rule_kept(self) -> str:
        """The id of the rule that Always stored."""
        return self.rule_id

    @property
    def remembered_until(self) -> datetime | None:
        """Until when the rule counts."""
        return self.rule_expires_at

    def remembers_at(self, moment: datetime) -> bool:
        """Return True if it stored a rule that has not expired by then."""
        until = self.rule_expires_at
        return bool(self.rule_id) and (until is None or moment < until)

    def keeping(self, rule: RememberedRule | None) -> PermissionResponseEvent:
        """The answer with the id of the rule that is stored with it."""
        return self if rule is None else self.model_copy(update={"rule_id": rule.rule_id})

    @property
    def chosen(self) -> str:
        """The choice, and ``changes`` where they are asked for."""
        return CHANGES if self.asks_for_changes else self.choice

    @property
    def digest_of_changes(self) -> str:
        """The digest of the modified arguments."""
        return self.modified_digest or ""

    @property
    def approves_a_call(self) -> bool:
        """True if it approves."""
        return self.approved

    @property
    def approves_another_call(self) -> bool:
        """True if it approves changed arguments."""
        return self.approved and self.modified_arguments is not None

    @property
    def outcome(self) -> Outcome:
        """Approved or denied."""
        return Outcome.APPROVED if self.approved else Outcome.DENIED

    @property
    def observed(self) -> Event:
        """What observers see of the answer."""
        kind = PermissionApprovedEvent if self.approved else PermissionDeniedEvent
        return kind(
            permission_id=self.permission_id,
            source_name=self.source_name,
            decided_by=self.decided_by,
            decided_at=self.decided_at,
            reason=self.reason,
        )


class _Decided(OutcomeEvent):
    permission_id: str
    decided_by: str | None = None
    decided_at: datetime
    reason: str = ""


class PermissionApprovedEvent(_Decided):
    """For observers: a person approved."""

    type: Literal["PERMISSION_APPROVED"] = "PERMISSION_APPROVED"


class PermissionDeniedEvent(_Decided):
    """For observers: a person denied."""

    type: Literal["PERMISSION_DENIED"] = "PERMISSION_DENIED"
