"""Events as bytes: the only way in and out."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field, ValidationError

from sayso.errors import UnreadableEventError
from sayso.events import Event, Resolution, UserInputRequest
from sayso.questions.kinds import kind


class _Head(BaseModel):
    """What every event says of itself."""

    type: str
    source_name: Any = Field("", alias="sourceName")


def encode(event: Event) -> bytes:
    """The event as JSON, camelCase, UTF-8."""
    return event.__pydantic_serializer__.to_json(event, by_alias=True)


def decode(data: bytes | str) -> Event:
    """The event in the bytes. Unknown fields are ignored.

    Raises:
        UnreadableEventError: not JSON, an unknown type, or a field that does
            not fit.
    """
    source_name = ""
    try:
        head = _Head.model_validate_json(data)
        source_name = head.source_name if isinstance(head.source_name, str) else ""
        found = kind(head.type)
        if found is not None:
            return found.model_validate_json(data)
    except ValidationError as error:
        raise UnreadableEventError(_told(error), source_name=source_name) from None
    raise UnreadableEventError(f"no event has the type {head.type!r:.80}", source_name=source_name)


def decode_request(data: bytes | str) -> UserInputRequest:
    """The request in the bytes.

    Raises:
        UnreadableEventError: as for ``decode``, or not a request.
    """
    event = decode(data)
    if not isinstance(event, UserInputRequest):
        raise UnreadableEventError(f"{type(event).__name__} is not a request")
    return event


def decode_ending(data: bytes | str) -> Resolution:
    """The ending in the bytes.

    Raises:
        UnreadableEventError: as for ``decode``, or it ends nothing.
    """
    event = decode(data)
    if not isinstance(event, Resolution):
        raise UnreadableEventError(f"{type(event).__name__} does not end a request")
    return event


def _told(error: ValidationError) -> str:
    problems = (
        f"{'.'.join(str(part) for part in problem['loc']) or 'event'}: {problem['msg']}"
        for problem in error.errors(include_input=False, include_url=False)
    )
    return "not an event: " + "; ".join(problems)
