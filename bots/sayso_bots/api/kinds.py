"""The kinds of event the hosted API takes, by ``type``, with their fields' names on the wire."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic_core import from_json

from sayso.events import Resolution, UserInputRequest, UserInputResponse
from sayso.questions.kinds import kinds as known_kinds
from sayso_bots.api.problems import ApiProblem, Wrong, invalid
from sayso_bots.strict_json import refuse_duplicates

_Kind = TypeVar("_Kind", bound=UserInputRequest | UserInputResponse)


@dataclass(frozen=True, slots=True)
class Kind(Generic[_Kind]):
    """One kind of event: its ``type``, its model, and which of its fields is its id."""

    type_name: str
    model: type[_Kind]
    names: Mapping[str, str]
    """The names of its fields on the wire, by their names in Python."""
    id_name: str
    """The name of its id on the wire."""


def request_kinds() -> dict[str, Kind[UserInputRequest]]:
    """All kinds of request that are known in this process, by type."""
    return {name: _kind(name, model) for name, model in known_kinds(UserInputRequest).items()}


def response_kinds() -> dict[str, Kind[UserInputResponse]]:
    """All kinds of response that are known in this process, by type."""
    return {name: _kind(name, model) for name, model in known_kinds(UserInputResponse).items()}


def kind_of(given: Mapping[str, Any], kinds: Mapping[str, Kind[_Kind]]) -> Kind[_Kind]:
    """The kind that a body says it is.

    Raises:
        ApiProblem: it does not say one of these kinds.
    """
    name = given.get("type")
    if isinstance(name, str) and name in kinds:
        return kinds[name]
    known = ", ".join(sorted(kinds))
    raise invalid(Wrong("/type", f"must be one of {known}"))


def read_object(body: bytes) -> dict[str, Any]:
    """The JSON object in a body.

    Raises:
        ApiProblem: the body is not one.
    """
    try:
        given = from_json(body, allow_inf_nan=False)
    except ValueError as error:
        raise ApiProblem(400, "InvalidJson", f"the body is not JSON: {error}") from None
    try:
        # Read once more, because only Python's reader tells of names that are given twice.
        json.loads(body, object_pairs_hook=refuse_duplicates)
    except ValueError as error:
        raise ApiProblem(400, "InvalidJson", f"the body is no clear JSON: {error}") from None
    if not isinstance(given, dict):
        raise ApiProblem(400, "InvalidJson", "the body is JSON, but not an object")
    return given


def _kind(type_name: str, model: type[_Kind]) -> Kind[_Kind]:
    names = {name: field.alias or name for name, field in model.model_fields.items()}
    # Which field is the id, only the model knows: it answers with whatever that field holds.
    named: dict[str, Any] = {name: name for name in model.model_fields}
    asked: UserInputRequest | Resolution = model.model_construct(None, **named)
    return Kind(type_name, model, names, names[asked.question_id])
