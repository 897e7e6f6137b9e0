"""Rules: which calls a stored yes or no is about."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import AwareDatetime, ConfigDict, Field, field_validator
from pydantic.alias_generators import to_camel
from pydantic.dataclasses import dataclass as pydantic_dataclass

from assent.calls import ToolCall, arguments_digest, new_id
from assent.errors import ConfigError

_CONFIG = ConfigDict(alias_generator=to_camel, validate_by_name=True, validate_by_alias=True)
_SPECIAL = re.compile(r"[\\*?\[\]{}()!+@|]")
_READABLE = 1_000
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


@pydantic_dataclass(frozen=True, slots=True, config=_CONFIG)
class Rule:
    """Calls of one tool whose arguments have given values.

    The tool's name is compared exactly. Every parameter named in ``params``
    must be there and equal its pattern; a pattern is literal text in which
    glob characters are escaped with a backslash. With ``arguments_digest``
    the rule is about exactly one set of arguments and no other.

    Raises:
        ConfigError: a pattern holds a glob character that is not escaped.
    """

    tool: str
    params: Mapping[str, str] = field(default_factory=dict)
    arguments_digest: str | None = None

    @field_validator("params")
    @classmethod
    def _literal(cls, params: Mapping[str, str]) -> Mapping[str, str]:
        for name, pattern in params.items():
            if _SPECIAL.search(_ESCAPED.sub("", pattern)):
                text = (
                    f"the pattern of {name!r} holds a glob character: {pattern!r}; only literal "
                    "values are supported, write \\ before each of \\ * ? [ ] { } ( ) ! + @ |"
                )
                raise ConfigError(text)
        return params

    def matches(self, call: ToolCall) -> bool:
        """Whether the call is one that this rule is about."""
        if call.name != self.tool:
            return False
        for name, pattern in self.params.items():
            if name not in call.arguments:
                return False
            if _ESCAPED.sub(r"\1", pattern) != as_text(call.arguments[name]):
                return False
        return self.arguments_digest in (None, arguments_digest(call.arguments))


def escape(text: str) -> str:
    """The text as a pattern that matches this text and nothing else."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def literal_rule(call: ToolCall, digest: str | None = None) -> Rule:
    """The narrowest rule: this tool with exactly these arguments.

    Arguments longer than a screen are named by their digest alone, so that a
    stored rule stays small. ``digest`` is that of the arguments, where it is
    known already.
    """
    params = {name: escape(as_text(value)) for name, value in call.arguments.items()}
    return Rule(
        tool=call.name,
        params=params if sum(map(len, params.values())) <= _READABLE else {},
        arguments_digest=digest or arguments_digest(call.arguments),
    )


def as_text(value: Any) -> str:
    """A JSON value as JavaScript's ``String(value)`` writes it (ECMA-262, ToString)."""
    if isinstance(value, str):
        return value
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, list | tuple):
        return ",".join("" if item is None else as_text(item) for item in value)
    if isinstance(value, Mapping):
        return "[object Object]"
    return str(value)


def _number(value: float) -> str:
    if value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    return repr(value)


@pydantic_dataclass(frozen=True, slots=True, config=_CONFIG)
class RememberedRule:
    """A rule that a person stored for one session by choosing Always."""

    rule: Rule
    effect: Literal["allow", "deny"]
    stored_by: str
    stored_at: AwareDatetime
    expires_at: AwareDatetime
    rule_id: str = Field(default_factory=new_id)


@dataclass(frozen=True, slots=True)
class RuleBook:
    """What one session remembers, and the version it was read at."""

    version: str = ""
    remembered: tuple[RememberedRule, ...] = ()
