"""A body into an answer: built by the request itself, so that nobody retypes an id or a digest."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from sayso.agent.choices import pressed
from sayso.always.terms import GrantOptions
from sayso.cards.card import Choice, every
from sayso.errors import InvalidInputError, SchemaError
from sayso.events import UserInputRequest, UserInputResponse
from sayso.forms.form import FormField
from sayso.forms.form_values import NO_INPUTS, is_same_json
from sayso.questions.permission_answer import PermissionResponseEvent
from sayso.rules.rule import RememberedRule
from sayso_bots.api.bodies import Kind
from sayso_bots.api.problems import Wrong, invalid, pointer, unreadable_fields

# What an event has and a body need not.
FILLED = frozenset({"sourceName", "decidedAt", "argumentsDigest", "textDigest"})
LONGEST_REASON = 20_000
"""How many characters a reason has at most."""

# What the server says of every answer.
_OURS = {
    "decidedBy": "is api:NAME of the token that answers; leave it out",
    "decidedAt": "is when the answer comes; leave it out",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """An open request, and who answers it when."""

    request: UserInputRequest
    by: str
    at: datetime
    terms: GrantOptions


def answer_of(
    asked: Asked, kind: Kind[UserInputResponse], given: Mapping[str, Any]
) -> tuple[UserInputResponse, RememberedRule | None]:
    """The response that the body stands for, and the rule it stores.

    ``choiceKey`` names a button of the card and ``inputs`` fills in its form;
    without it the fields of the response say what is answered. A reason goes
    with either.

    Raises:
        ApiProblem: the request cannot be answered so.
    """
    try:
        answer, rule = _answer(asked, kind, given)
    except InvalidInputError as error:
        wrong = (Wrong(pointer("inputs", name), why) for name, why in error.problems.items())
        raise invalid(*wrong) from None
    if not isinstance(answer, kind.model):
        name = getattr(answer, "type", type(answer).__name__)
        raise invalid(Wrong("/type", f"this request is answered by {name}"))
    _check(answer, kind, given)
    return answer, rule


def _answer(
    asked: Asked, kind: Kind[UserInputResponse], given: Mapping[str, Any]
) -> tuple[UserInputResponse, RememberedRule | None]:
    if isinstance(reason := given.get("reason"), str) and len(reason) > LONGEST_REASON:
        raise invalid(Wrong("/reason", f"has at most {LONGEST_REASON:,} characters"))
    if "choiceKey" in given:
        answer, rule = _choose(asked, given["choiceKey"], given.get("inputs"), "/choiceKey")
        return _with_reason(answer, given), rule
    if "inputs" in given:
        raise invalid(Wrong("/inputs", "fill in the form of a button; name it with choiceKey"))
    said = _said(asked, kind, _read(asked, kind, given))
    if isinstance(said, str):
        answer, rule = _choose(asked, said, None, "/choice")
        return _with_reason(answer, given), rule
    return said, None


def _with_reason(answer: UserInputResponse, given: Mapping[str, Any]) -> UserInputResponse:
    reason = given.get("reason", "")
    if not isinstance(reason, str):
        raise invalid(Wrong("/reason", "must be a string"))
    if not reason or given.get("inputs"):
        return answer  # what was filled in has its own reason
    return answer.model_copy(update={"reason": reason})


def _choose(
    asked: Asked, key: object, inputs: object, where: str
) -> tuple[UserInputResponse, RememberedRule | None]:
    body = asked.request.card()
    choice = next((one for one in every((*body.choices, *body.more)) if one.key == key), None)
    if choice is None or (choice.stores and choice.scope not in asked.terms.scopes):
        keys = ", ".join(one.key for one in (*body.choices, *body.more))
        raise invalid(Wrong(where, f"is not offered; the card has {keys}"))
    if inputs is not None and not isinstance(inputs, dict):
        raise invalid(Wrong("/inputs", "must be an object"))
    raw = _raw(choice, inputs or {})
    values = choice.form.read(raw) if choice.form else NO_INPUTS
    return pressed(
        asked.request, choice, by=asked.by, at=asked.at, terms=asked.terms, inputs=values
    )


def _raw(choice: Choice, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Inputs as a form takes them: numbers as strings, options by their positions."""
    fields = {field.name: field for field in choice.form.fields} if choice.form else {}
    if strangers := inputs.keys() - fields.keys():
        names = ", ".join(fields) or "none"
        raise invalid(
            *(Wrong(pointer("inputs", name), f"fields are {names}") for name in strangers)
        )
    return {name: _raw_value(fields[name], value) for name, value in inputs.items()}


def _raw_value(field: FormField, value: Any) -> Any:
    if field.kind == "json" and value is not None:
        return json.dumps(value)
    if isinstance(value, list):
        return [_position(field, item) for item in value]
    return _position(field, value)


def _position(field: FormField, value: Any) -> Any:
    for number, option in enumerate(field.options):
        if option.value == value and type(option.value) is type(value):
            return str(number)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if value is None or isinstance(value, str | bool):
        return value
    raise invalid(Wrong(pointer("inputs", field.name), "must be a string, number, boolean or list"))


def _said(
    asked: Asked, kind: Kind[UserInputResponse], fields: Mapping[str, Any]
) -> UserInputResponse | str:
    """What the request makes of the fields: the answer, or the key of a choice on its card."""
    try:
        said = asked.request.said(fields, by=asked.by, at=asked.at)
    except ValidationError as error:
        raise unreadable_fields(error, kind.names) from None
    except SchemaError as error:
        if not error.path:
            raise invalid(Wrong("", str(error))) from None
        first, *rest = error.path
        place = pointer(kind.names.get(str(first), first), *rest)
        raise invalid(Wrong(place, error.reason)) from None
    except ValueError as error:
        raise invalid(Wrong("", str(error))) from None
    if not said:
        keys = ", ".join(choice.key for choice in asked.request.card().choices)
        raise invalid(Wrong("/choiceKey", f"is needed for this answer: one of {keys}"))
    return said


def _read(asked: Asked, kind: Kind[UserInputResponse], given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a response that are given, by their names in Python and with their types."""
    is_permission = issubclass(kind.model, PermissionResponseEvent)
    if is_permission and given.get("modifiedArguments") is not None:
        # Only the card's own form holds them against the tool's schema.
        raise invalid(Wrong("/modifiedArguments", "are given by choiceKey edit and its inputs"))
    here = {
        "sourceName": asked.request.source_name,
        "decidedAt": asked.at,
        "argumentsDigest": asked.request.digest_of_arguments,
        "textDigest": asked.request.digest_of_arguments,
    }
    names = set(kind.names.values())
    fields = {name: value for name, value in {**here, **given}.items() if name in names}
    try:
        read = kind.model.model_validate(fields)
    except ValidationError as error:
        raise unreadable_fields(error, kind.names) from None
    return {name: getattr(read, name) for name, sent in kind.names.items() if sent in given}


def _check(
    answer: UserInputResponse, kind: Kind[UserInputResponse], given: Mapping[str, Any]
) -> None:
    """Refuse a body that says what the answer does not: nothing of it may be lost unseen."""
    built = answer.model_dump(mode="json", by_alias=True)
    # What is a field's default says nothing where no button is named: the request fills it in.
    fields = {} if "choiceKey" in given else kind.model.model_fields
    wrong = [
        Wrong(pointer(written), _OURS.get(written, "does not fit the request or the answer"))
        for name, written in kind.names.items()
        if written in given
        and _differs(given[written], built.get(written))
        and not (name in fields and is_same_json(given[written], fields[name].default))
    ]
    if wrong:
        raise invalid(*wrong)


def _differs(given: Any, built: Any) -> bool:
    return given is not None and given != "" and not is_same_json(given, built)
