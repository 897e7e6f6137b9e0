"""The one table of secrets: ``secret_kinds.toml``."""

from __future__ import annotations

from functools import cache

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass as pydantic_dataclass

from sayso.tables import read_table

OWN_TOKEN = "token of our own"  # noqa: S105  what one is called

_CONFIG = ConfigDict(extra="forbid")


@pydantic_dataclass(frozen=True, slots=True, config=_CONFIG)
class Form:
    """How one kind of secret is written: it ``begins`` so, and the regular expression is the rest.

    The group ``secret`` is what is hidden, or else all of it. ``before`` is
    what stands in front of the beginning and belongs to it. A form with a ``word`` begins where a
    word does. One in ``any_case`` is written in lower case here. ``check`` names what
    else must hold: see ``secret_forms``.
    """

    kind: str
    begins: str
    rest: str
    before: str = ""
    word: bool = True
    any_case: bool = False
    check: str = ""


@pydantic_dataclass(frozen=True, slots=True, config=_CONFIG)
class SecretKinds:
    """The table, as ``secret_kinds.toml`` explains it."""

    names: tuple[str, ...]
    counts: tuple[str, ...]
    about: tuple[str, ...]
    nothing: frozenset[str]
    forms: tuple[Form, ...]


@cache
def secret_kinds() -> SecretKinds:
    """Read the table, once."""
    return read_table("sayso.text", "secret_kinds.toml", SecretKinds)
