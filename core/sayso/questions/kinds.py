"""The kinds of event by their ``type``, and the only list of those that come with Sayso.

A kind of one's own is known as soon as its class is defined.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import TypeVar

import sayso.questions.permission  # noqa: F401  every process meets permissions
from sayso.events import Event

# Most runs ask for permissions only: they pay for no other kind until one is read or asked.
_LATER = ("clarification", "continuation", "structured_input", "text_approval")

_Kind = TypeVar("_Kind", bound=Event)


def kind(type_name: str) -> type[Event] | None:
    """The kind with this ``type``; None if no such kind is known in this process."""
    if type_name not in _FOUND:
        for name, found in kinds(Event).items():
            _FOUND.setdefault(name, found)
    return _FOUND.get(type_name)


def kinds(base: type[_Kind]) -> dict[str, type[_Kind]]:
    """All kinds below this base that are known in this process, by their ``type``.

    No other class stands in for a kind that comes with Sayso.
    """
    for module in _LATER:
        import_module(f"sayso.questions.{module}")
    return _defined(base)


def _defined(base: type[_Kind]) -> dict[str, type[_Kind]]:
    ours_last = sorted(_below(base), key=lambda found: found.__module__.startswith("sayso."))
    return {name: found for found in ours_last if (name := _type_name(found))}


def _below(base: type[_Kind]) -> Iterator[type[_Kind]]:
    for child in base.__subclasses__():
        yield child
        yield from _below(child)


def _type_name(found: type[Event]) -> str:
    declared = found.model_fields.get("type")
    return declared.default if declared and isinstance(declared.default, str) else ""


_FOUND = _defined(Event)
