"""Deny rules as data, with the lines that they are named by, and the denials they make."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import ConfigDict, ValidationInfo, field_validator
from pydantic.alias_generators import to_camel
from pydantic.dataclasses import dataclass as pydantic_dataclass

from sayso.calls import ToolCall
from sayso.errors import ConfigError
from sayso.rules.rule import Rule, ToldRule, check_can_deny
from sayso.rules.values import Values

MOST_DENY_RULES = 100
"""So many of a policy's deny rules travel with a request; an agent holds the others itself."""


@pydantic_dataclass(
    frozen=True,
    slots=True,
    config=ConfigDict(alias_generator=to_camel, validate_by_name=True, validate_by_alias=True),
)
class DenyRule:
    """A deny rule of the policy that asks, and the line of the policy that it is.

    A rule that cannot be read here, None, is about every call of its tool.

    Raises:
        ConfigError: it is a rule that can only allow.
    """

    line: str
    rule: ToldRule = None

    @field_validator("rule")
    @classmethod
    def _can_deny(cls, rule: Rule | None, info: ValidationInfo) -> Rule | None:
        try:
            if rule is not None:
                check_can_deny(rule)
        except ConfigError:
            if info.mode != "json":
                raise
            return None
        return rule

    def denies(self, call: ToolCall, values: Values) -> bool:
        """Whether the call is one that it denies."""
        return self.rule is None or self.rule.matches(call, values)


@dataclass(frozen=True, slots=True)
class StandingDenial:
    """Why a call is denied, and the line that denies it; ``rule_id`` is of a remembered rule."""

    reason: str
    line: str
    rule_id: str = ""
