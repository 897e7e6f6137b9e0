"""May this tool run, once? The request, its answer, and the card between them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from sayso.always.offers import ALWAYS, ALWAYS_DENY, Offer, every, offers
from sayso.calls import Folder, ToolCall
from sayso.cards.card import NAME_LIMIT, CardBody, Choice
from sayso.clock import utc_now
from sayso.dangers.found import dangers_of
from sayso.digests import is_digest_of, is_same_json, short_digest, shown_and_digest
from sayso.errors import InvalidCallError
from sayso.events import RequestEnding, UserInputRequest, is_empty, is_none
from sayso.forms.form import NO_INPUTS, Inputs
from sayso.forms.schema_check import MOST_SCHEMA_CHARACTERS
from sayso.questions.beside import because, claimed, not_shown, said_by_tool, titled
from sayso.questions.call_values import EditedLines, call_values
from sayso.questions.dangers import danger_words, root_of
from sayso.questions.edits import EDIT, check_edited, edit_choice, edited
from sayso.questions.matters import what_matters
from sayso.questions.permission_answer import ChoiceWord, PermissionResponseEvent
from sayso.questions.refusals import (
    CHANGES,
    DENY_WITH_REASON,
    changes_choice,
    deny_with_reason_choice,
    reason_in,
)
from sayso.questions.words import QuestionWords, words_of
from sayso.rules.book import RuleBook
from sayso.rules.deny_rule import MOST_DENY_RULES, DenyRule, StandingDenial
from sayso.rules.rule import OfferedRules, RememberedRule, Rule
from sayso.rules.standing import standing_denial
from sayso.text.agents import from_agent
from sayso.text.secrets import Redaction, redaction
from sayso.text.visible import one_line, shortened
from sayso.values import Kind
from sayso.values.arguments import raw_values, shown_arguments
from sayso.wording.wording import Wording

# What is told of a decision has about 300 characters on a card.
_MOST_TOLD = 230

ALLOW, DENY = "allow", "deny"
"""The keys of two choices; the others are in ``edits``, ``refusals`` and ``always.offers``."""
_STORING = {"always_allow": ALWAYS, "always_deny": ALWAYS_DENY}


class PermissionRequestEvent(UserInputRequest):
    """A run asks a person whether it may call one tool, once.

    ``original_arguments`` are those the agent called with, where a policy put
    others in: a denial of either denies. ``arguments_schema`` is the tool's
    JSON Schema, where it has one: arguments that a person edits must fit it.
    ``asked_because`` is why the policy wants a person, where it says so;
    ``deny_rules`` are those of that policy, which nothing comes before.
    Nobody changes a call that is ``fixed``. ``claims`` are what whoever asks says of
    itself, pairs of a name and a text; ``wording`` is what the tool's maker says of the
    call, ``kinds`` of which kind its arguments are; ``kept`` is what the door that it came
    in by keeps with it for itself. ``folder`` is where the agent works, as it says;
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
    fixed: bool = False
    claims: tuple[tuple[str, str], ...] = ()
    wording: Annotated[Wording | None, Field(exclude_if=is_none)] = None
    kinds: dict[str, Kind] = Field(default_factory=dict, exclude_if=is_empty)
    edited_lines: EditedLines = ()
    kept: str = ""
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
        if schema is not None and len(json.dumps(schema)) > MOST_SCHEMA_CHARACTERS:
            raise ValueError(f"a schema must have at most {MOST_SCHEMA_CHARACTERS} characters")
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
        words, shown = words_of(self), redaction(self.arguments)
        call = call_of(self)
        wording = self.wording or words.well_known(call, shown.shown)
        place = self.folder or self.where
        root = root_of(place)
        found = dangers_of(call, root)
        dangers = danger_words(found, self.wording, words)
        allow = Choice(ALLOW, words.allow, "primary", needs_sight=True)
        deny = Choice(DENY, words.deny, "danger")
        stored = [offer.choice for offer in self._offers()]
        always = [choice for choice in stored if choice.key == ALWAYS]
        return CardBody(
            title=titled(self.function_name, wording),
            description=from_agent(self.description),
            values=call_values(
                call,
                shown.shown,
                words,
                declared=self.kinds,
                edited_lines=self.edited_lines,
                dangerous=bool(dangers),
            ),
            raw=raw_values(shown.shown),
            question=words.may_run,
            digest=short_digest(self.arguments_digest),
            facts=(
                *self.origin,
                *said_by_tool(wording, words),
                *claimed(self.claims, self.folder, self.run.project, words),
                *because(self.asked_because, words),
                *not_shown(shown, words),
            ),
            choices=(allow, *always, deny),
            dangers=dangers,
            tool=one_line(self.function_name, NAME_LIMIT),
            matters=what_matters(call, shown.shown, wording, words.dangers, root, found),
            more=(*self._saying_more(shown, words), *(one for one in stored if one.key != ALWAYS)),
        )

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
        if choice.key == ALLOW:
            return self.approve(by=by, at=at)
        if choice.key == DENY:
            return self.deny(by=by, at=at)
        if choice.key == EDIT:
            changed = edited(self.arguments, inputs, self.arguments_schema, words_of(self))
            return self.approve(by=by, at=at, modified_arguments=changed)
        if choice.key in (CHANGES, DENY_WITH_REASON):
            denial = self.deny(by=by, at=at, reason=reason_in(inputs, words_of(self)))
            return denial.model_copy(update={"asks_for_changes": choice.key == CHANGES})
        return self._remembering(choice, by=by, at=at)

    def _remembering(self, choice: Choice, *, by: str, at: datetime) -> PermissionResponseEvent:
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
        at: datetime | None = None,
        reason: str = "",
        choice: ChoiceWord = "ask",
        rule: Rule | None = None,
        modified_arguments: Mapping[str, Any] | None = None,
    ) -> PermissionResponseEvent:
        """The response that lets the call run, with other arguments where they are given.

        Raises:
            InvalidCallError: those cannot be written as JSON, or nobody may change the call.
        """
        response = self._response(True, by=by, at=at, reason=reason, choice=choice, rule=rule)
        if modified_arguments is None:
            return response
        changed, digest = shown_and_digest(modified_arguments)
        if is_same_json(changed, self.arguments):
            return response
        if self.fixed:
            raise InvalidCallError("this call cannot be changed: deny it, and say what should be")
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
        if (stored := _STORING.get(fields.get("choice", "ask"))) is not None:
            return stored
        reason = fields.get("reason", "")
        if not fields.get("approved"):
            return self.deny(by=by, at=at, reason=reason)
        if (changed := fields.get("modified_arguments")) is not None:
            check_edited(changed, self.arguments_schema)
        return self.approve(by=by, at=at, reason=reason, modified_arguments=changed)

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
            reason=shortened(from_agent(self.description, one_line=True), 200),
        )

    def ruled(self, ending: RequestEnding, book: RuleBook) -> RequestEnding:
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

    def stored(self, ending: RequestEnding) -> str:
        """What was stored, if that was the choice."""
        if not isinstance(ending, PermissionResponseEvent) or ending.choice == "ask":
            return ""
        effect = "allow" if ending.choice == "always_allow" else "deny"
        kept = [
            _told_stored(offer.choice)
            for offer in every(self._offers())
            if (offer.rule, offer.effect) == (ending.rule, effect)
            and offer.choice.scope == (ending.rule_scope or "session")
        ]
        return kept[0] if kept else ""

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

    def told(self, ending: RequestEnding) -> tuple[tuple[str, str], ...]:
        """With which arguments it runs where a person changed them."""
        if not isinstance(ending, PermissionResponseEvent):
            return ()
        words = words_of(self)
        if ending.asks_for_changes:
            return ((words.asked_for, words.changes),)
        if ending.modified_arguments is None:
            return ()
        changed = shown_arguments(ending.modified_arguments) or words.no_arguments
        return ((words.runs_with, changed),)

    def told_below(self, ending: RequestEnding) -> tuple[tuple[str, str], ...]:
        """The digest of the arguments with which it runs where a person changed them."""
        if not isinstance(ending, PermissionResponseEvent) or ending.modified_digest is None:
            return ()
        return ((words_of(self).new_digest, short_digest(ending.modified_digest)),)

    def _saying_more(self, shown: Redaction, words: QuestionWords) -> Iterator[Choice]:
        yield deny_with_reason_choice(DENY, words)
        yield changes_choice(words)
        if self.fixed:
            return
        edit = edit_choice(self.arguments, self.arguments_schema, words, shown=shown)
        if edit is not None:
            yield edit

    def _offers(self) -> tuple[Offer, ...]:
        words = words_of(self).always
        call, rules = call_of(self), self.suggested_rules
        digest, run = self.arguments_digest, self.run
        return offers(call, digest, rules, run, words=words, folder=self.folder)

    def _offer(self, choice: Choice) -> Offer | None:
        return next((one for one in every(self._offers()) if one.choice.key == choice.key), None)


def _told_stored(choice: Choice) -> str:
    """What was stored, where others read it later: in few words rather than cut."""
    is_long = len(choice.stores) > _MOST_TOLD and choice.stores_briefly
    return choice.stores_briefly if is_long else choice.stores


def call_of(request: PermissionRequestEvent) -> ToolCall:
    """The tool call that the request is about."""
    return ToolCall(request.function_name, request.arguments, request.call_id)


def calls_of(request: PermissionRequestEvent) -> tuple[ToolCall, ...]:
    """The call that the request is about, and the one that it was before a policy changed it."""
    call, original = call_of(request), request.original_arguments
    return (call,) if original is None else (call, replace(call, arguments=original))
