"""Events as bytes: the only way in and out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError
from pydantic_core import from_json

from sayso.errors import UnreadableEventError
from sayso.events import (
    Event,
    RequestCancelledEvent,
    RequestEnding,
    RequestExpiredEvent,
    RequestUndeliverableEvent,
    UserInputRequest,
)
from sayso.questions.permission import (
    PermissionApprovedEvent,
    PermissionDeniedEvent,
    PermissionRequestEvent,
    PermissionResponseEvent,
)

_Permissions = Annotated[
    PermissionRequestEvent
    | PermissionResponseEvent
    | PermissionApprovedEvent
    | PermissionDeniedEvent
    | RequestExpiredEvent
    | RequestCancelledEvent
    | RequestUndeliverableEvent,
    Field(discriminator="type"),
]
_PERMISSIONS: TypeAdapter[Event] = TypeAdapter(_Permissions)


def encode(event: Event) -> bytes:
    """The event as JSON, camelCase, UTF-8."""
    return event.__pydantic_serializer__.to_json(event, by_alias=True)


def decode(data: bytes | str) -> Event:
    """The event in the bytes. Unknown fields are ignored.

    Raises:
        UnreadableEventError: not JSON, an unknown type, or a field that does
            not fit.
    """
    event = _decode_as(_PERMISSIONS, data)
    if event is None:
        # Most runs ask for permissions only: they do not pay for the other kinds.
        from sayso.questions.kinds import OTHERS

        event = _decode_as(OTHERS, data)
    return _decode_custom(data) if event is None else event


def decode_request(data: bytes | str) -> UserInputRequest:
    """The request in the bytes.

    Raises:
        UnreadableEventError: as for ``decode``, or not a request.
    """
    event = decode(data)
    if not isinstance(event, UserInputRequest):
        raise UnreadableEventError(f"{type(event).__name__} is not a request")
    return event


def decode_ending(data: bytes | str) -> RequestEnding:
    """The ending in the bytes.

    Raises:
        UnreadableEventError: as for ``decode``, or it ends nothing.
    """
    event = decode(data)
    if not isinstance(event, RequestEnding):
        raise UnreadableEventError(f"{type(event).__name__} does not end a request")
    return event


def _decode_as(kinds: TypeAdapter[Event], data: bytes | str) -> Event | None:
    """The event, if it is of one of these kinds."""
    try:
        return kinds.validate_json(data)
    except ValidationError as error:
        if error.errors()[0]["type"] != "union_tag_invalid":
            raise UnreadableEventError(_told(error)) from None
    return None


def _decode_custom(data: bytes | str) -> Event:
    """Kinds of question defined elsewhere: subclasses with a ``type`` of their own."""
    found = from_json(data)
    name, source = found.get("type"), found.get("sourceName")
    source_name = source if isinstance(source, str) else ""
    for kind in _subclasses(Event):
        declared = kind.model_fields.get("type")
        if declared is not None and declared.default == name:
            try:
                return kind.model_validate_json(data)
            except ValidationError as error:
                raise UnreadableEventError(_told(error), source_name=source_name) from None
    raise UnreadableEventError(f"no event has the type {name!r:.80}", source_name=source_name)


def _subclasses(kind: type[Event]) -> Iterator[type[Event]]:
    for child in kind.__subclasses__():
        yield child
        yield from _subclasses(child)


def _told(error: ValidationError) -> str:
    problems = (
        f"{'.'.join(str(part) for part in problem['loc']) or 'event'}: {problem['msg']}"
        for problem in error.errors(include_input=False, include_url=False)
    )
    return "not an event: " + "; ".join(problems)
