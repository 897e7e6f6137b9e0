"""May this tool run, once? The request, and what its answer means."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from functools import cache
from importlib import import_module
from operator import not_
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from sayso.calls import Folder, ToolCall
from sayso.clock import utc_now
from sayso.digests import is_digest_of, is_same_json, shown_and_digest
from sayso.events import Resolution, UserInputRequest
from sayso.forms.form_values import NO_INPUTS, Inputs
from sayso.forms.json_text import MAX_SCHEMA_BYTES
from sayso.questions.permission_answer import ChoiceWord, PermissionResponseEvent
from sayso.rules.rule import (
    MOST_DENY_RULES,
    DenyRule,
    OfferedRules,
    RememberedRule,
    Rule,
    StandingDenial,
)
from sayso.rules.rule_set import RuleBook, standing_denial
from sayso.text.kind import Kind
from sayso.wording.wording import Wording

if TYPE_CHECKING:
    from sayso.cards.card import CardBody, Choice

ALLOW, DENY = "allow", "deny"
"""The keys of two choices; the others are in ``edits``, ``refusals`` and ``always.offers``."""

LONGEST_TOLD = 300
"""What is told of a policy's reason to ask has at most so many characters."""

EditedLines = Annotated[
    tuple[Annotated[int, Field(ge=0, lt=10**9)], ...], Field(max_length=100, exclude_if=not_)
]
"""Where edits begin in their file, 0 where that is not known; left out where there are none."""


class PermissionRequestEvent(UserInputRequest):
    """A run asks a person whether it may call one tool, once.

    ``original_arguments`` are those the agent called with, where a policy put
    others in: a denial of either denies. ``arguments_schema`` is the tool's
    JSON Schema, where it has one: arguments that a person edits must fit it.
    ``asked_because`` is why the policy wants a person, where it says so;
    ``deny_rules`` are those of that policy, which nothing comes before.
    ``wording`` is what the tool's maker says of the call, ``kinds`` of which kind its
    arguments are. ``folder`` is where the agent works, as it says;
    ``edited_lines`` where in its file each edit of the call began when it was asked about.
    """

    type: Literal["PERMISSION_REQUEST"] = "PERMISSION_REQUEST"
    permission_id: str
    function_name: str
    description: str = ""
    call_id: str
    arguments: dict[str, Any]
    arguments_digest: str = ""
    original_arguments: dict[str, Any] | None = None
    arguments_schema: dict[str, Any] | None = None
    suggested_rules: OfferedRules = ()
    asked_because: str = ""
    deny_rules: tuple[DenyRule, ...] = Field(default=(), max_length=MOST_DENY_RULES)
    wording: Annotated[Wording | None, Field(exclude_if=not_)] = None
    kinds: dict[str, Kind] = Field(default_factory=dict, exclude_if=not_)
    edited_lines: EditedLines = ()
    folder: Folder | None = None

    @property
    def question_id(self) -> str:
        """The permission id."""
        return self.permission_id

    @property
    def subject(self) -> str:
        """The tool's name."""
        return self.function_name

    @property
    def bundle(self) -> str:
        """Calls of the same run may share a message."""
        run = self.run
        return json.dumps([run.agent_id, run.session_id, run.branch_id, run.run_id])

    @field_validator("arguments_schema")
    @classmethod
    def _schema_is_no_book(cls, schema: dict[str, Any] | None) -> dict[str, Any] | None:
        if schema is not None and len(json.dumps(schema)) > MAX_SCHEMA_BYTES:
            raise ValueError(f"a schema must have at most {MAX_SCHEMA_BYTES} characters")
        return schema

    @model_validator(mode="after")
    def _digest_is_of_these_arguments(self) -> Self:
        if not self.arguments_digest:
            # Whoever makes a request by hand need not know how one is made: frozen from here on.
            arguments, digest = shown_and_digest(self.arguments)
            vars(self).update(arguments=arguments, arguments_digest=digest)
        elif not is_digest_of(self.arguments_digest, self.arguments):
            raise ValueError("the digest is not that of the arguments")
        return self

    @property
    def why_asked(self) -> str:
        """The policy's reason."""
        return self.asked_because

    @property
    def digest_of_arguments(self) -> str:
        """The digest of the arguments."""
        return self.arguments_digest

    def card(self) -> CardBody:
        """The tool, its arguments and the buttons Allow, Always and Deny."""
        made: CardBody = _by_card("card_of")(self)
        return made

    def answer(
        self,
        choice: Choice,
        *,
        by: str,
        at: datetime,
        inputs: Inputs = NO_INPUTS,
    ) -> PermissionResponseEvent:
        """The response that a choice stands for: Allow, Deny, or what is to be remembered.

        Raises:
            InvalidInputError: the edited arguments or the reason cannot be used.
            ValueError: the choice is not one of this card.
        """
        made: PermissionResponseEvent = _by_card("answer_to")(
            self, choice, by=by, at=at, inputs=inputs
        )
        return made

    def approve(
        self,
        *,
        by: str,
        at: datetime | None = None,
        reason: str = "",
        choice: ChoiceWord = "ask",
        rule: Rule | None = None,
        modified_arguments: Mapping[str, Any] | None = None,
    ) -> PermissionResponseEvent:
        """The response that lets the call run, with other arguments where they are given.

        Raises:
            InvalidCallError: those cannot be written as JSON.
        """
        response = self._response(True, by=by, at=at, reason=reason, choice=choice, rule=rule)
        if modified_arguments is None:
            return response
        changed, digest = shown_and_digest(modified_arguments)
        if is_same_json(changed, self.arguments):
            return response
        return response.model_copy(
            update={"modified_arguments": changed, "modified_digest": digest}
        )

    def deny(
        self,
        *,
        by: str,
        at: datetime | None = None,
        reason: str = "",
        choice: ChoiceWord = "ask",
        rule: Rule | None = None,
    ) -> PermissionResponseEvent:
        """The response that stops the call."""
        return self._response(False, by=by, at=at, reason=reason, choice=choice, rule=rule)

    def said(
        self, fields: Mapping[str, Any], *, by: str, at: datetime
    ) -> PermissionResponseEvent | str:
        """Whether the call may run, with which arguments, or the choice that stores a rule.

        Raises:
            InvalidInputError: the arguments do not fit the tool's schema.
        """
        made: PermissionResponseEvent | str = _by_card("said_in")(self, fields, by=by, at=at)
        return made

    def to_remember(
        self, choice: Choice, *, by: str, at: datetime, until: datetime
    ) -> RememberedRule | None:
        """The rule that the choice stores: exactly the one it was offered with."""
        made: RememberedRule | None = _by_card("rule_of")(self, choice, by=by, at=at, until=until)
        return made

    def ruled(self, ending: Resolution, book: RuleBook) -> Resolution:
        """The ending, or a denial where a rule denies what was asked or what would run on it."""
        if not isinstance(ending, PermissionResponseEvent) or not ending.approved:
            return ending
        denial = self.denial(book, changed=ending.modified_arguments)
        if denial is None:
            return ending
        by = ending.decided_by
        could_not = "" if by is None else f": {by} could not allow it"
        return ending.denied(reason=f"{denial.reason}{could_not}", line=denial.line)

    def denial(
        self, book: RuleBook, *, changed: Mapping[str, Any] | None = None
    ) -> StandingDenial | None:
        """What denies the call under these rules: as it is asked about, as it was, or changed."""
        calls = calls_of(self)
        if changed is not None:
            calls = (replace(calls[0], arguments=changed), *calls)
        return standing_denial(calls, self.deny_rules, book)

    def stored(self, ending: Resolution) -> str:
        """What was stored, if that was the choice."""
        if not isinstance(ending, PermissionResponseEvent) or ending.choice == "ask":
            return ""
        made: str = _by_card("stored_with")(self, ending)
        return made

    def denied(self, *, reason: str, line: str, at: datetime) -> PermissionResponseEvent:
        """The denial by a line of the policy. No person gave it."""
        nobody = self._response(False, by=None, at=at, reason="", choice="ask", rule=None)
        return nobody.denied(reason=reason, line=line)

    def _response(
        self,
        approved: bool,
        *,
        by: str | None,
        at: datetime | None,
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
            decided_at=at or utc_now(),
            arguments_digest=self.arguments_digest,
            rule=rule,
        )

    def told(self, ending: Resolution) -> tuple[tuple[str, str], ...]:
        """With which arguments it runs where a person changed them."""
        if not isinstance(ending, PermissionResponseEvent):
            return ()
        made: tuple[tuple[str, str], ...] = _by_card("told_with")(self, ending)
        return made

    def told_below(self, ending: Resolution) -> tuple[tuple[str, str], ...]:
        """The digest of the arguments with which it runs where a person changed them."""
        if not isinstance(ending, PermissionResponseEvent) or ending.modified_digest is None:
            return ()
        made: tuple[tuple[str, str], ...] = _by_card("told_below_with")(
            self, ending.modified_digest
        )
        return made


@cache
def _by_card(name: str) -> Any:
    """A function of ``permission_card``, which stands above: whoever only asks loads no cards."""
    return getattr(import_module("sayso.questions.permission_card"), name)


def call_of(request: PermissionRequestEvent) -> ToolCall:
    """The tool call that the request is about."""
    return ToolCall(request.function_name, request.arguments, request.call_id)


def calls_of(request: PermissionRequestEvent) -> tuple[ToolCall, ...]:
    """The call that the request is about, and the one that it was before a policy changed it."""
    call, original = call_of(request), request.original_arguments
    return (call,) if original is None else (call, replace(call, arguments=original))
