"""What a tool's JSON Schema says of arguments. Needs jsonschema-rs, which the bots have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sayso.errors import ConfigError
from sayso.forms.schema_cost import MOST_WORK, values_in, written_out

MOST_SCHEMA_CHARACTERS = 64 * 1024
_MOST_TOLD = 3


def schema_problem(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> str:
    """Why the arguments do not fit the schema, in words without any value; empty when they do.

    Patterns are matched in linear time, and nothing is fetched: a ``$ref``
    leads inside the schema or nowhere. What would take long is refused.

    Raises:
        ConfigError: the schema is none, or cannot be used here; it says why.
    """
    try:
        work = written_out(schema) * values_in(dict(arguments))
    except ValueError as error:
        raise _unusable(str(error)) from None
    if work > MOST_WORK:
        raise _unusable("it is too large for so many arguments")
    # Here, because an agent's process must not pay for it.
    import jsonschema_rs

    try:
        validator = jsonschema_rs.validator_for(
            dict(schema),
            pattern_options=jsonschema_rs.RegexOptions(),
            offline=True,
            mask="this",
        )
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
        raise _unusable(_first_line(error)) from None
    told = [
        f"{_pointer(error.instance_path)}: {_first_line(error)}"
        for error, _ in zip(validator.iter_errors(dict(arguments)), range(_MOST_TOLD), strict=False)
    ]
    return "; ".join(told)


def _unusable(why: str) -> ConfigError:
    return ConfigError(f"the schema of the arguments cannot be used: {why}")


def _pointer(path: list[str | int]) -> str:
    """RFC 6901."""
    return "".join(f"/{str(p).replace('~', '~0').replace('/', '~1')}" for p in path) or "/"


def _first_line(error: Exception) -> str:
    return getattr(error, "message", str(error)).splitlines()[0]
