"""May this tool run, once? The request, its answer, and the card between them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Literal, Self

from pydantic import AwareDatetime, model_validator

from assent.calls import ToolCall, arguments_digest
from assent.cards import NAME_LIMIT, CardBody, Choice
from assent.events import (
    Event,
    Outcome,
    RequestEnding,
    UserInputRequest,
    UserInputResponse,
)
from assent.forms import NO_INPUTS, Inputs
from assent.offers import ALWAYS, Offer, offers
from assent.rules import RememberedRule, Rule, Scope
from assent.text import hidden_count, redacted, redacted_text, shortened, visible

ChoiceWord = Literal["ask", "always_allow", "always_deny"]

ALLOW, DENY = "allow", "deny"


class PermissionRequestEvent(UserInputRequest):
    """A run asks a person whether it may call one tool, once."""

    type: Literal["PERMISSION_REQUEST"] = "PERMISSION_REQUEST"
    permission_id: str
    function_name: str
    description: str = ""
    call_id: str
    arguments: dict[str, Any]
    arguments_digest: str
    suggested_rules: tuple[Rule, ...] = ()

    @property
    def question_id(self) -> str:
        """The permission id."""
        return self.permission_id

    @property
    def subject(self) -> str:
        """The tool's name."""
        return self.function_name

    @model_validator(mode="after")
    def _digest_is_of_these_arguments(self) -> Self:
        if self.arguments_digest != arguments_digest(self.arguments):
            raise ValueError("the digest is not that of the arguments")
        return self

    @property
    def digest_of_arguments(self) -> str:
        """The digest of the arguments."""
        return self.arguments_digest

    def card(self) -> CardBody:
        """The tool, its arguments and the buttons Allow, Always and Deny."""
        allow = Choice(ALLOW, "Allow", "primary", needs_sight=True)
        deny = Choice(DENY, "Deny", "danger")
        stored = [offer.choice for offer in self._offers()]
        always = [choice for choice in stored if choice.key == ALWAYS]
        return CardBody(
            title=shortened(visible(self.function_name, one_line=True), NAME_LIMIT),
            description=visible(redacted_text(self.description)),
            content=_shown(self.arguments),
            question="May this run?",
            digest=self.arguments_digest[:12],
            facts=(*self.origin, *self._not_shown()),
            choices=(allow, *always, deny),
            more=tuple(choice for choice in stored if choice.key != ALWAYS),
        )

    def answer(
        self,
        choice: Choice,
        *,
        by: str,
        at: datetime,
        inputs: Inputs = NO_INPUTS,  # noqa: ARG002  no choice of it has a form
    ) -> PermissionResponseEvent:
        """The response that a choice stands for: Allow, Deny, or what is to be remembered.

        Raises:
            ValueError: the choice is not one of this card.
        """
        if choice.key == DENY:
            return self.deny(by=by, at=at)
        if choice.key == ALLOW:
            return self.approve(by=by, at=at)
        offer = self._offer(choice)
        if offer is None:
            raise ValueError(f"a permission has no choice {choice.key!r}")
        response = self._response(
            offer.effect == "allow",
            by=by,
            at=at,
            reason="",
            choice="always_allow" if offer.effect == "allow" else "always_deny",
            rule=offer.rule,
        )
        until = at + choice.lasts if choice.lasts else None
        return response.model_copy(update={"rule_scope": choice.scope, "rule_expires_at": until})

    def approve(
        self,
        *,
        by: str,
        at: datetime,
        reason: str = "",
        choice: ChoiceWord = "ask",
        rule: Rule | None = None,
    ) -> PermissionResponseEvent:
        """The response that lets the call run."""
        return self._response(True, by=by, at=at, reason=reason, choice=choice, rule=rule)

    def deny(
        self,
        *,
        by: str,
        at: datetime,
        reason: str = "",
        choice: ChoiceWord = "ask",
        rule: Rule | None = None,
    ) -> PermissionResponseEvent:
        """The response that stops the call."""
        return self._response(False, by=by, at=at, reason=reason, choice=choice, rule=rule)

    def to_remember(
        self, choice: Choice, *, by: str, at: datetime, until: datetime
    ) -> RememberedRule | None:
        """The rule that the choice stores: exactly the one it was offered with."""
        offer = self._offer(choice)
        if offer is None:
            return None
        return RememberedRule(
            rule=offer.rule,
            effect=offer.effect,
            stored_by=by,
            stored_at=at,
            expires_at=until,
            scope=offer.choice.scope,
            reason=shortened(visible(redacted_text(self.description), one_line=True), 200),
        )

    def stored(self, ending: RequestEnding) -> str:
        """What was stored and until when, if that was the choice."""
        if not isinstance(ending, PermissionResponseEvent) or ending.choice == "ask":
            return ""
        effect = "allow" if ending.choice == "always_allow" else "deny"
        kept = [
            offer.choice.stores
            for offer in self._offers()
            if (offer.rule, offer.effect) == (ending.rule, effect)
            and offer.choice.scope == (ending.rule_scope or "session")
        ]
        if not kept:
            return ""
        until = ending.rule_expires_at
        return f"{kept[0]}, until {until.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if until else kept[0]

    def _response(
        self,
        approved: bool,
        *,
        by: str,
        at: datetime,
        reason: str,
        choice: ChoiceWord,
        rule: Rule | None,
    ) -> PermissionResponseEvent:
        return PermissionResponseEvent(
            permission_id=self.permission_id,
            source_name=self.source_name,
            approved=approved,
            reason=reason,
            choice=choice,
            decided_by=by,
            decided_at=at,
            arguments_digest=self.arguments_digest,
            rule=rule,
        )

    def _not_shown(self) -> Iterator[tuple[str, str]]:
        if hidden := hidden_count(redacted(self.arguments)):
            yield "Not shown", f"{hidden} secret-looking values; they run as they are"

    def _offers(self) -> tuple[Offer, ...]:
        return offers(call_of(self), self.arguments_digest, self.suggested_rules, self.run)

    def _offer(self, choice: Choice) -> Offer | None:
        return next((offer for offer in self._offers() if offer.choice.key == choice.key), None)


class PermissionResponseEvent(UserInputResponse):
    """The answer that counts: there is at most one per request.

    ``permission_id`` and ``source_name`` are the request's own, unchanged;
    ``arguments_digest`` says for which arguments the answer holds.
    """

    type: Literal["PERMISSION_RESPONSE"] = "PERMISSION_RESPONSE"
    permission_id: str
    approved: bool
    choice: ChoiceWord = "ask"
    arguments_digest: str
    modified_arguments: dict[str, Any] | None = None
    rule: Rule | None = None
    rule_scope: Scope | None = None
    rule_expires_at: AwareDatetime | None = None

    @property
    def question_id(self) -> str:
        """The permission id."""
        return self.permission_id

    @property
    def chosen(self) -> str:
        """The choice."""
        return self.choice

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


class _Decided(Event):
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


def call_of(request: PermissionRequestEvent) -> ToolCall:
    """The tool call that the request is about."""
    return ToolCall(request.function_name, request.arguments, request.call_id)


def _shown(arguments: dict[str, Any]) -> str:
    """The arguments as people read them: a line each, long texts with their own line breaks."""
    if not arguments:
        return "(no arguments)"
    return "\n".join(
        f"{visible(str(name), one_line=True)}: {_value(value)}"
        for name, value in redacted(arguments).items()
    )


def _value(value: Any) -> str:
    if not isinstance(value, str):
        return visible(json.dumps(value, ensure_ascii=False, indent=2))
    text = visible(value)
    if "\n" in text:
        return "\n" + "\n".join(f"  | {line}" for line in text.split("\n"))
    return json.dumps(text, ensure_ascii=False) if _looks_like_json(text) else text


def _looks_like_json(text: str) -> bool:
    # "5" and 5, "" and nothing must not look alike on a card.
    if text != text.strip() or not text:
        return True
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
