"""May this tool run, once? The request, its answer, and the card between them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Literal, Self

from pydantic import model_validator

from assent.calls import ToolCall, arguments_digest
from assent.cards import NAME_LIMIT, CardBody, Choice
from assent.events import (
    Event,
    Outcome,
    RequestEnding,
    UserInputRequest,
    UserInputResponse,
)
from assent.rules import RememberedRule, Rule
from assent.text import hidden_count, redacted, redacted_text, shortened, visible

ChoiceWord = Literal["ask", "always_allow", "always_deny"]

ALLOW, ALWAYS, DENY = "allow", "always", "deny"


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
    def _literal_rule(self) -> Rule | None:
        """The suggested rule that is about exactly this call, as the card says of Always."""
        for rule in self.suggested_rules:
            if rule.tool == self.function_name and rule.arguments_digest == self.arguments_digest:
                return rule
        return None

    def card(self) -> CardBody:
        """The tool, its arguments and the buttons Allow, Always and Deny."""
        allow = Choice(ALLOW, "Allow", "primary", needs_sight=True)
        always = Choice(ALWAYS, "Always", stores=self._always_stores(), needs_sight=True)
        deny = Choice(DENY, "Deny", "danger")
        return CardBody(
            title=shortened(visible(self.function_name, one_line=True), NAME_LIMIT),
            description=visible(redacted_text(self.description)),
            content=_shown(self.arguments),
            question="May this run?",
            digest=self.arguments_digest[:12],
            facts=tuple(
                (label, shortened(visible(value, one_line=True), NAME_LIMIT))
                for label, value in self._facts()
            ),
            choices=(allow, always, deny) if self._literal_rule else (allow, deny),
        )

    def answer(self, choice: Choice, *, by: str, at: datetime) -> PermissionResponseEvent:
        """The response that Allow, Always or Deny stands for.

        Raises:
            ValueError: the choice is not one of this card.
        """
        if choice.key == DENY:
            return self.deny(by=by, at=at)
        if choice.key == ALLOW:
            return self.approve(by=by, at=at)
        if choice.key == ALWAYS and (rule := self._literal_rule):
            return self.approve(by=by, at=at, choice="always_allow", rule=rule)
        raise ValueError(f"a permission has no choice {choice.key!r}")

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
        """The rule that Always stores: the literal call and no other."""
        if choice.key != ALWAYS or (rule := self._literal_rule) is None:
            return None
        return RememberedRule(
            rule=rule,
            effect="allow",
            stored_by=by,
            stored_at=at,
            expires_at=until,
        )

    def stored(self, ending: RequestEnding) -> str:
        """What Always stored, if that was the choice."""
        always = isinstance(ending, PermissionResponseEvent) and ending.choice == "always_allow"
        return self._always_stores() if always else ""

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

    def _facts(self) -> Iterator[tuple[str, str]]:
        if self.source_name != self.run.agent_id:
            yield "Source", self.source_name
        branch = "" if self.run.branch_id == "main" else f" / {self.run.branch_id}"
        yield "Session", self.run.session_id + branch
        if self.requested_by:
            yield "Requested by", self.requested_by
        if hidden := hidden_count(redacted(self.arguments)):
            yield "Not shown", f"{hidden} secret-looking values; they run as they are"

    def _always_stores(self) -> str:
        # Short enough for Slack's confirm dialog (300 characters with its own words around it).
        tool = shortened(visible(self.function_name, one_line=True), 60)
        session = shortened(visible(self.run.session_id, one_line=True), 60)
        return (
            f"{tool} with exactly these arguments (digest {self.arguments_digest[:12]}) "
            f"in session {session}"
        )


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

    @property
    def question_id(self) -> str:
        """The permission id."""
        return self.permission_id

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
