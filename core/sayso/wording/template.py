"""Templates over the arguments of a call: small and strict."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sayso.errors import ConfigError
from sayso.formats import ENGLISH, Formats
from sayso.wording.money import moment, money

LONGEST_TEMPLATE = 500
_LONGEST_VALUE = 120

_PATH = r"[A-Za-z_][\w-]*(?:\.[\w-]+)*"
_GAP = re.compile(
    rf"(?:(?P<form>[a-z]+)\(\s*(?P<given>{_PATH}(?:\s*,\s*{_PATH})*)\s*\)|(?P<name>{_PATH}))"
)
_PIECES = re.compile(r"\{\{|\}\}|\{(?P<gap>[^{}]*)\}|[{}]|[^{}]+")

_FORMS: Mapping[str, tuple[int, Callable[..., str | None]]] = {
    "money": (2, money),
    "time": (1, moment),
}


@dataclass(frozen=True, slots=True)
class _Gap:
    """What is filled in: an argument, or what a form makes of some."""

    paths: tuple[tuple[str, ...], ...]
    form: Callable[..., str | None]


@dataclass(frozen=True, slots=True)
class Template:
    """Texts and gaps, in their order."""

    parts: tuple[str | _Gap, ...]

    def filled(self, arguments: Mapping[str, Any], formats: Formats = ENGLISH) -> str | None:
        """The text for these arguments; None where one is not there or of another type."""
        said = ""
        for part in self.parts:
            if isinstance(part, str):
                said += part
                continue
            value = part.form(*(_found(arguments, path) for path in part.paths), formats=formats)
            if value is None:
                return None
            said += value
        return said

    @property
    def begins(self) -> str:
        """What stands before the first gap."""
        return self.parts[0] if self.parts and isinstance(self.parts[0], str) else ""


@lru_cache(maxsize=1_024)
def template(text: str) -> Template:
    """Read a template: ``{name}``, ``{a.b.0}``, ``{money(amount, currency)}``, ``{time(at)}``.

    Raises:
        ConfigError: it is not one.
    """
    if len(text) > LONGEST_TEMPLATE:
        raise ConfigError(f"a template has at most {LONGEST_TEMPLATE} characters")
    parts: list[str | _Gap] = []
    for piece in _PIECES.finditer(text):
        if piece["gap"] is not None:
            parts.append(_gap(piece["gap"], text))
        elif piece[0] in "{}":
            raise ConfigError(f"the template {text!r} has a brace alone: write {{{{ or }}}}")
        else:
            parts.append(piece[0].replace("{{", "{").replace("}}", "}"))
    return Template(tuple(parts))


def _gap(written: str, text: str) -> _Gap:
    found = _GAP.fullmatch(written.strip())
    if found is None:
        raise ConfigError(f"the template {text!r} has {{{written}}}, which names no argument")
    if found["name"]:
        return _Gap((tuple(found["name"].split(".")),), _plain)
    count, form = _FORMS.get(found["form"], (0, _plain))
    paths = tuple(tuple(path.strip().split(".")) for path in found["given"].split(","))
    if len(paths) != count:
        forms = ", ".join(_FORMS)
        raise ConfigError(f"the template {text!r} has {{{written}}}: forms are {forms}")
    return _Gap(paths, form)


def _plain(value: object, *, formats: Formats = ENGLISH) -> str | None:
    del formats  # it stands as it is in the arguments
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if not isinstance(value, str) or not value.strip():
        return None
    return value if len(value) <= _LONGEST_VALUE else f"{value[: _LONGEST_VALUE - 1]}…"


def _found(arguments: Any, path: tuple[str, ...]) -> object:
    value = arguments
    for name in path:
        if isinstance(value, Mapping):
            value = value.get(name)
        elif isinstance(value, Sequence) and not isinstance(value, str) and name.isdigit():
            number = int(name) if len(name) < 5 else len(value)
            value = value[number] if number < len(value) else None
        else:
            return None
    return value
