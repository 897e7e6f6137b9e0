"""Who asks, and for what: runs, tool calls and the digest of their arguments."""

from __future__ import annotations

import hashlib
import json
import math
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ConfigDict
from pydantic.alias_generators import to_camel
from pydantic.dataclasses import dataclass as pydantic_dataclass
from pydantic_core import PydanticSerializationError, to_jsonable_python

from sayso.errors import InvalidCallError

MAX_ARGUMENTS_BYTES = 256 * 1024


def new_id() -> str:
    """A random id of 135 bits or more, as 23 characters of base64url.

    It never begins with ``-``: people give ids to commands, which would take
    it for an option.
    """
    while (made := secrets.token_urlsafe(17)).startswith("-"):
        pass
    return made


@pydantic_dataclass(
    frozen=True,
    slots=True,
    config=ConfigDict(alias_generator=to_camel, validate_by_name=True, validate_by_alias=True),
)
class RunRef:
    """One run: an agent works in a session, on a branch of it, once."""

    agent_id: str
    session_id: str
    branch_id: str = "main"
    run_id: str = field(default_factory=new_id)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool, before it runs.

    ``arguments`` must be expressible as JSON. ``call_id`` is the agent
    framework's own id where it has one, otherwise random.
    """

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    call_id: str = field(default_factory=new_id)


def as_json(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as plain JSON values.

    Raises:
        InvalidCallError: a value has no JSON form, such as a number that is
            infinite or none, or all of them together take more than 256 KiB.
    """
    plain, _ = _canonical(arguments)
    return plain


def arguments_digest(arguments: Mapping[str, Any]) -> str:
    """SHA-256 of the arguments as sorted, compact JSON, in hex.

    Equal arguments have equal digests in every process, whatever the order of
    their keys.

    Raises:
        InvalidCallError: as for ``as_json``.
    """
    _, text = _canonical(arguments)
    return hashlib.sha256(text).hexdigest()


def shown_and_digest(arguments: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """The arguments as plain JSON values together with their digest."""
    plain, text = _canonical(arguments)
    return plain, hashlib.sha256(text).hexdigest()


def _canonical(arguments: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
    try:
        _only_text_keys(arguments)
        plain = to_jsonable_python(dict(arguments), inf_nan_mode="constants")
        encoded = _written(plain).encode()
    except (PydanticSerializationError, ValueError, TypeError, RecursionError) as error:
        names = ", ".join(sorted(repr(name) for name in arguments)) or "none"
        message = f"the arguments ({names}) cannot be written as JSON: {_why(error)}"
        raise InvalidCallError(message) from error
    if len(encoded) > MAX_ARGUMENTS_BYTES:
        message = (
            f"the arguments take {len(encoded)} bytes, {MAX_ARGUMENTS_BYTES} are allowed; "
            "pass a reference to large data instead of the data"
        )
        raise InvalidCallError(message)
    return plain, encoded


def _written(plain: dict[str, Any]) -> str:
    try:
        return json.dumps(
            plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
        )
    except ValueError:
        # Whoever reads it again would find null, under the digest of something else.
        where = next(_no_finite_numbers(plain), "a number").removeprefix(".")
        message = f"{where} is no finite number; pass a text or None instead"
        raise TypeError(message) from None


def _no_finite_numbers(value: Any, place: str = "") -> Iterator[str]:
    if isinstance(value, float) and not math.isfinite(value):
        yield place
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _no_finite_numbers(item, f"{place}.{name}")
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _no_finite_numbers(item, f"{place}[{number}]")


def _only_text_keys(value: Any) -> None:
    """JSON's names are texts: 1 and "1" would become one, and one of them would go unseen."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if not isinstance(key, str):
                raise TypeError(f"a name in a mapping is no text but {type(key).__name__}")
            _only_text_keys(item)
    elif isinstance(value, list | tuple):
        for item in value:
            _only_text_keys(item)


def _why(error: Exception) -> str:
    # Only the kind of failure: the text of an encoding error quotes the value.
    if isinstance(error, UnicodeError):
        return "a text is not valid Unicode"
    if isinstance(error, PydanticSerializationError):
        return str(error).splitlines()[0]
    return str(error) if isinstance(error, TypeError) else type(error).__name__
