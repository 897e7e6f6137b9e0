"""Rules: which calls a stored yes or no is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from pydantic import AwareDatetime, ConfigDict, Field, field_validator
from pydantic.alias_generators import to_camel
from pydantic.dataclasses import dataclass as pydantic_dataclass

from assent.calls import ToolCall, arguments_digest, new_id
from assent.errors import ConfigError
from assent.globs import Glob, escape
from assent.javascript import as_text

_CONFIG = ConfigDict(alias_generator=to_camel, validate_by_name=True, validate_by_alias=True)
_READABLE = 1_000


@pydantic_dataclass(frozen=True, slots=True, config=_CONFIG)
class Rule:
    """Calls of one tool whose arguments fit patterns.

    The tool's name is compared exactly. Every parameter named in ``params``
    must be there and fit its glob, compared with the value as JavaScript's
    ``String(value)`` writes it. With ``arguments_digest`` the rule is about
    exactly one set of arguments and no other; with ``others_digest`` the
    arguments beside those in ``params`` are exactly those of this digest.

    Raises:
        ConfigError: a pattern is refused; the message names the parameter and the fix.
    """

    tool: str
    params: Mapping[str, str] = field(default_factory=dict)
    arguments_digest: str | None = None
    others_digest: str | None = None

    @field_validator("params")
    @classmethod
    def _readable(cls, params: Mapping[str, str]) -> Mapping[str, str]:
        for name, pattern in params.items():
            try:
                _glob(pattern)
            except ConfigError as error:
                raise ConfigError(f"the pattern of {name!r} is refused: {error}") from None
        return params

    def matches(self, call: ToolCall) -> bool:
        """Whether the call is one that this rule is about."""
        if call.name != self.tool:
            return False
        arguments = call.arguments
        for name, pattern in self.params.items():
            if name not in arguments or not _glob(pattern).matches(as_text(arguments[name])):
                return False
        if self.others_digest is not None:
            others = {name: arguments[name] for name in arguments if name not in self.params}
            if arguments_digest(others) != self.others_digest:
                return False
        return self.arguments_digest is None or self.arguments_digest == arguments_digest(arguments)


@lru_cache(maxsize=8_192)
def _glob(pattern: str) -> Glob:
    return Glob(pattern)


def literal_rule(call: ToolCall, digest: str | None = None) -> Rule:
    """The narrowest rule: this tool with exactly these arguments.

    Arguments longer than a screen are named by their digest alone, so that a
    stored rule stays small. ``digest`` is that of the arguments, where it is
    known already.
    """
    texts = {name: as_text(value) for name, value in call.arguments.items()}
    readable = sum(map(len, texts.values())) <= _READABLE
    return Rule(
        tool=call.name,
        params={name: escape(text) for name, text in texts.items()} if readable else {},
        arguments_digest=digest or arguments_digest(call.arguments),
    )


Scope = Literal["session", "agent", "tool-window"]
"""Where a remembered rule holds: one session, all of an agent's, or one session for minutes."""


@pydantic_dataclass(frozen=True, slots=True, config=_CONFIG)
class RememberedRule:
    """A rule that a person stored by choosing Always: who, when, why, where and until when.

    ``uses`` and ``last_used_at`` are counted by the store.
    """

    rule: Rule
    effect: Literal["allow", "deny"]
    stored_by: str
    stored_at: AwareDatetime
    expires_at: AwareDatetime
    rule_id: str = Field(default_factory=new_id)
    scope: Scope = "session"
    reason: str = ""
    uses: int = 0
    last_used_at: AwareDatetime | None = None


@dataclass(frozen=True, slots=True)
class RuleBook:
    """What counts for one session, the agent's own rules among it; the version it was read at."""

    version: str = ""
    remembered: tuple[RememberedRule, ...] = ()
