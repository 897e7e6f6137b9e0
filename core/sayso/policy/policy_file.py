"""Policies in files, with the line of each rule, and the presets that come with Sayso."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError
from pydantic.dataclasses import dataclass as pydantic_dataclass

from sayso.calls import ToolCall
from sayso.digests import arguments_digest
from sayso.errors import ConfigError
from sayso.known.secrets import may_show_secrets
from sayso.known.tools import KnownTool, catalog
from sayso.rules.matchers import ShellMatcher
from sayso.rules.rule import Rule, Values, check_can_deny
from sayso.toml_file import KeyPath, TomlFile, format_key, parse_toml, read_text


@dataclass(frozen=True, slots=True)
class Looks:
    """A tool that only looks: whose it is, what it does at most, and the rule that allows that."""

    tool: str
    of: str
    does: str
    rule: Rule


@pydantic_dataclass(frozen=True, slots=True)
class ReadingRule(Rule):
    """A rule of a preset for a tool that reads: not about calls that may show secrets.

    It is never stored or sent: as JSON it would be the wider ``Rule``.
    """

    def matches(self, call: ToolCall, values: Values | None = None, *, but: str = "") -> bool:
        """Return True if the call is one that this rule is about."""
        return Rule.matches(self, call, values, but=but) and not may_show_secrets(call)


_NONE = arguments_digest({})


def _rule(tool: KnownTool) -> Rule:
    """The calls of a tool that only look: all, or those that its arguments tell apart."""
    if tool.command:
        lines = {tool.command: ShellMatcher()}
        return Rule(tool.name, matchers=lines, others_digest=_NONE, talk=tool.talk)
    if tool.only:
        there = dict.fromkeys(tool.needs, "*")
        free = tuple(name for name in tool.only if name not in there)
        return Rule(tool.name, there, others_digest=_NONE, talk=free)
    return ReadingRule(tool.name) if tool.name in catalog().looks else Rule(tool.name)


_CODING = tuple(
    Looks(tool.name, tool.of, tool.looks, _rule(tool)) for tool in catalog().tools if tool.looks
)

PRESETS: Mapping[str, tuple[Looks, ...]] = {"coding": _CODING}
"""The presets by their names. What a preset does not name needs a person."""


Default = Literal["ask", "allow"]
LISTS = ("allow", "allow_once", "deny")
"""The lists of rules that a policy has."""


@dataclass(frozen=True, slots=True)
class PlacedRule:
    """A rule, and where it was written: file and line, or the preset that it comes from."""

    rule: Rule
    place: str = ""


@dataclass(frozen=True, slots=True)
class WrittenPolicy:
    """What a policy says that was written in a file; ``default`` is None where it does not say."""

    default: Default | None = None
    allow: tuple[PlacedRule, ...] = ()
    allow_once: tuple[PlacedRule, ...] = ()
    deny: tuple[PlacedRule, ...] = ()
    preset: str = ""

    @property
    def looking(self) -> tuple[PlacedRule, ...]:
        """The rules of its preset."""
        place = f"preset {self.preset}"
        return tuple(PlacedRule(tool.rule, place) for tool in PRESETS.get(self.preset, ()))


def _preset(name: str) -> str:
    if name not in PRESETS:
        raise ValueError(f"is not a preset; there is {', '.join(map(repr, PRESETS))}")
    return name


class PolicyTable(BaseModel):
    """The keys of a policy, its rules not looked at yet."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    default: Default | None = None
    preset: Annotated[str, AfterValidator(_preset)] | None = None
    allow: tuple[Any, ...] = ()
    allow_once: tuple[Any, ...] = ()
    deny: tuple[Any, ...] = ()


class RuleTable(BaseModel):
    """The keys of a rule."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tool: str
    params: Mapping[str, str] = {}
    talk: tuple[str, ...] = ()
    matchers: Mapping[str, Any] = {}
    also: tuple[str, ...] = ()


def policy_in(document: TomlFile, path: KeyPath, table: PolicyTable) -> WrittenPolicy:
    """The policy that stands at a path, ``table`` of it read already; problems are noted."""
    if table.preset is not None and table.default == "allow":
        text = "allows every tool, and so does more than the preset; leave one of them out"
        document.add_problem((*path, "default"), text)
    allow, allow_once, deny = (_rules(document, (*path, name)) for name in LISTS)
    return WrittenPolicy(table.default, allow, allow_once, deny, table.preset or "")


def read_policy(name: str) -> tuple[TomlFile, WrittenPolicy]:
    """The policy in a file. What is wrong in it is among the problems of the document.

    Raises:
        SettingsError: the file cannot be read or is not TOML.
    """
    data, lines = parse_toml(read_text(name), name)
    document = TomlFile(name, data, lines)
    table = document.read_section(PolicyTable)
    return document, policy_in(document, (), table or PolicyTable())


def _rules(document: TomlFile, path: KeyPath) -> tuple[PlacedRule, ...]:
    written = document.get(path, [])
    rules = []
    for number in range(len(written) if isinstance(written, list) else 0):
        one = (*path, number)
        table = document.read_section(RuleTable, *one)
        if table is None:
            continue
        try:
            rule = Rule(
                table.tool, table.params, talk=table.talk, matchers=table.matchers, also=table.also
            )
            if path[-1] == "deny":
                check_can_deny(rule)
        except ConfigError as error:
            document.add_problem(one, f"cannot be used: {error}")
            continue
        except ValidationError as error:
            wrong = error.errors(include_url=False)[0]
            document.add_problem(one, f"cannot be used: {format_key(wrong['loc'])}: {wrong['msg']}")
            continue
        line = document.line(one)
        rules.append(PlacedRule(rule, f"{document.name}:{line}" if line else document.name))
    return tuple(rules)
