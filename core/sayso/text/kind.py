"""Of which kind a text is: the words for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from sayso.errors import ConfigError

Kind = Literal["text", "shell", "sql", "json", "yaml", "http", "diff", "code", "list"]
KINDS: tuple[str, ...] = get_args(Kind)


def check_kinds(kinds: Mapping[str, str]) -> None:
    """See that each is a kind, by the name of an argument.

    Raises:
        ConfigError: one is none.
    """
    if not isinstance(kinds, Mapping):
        raise ConfigError("kinds must say by the name of an argument of which kind its text is")
    for name, kind in kinds.items():
        if kind not in KINDS:
            raise ConfigError(
                f"{name!r} is said to be {kind!r}: a text is of the kind {', '.join(KINDS)}"
            )
