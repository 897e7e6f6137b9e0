"""Between a Python call and the arguments of a tool call: by name there, as approved back."""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any


def named_arguments(bound: inspect.BoundArguments) -> dict[str, Any]:
    """The arguments by name, those of ``**kwargs`` among them."""
    bound.apply_defaults()
    named: dict[str, Any] = {}
    for name, value in bound.arguments.items():
        kind = bound.signature.parameters[name].kind
        more = value if kind is inspect.Parameter.VAR_KEYWORD else {name: value}
        if kind is inspect.Parameter.VAR_POSITIONAL:
            more = {name: list(value)}
        if both := more.keys() & named.keys():
            raise TypeError(f"two arguments are called {', '.join(sorted(both))}")
        named |= more
    return named


def bound_arguments(
    signature: inspect.Signature, arguments: Mapping[str, Any]
) -> inspect.BoundArguments:
    """These arguments and no others, for a call; TypeError when they do not fit."""
    left = dict(arguments)
    taken: dict[str, Any] = {}
    for name, parameter in signature.parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            taken[name], left = left, {}
        elif name in left:
            value = left.pop(name)
            if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
                if not isinstance(value, list | tuple):
                    raise TypeError(f"{name!r} must be a list")
                value = tuple(value)
            taken[name] = value
        elif parameter.default is not inspect.Parameter.empty:
            taken[name] = parameter.default
        elif parameter.kind is not inspect.Parameter.VAR_POSITIONAL:
            raise TypeError(f"{name!r} is missing")
    if left:
        raise TypeError(f"it takes no {', '.join(map(repr, sorted(left)))}")
    return inspect.BoundArguments(signature, OrderedDict(taken))
