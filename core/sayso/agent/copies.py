"""Copies of arguments: what others make of theirs meanwhile is another call."""

from __future__ import annotations

import copy
import marshal
from collections.abc import Mapping
from dataclasses import is_dataclass, replace
from typing import Any

from pydantic import BaseModel

from sayso.calls import ToolCall
from sayso.errors import ArgumentsChangedError
from sayso.policy.decision import is_same, snapshot

# Without references: a list that is there twice becomes two.
_FORM = 2

# Copies of these are the same: long texts of many runs that wait are not kept twice.
_UNCHANGING = frozenset({str, bytes, int, float, bool, type(None)})


def taken(call: ToolCall) -> ToolCall:
    """The call with arguments of its own: what its caller makes of them later is another call."""
    return replace(call, arguments=own(call.arguments))


def refuse_changed(handed: ToolCall, call: ToolCall) -> None:
    """Return when the call that was handed in is still the one that was taken.

    Whoever runs it with its own arguments instead of the verdict's must not
    run others either.

    Raises:
        ArgumentsChangedError: its arguments have changed.
    """
    if not is_same(snapshot(call.arguments), snapshot(handed.arguments)):
        raise ArgumentsChangedError(
            f"the arguments of {call.name!r} changed while they were asked about: ask again"
        )


def own(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A deep copy of the arguments.

    Lists and mappings are copied, models and dataclasses too where they can be; any other
    object is passed on as it is: a connection stays the connection that it was.
    """
    if is_flat(arguments):
        return dict(arguments)
    try:
        copied: dict[str, Any] = marshal.loads(marshal.dumps(dict(arguments), _FORM))  # noqa: S302
    except ValueError:  # there is more in it than plain values
        return {name: _own(value) for name, value in arguments.items()}
    return copied


def is_flat(arguments: Mapping[str, Any]) -> bool:
    """Whether each argument is a plain value that nothing can be put into."""
    return all(type(value) in _UNCHANGING for value in arguments.values())


def _own(value: Any) -> Any:
    kind = type(value)
    if kind is dict:
        return {name: _own(item) for name, item in value.items()}
    if kind in (list, tuple):
        return kind(map(_own, value))
    if isinstance(value, BaseModel | bytearray | dict | list) or is_dataclass(value):
        try:
            return copy.deepcopy(value)
        except Exception:  # it holds what cannot be copied: the digest still tells a change
            return value
    return value
