"""The card of a permission, what its buttons mean, and what is told of the answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from gettext import NullTranslations
from typing import Any

from sayso.always.offers import ALWAYS, ALWAYS_DENY, DAY, Offer, every, offers
from sayso.cards.card import NAME_LIMIT, CardBody, Choice
from sayso.dangers.danger import Danger
from sayso.dangers.found import dangers_of
from sayso.digests import short_digest
from sayso.forms.form_values import Inputs
from sayso.known.wordings import well_known
from sayso.questions.beside import because, not_shown, said_by_tool, titled, working_in
from sayso.questions.call_values import call_values
from sayso.questions.dangers import danger_words, lookalike_of, root_of
from sayso.questions.edits import EDIT, check_edited, edit_choice, edited
from sayso.questions.matters import what_matters
from sayso.questions.permission import ALLOW, DENY, PermissionRequestEvent, call_of
from sayso.questions.permission_answer import CHANGES, PermissionResponseEvent
from sayso.questions.refusals import (
    DENY_WITH_REASON,
    changes_choice,
    deny_with_reason_choice,
    reason_in,
)
from sayso.rules.rule import RememberedRule
from sayso.text.agents import from_agent
from sayso.text.secrets import Redaction, redaction
from sayso.text.visible import one_line, shortened
from sayso.values.arguments import raw_values, shown_arguments
from sayso.wording.wording import Wording

# What is told of a decision has about 300 characters on a card.
_MOST_TOLD = 230

_STORING = {"always_allow": ALWAYS, "always_deny": ALWAYS_DENY}
# What stands beside Allow and Deny: where nothing is stored for a session, the project's.
_FIRST = (ALWAYS, f"{ALWAYS}-{DAY}")


def card_of(request: PermissionRequestEvent) -> CardBody:
    """The tool, its arguments and the buttons Allow, Always and Deny."""
    translations, shown = request.translations, redaction(request.arguments)
    call = call_of(request)
    wording = request.wording or well_known(call, shown.shown, translations)
    place = request.folder or request.where
    root = root_of(place)
    names = (request.function_name, request.run.agent_id)
    found = dangers_of(call, root, names=names)
    lookalike = lookalike_of(names, shown.shown) if Danger.LOOKALIKES in found else ""
    dangers = danger_words(found, request.wording, translations, lookalike)
    allow = Choice(ALLOW, translations.gettext("Allow"), "primary", needs_sight=True)
    deny = Choice(DENY, translations.gettext("Deny"), "danger")
    stored = [offer.choice for offer in _offers(request)]
    first = [choice for choice in stored if choice.key in _FIRST]
    return CardBody(
        title=titled(request.function_name, wording),
        description=from_agent(request.description),
        values=call_values(
            call,
            shown.shown,
            translations,
            declared=request.kinds,
            edited_lines=request.edited_lines,
            dangerous=bool(dangers),
        ),
        raw=raw_values(shown.shown),
        question=translations.gettext("May this run?"),
        digest=short_digest(request.arguments_digest),
        facts=tuple(_facts(request, wording, shown)),
        choices=(allow, *first, deny),
        dangers=dangers,
        tool=one_line(request.function_name, NAME_LIMIT),
        matters=what_matters(call, shown.shown, wording, translations, root, found),
        more=(
            *_saying_more(request, shown, translations),
            *(one for one in stored if one not in first),
        ),
    )


def _facts(
    request: PermissionRequestEvent, wording: Wording | None, shown: Redaction
) -> Iterator[tuple[str, str]]:
    translations = request.translations
    yield from request.origin
    yield from said_by_tool(wording, translations)
    yield from working_in(request.folder, request.run.project, translations)
    yield from because(request.asked_because, translations)
    yield from not_shown(shown, translations)


def answer_to(
    request: PermissionRequestEvent,
    choice: Choice,
    *,
    by: str,
    at: datetime,
    inputs: Inputs,
) -> PermissionResponseEvent:
    """The response that a choice stands for: Allow, Deny, or what is to be remembered.

    Raises:
        InvalidInputError: the edited arguments or the reason cannot be used.
        ValueError: the choice is not one of this card.
    """
    if choice.key == ALLOW:
        return request.approve(by=by, at=at)
    if choice.key == DENY:
        return request.deny(by=by, at=at)
    if choice.key == EDIT:
        changed = edited(request.arguments, inputs, request.arguments_schema, request.translations)
        return request.approve(by=by, at=at, modified_arguments=changed)
    if choice.key in (CHANGES, DENY_WITH_REASON):
        denial = request.deny(by=by, at=at, reason=reason_in(inputs, request.translations))
        return denial.model_copy(update={"asks_for_changes": choice.key == CHANGES})
    return _remembering(request, choice, by=by, at=at)


def _remembering(
    request: PermissionRequestEvent, choice: Choice, *, by: str, at: datetime
) -> PermissionResponseEvent:
    offer = _offer(request, choice)
    if offer is None:
        raise ValueError(f"a permission has no choice {choice.key!r}")
    if offer.effect == "allow":
        response = request.approve(by=by, at=at, choice="always_allow", rule=offer.rule)
    else:
        response = request.deny(by=by, at=at, choice="always_deny", rule=offer.rule)
    until = at + choice.lasts if choice.lasts else None
    return response.model_copy(update={"rule_scope": choice.scope, "rule_expires_at": until})


def said_in(
    request: PermissionRequestEvent, fields: Mapping[str, Any], *, by: str, at: datetime
) -> PermissionResponseEvent | str:
    """Whether the call may run, with which arguments, or the choice that stores a rule.

    Raises:
        InvalidInputError: the arguments do not fit the tool's schema.
    """
    if (stored := _STORING.get(fields.get("choice", "ask"))) is not None:
        return stored
    reason = fields.get("reason", "")
    if not fields.get("approved"):
        return request.deny(by=by, at=at, reason=reason)
    if (changed := fields.get("modified_arguments")) is not None:
        check_edited(changed, request.arguments_schema)
    return request.approve(by=by, at=at, reason=reason, modified_arguments=changed)


def rule_of(
    request: PermissionRequestEvent, choice: Choice, *, by: str, at: datetime, until: datetime
) -> RememberedRule | None:
    """The rule that the choice stores: exactly the one it was offered with."""
    offer = _offer(request, choice)
    if offer is None:
        return None
    return RememberedRule(
        rule=offer.rule,
        effect=offer.effect,
        stored_by=by,
        stored_at=at,
        expires_at=until,
        scope=offer.choice.scope,
        reason=shortened(from_agent(request.description, one_line=True), 200),
    )


def stored_with(request: PermissionRequestEvent, ending: PermissionResponseEvent) -> str:
    """What was stored, in words."""
    effect = "allow" if ending.choice == "always_allow" else "deny"
    kept = [
        _told_stored(offer.choice)
        for offer in every(_offers(request))
        if (offer.rule, offer.effect) == (ending.rule, effect)
        and offer.choice.scope == (ending.rule_scope or "session")
    ]
    return kept[0] if kept else ""


def told_with(
    request: PermissionRequestEvent, ending: PermissionResponseEvent
) -> tuple[tuple[str, str], ...]:
    """With which arguments it runs where a person changed them."""
    translations = request.translations
    if ending.asks_for_changes:
        return ((translations.gettext("Asked for"), translations.gettext("changes")),)
    if ending.modified_arguments is None:
        return ()
    changed = shown_arguments(ending.modified_arguments) or translations.gettext("(no arguments)")
    return ((translations.gettext("Runs with"), changed),)


def told_below_with(request: PermissionRequestEvent, digest: str) -> tuple[tuple[str, str], ...]:
    """The digest of the arguments with which it runs where a person changed them."""
    return ((request.translations.gettext("Digest of that"), short_digest(digest)),)


def _saying_more(
    request: PermissionRequestEvent, shown: Redaction, translations: NullTranslations
) -> Iterator[Choice]:
    yield deny_with_reason_choice(DENY, translations)
    yield changes_choice(translations)
    edit = edit_choice(request.arguments, request.arguments_schema, translations, shown=shown)
    if edit is not None:
        yield edit


def _offers(request: PermissionRequestEvent) -> tuple[Offer, ...]:
    translations = request.translations
    call, rules = call_of(request), request.suggested_rules
    digest, run = request.arguments_digest, request.run
    return offers(call, digest, rules, run, translations=translations, folder=request.folder)


def _offer(request: PermissionRequestEvent, choice: Choice) -> Offer | None:
    return next((one for one in every(_offers(request)) if one.choice.key == choice.key), None)


def _told_stored(choice: Choice) -> str:
    """What was stored, where others read it later: in few words rather than cut."""
    is_long = len(choice.stores) > _MOST_TOLD and choice.stores_briefly
    return choice.stores_briefly if is_long else choice.stores
