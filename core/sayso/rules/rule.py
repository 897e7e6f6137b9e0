"""Rules: literal or with patterns, deny rules as data, and the values that they look at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from operator import not_
from typing import Annotated, Any, Literal

from pydantic import (
    AwareDatetime,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    field_validator,
)
from pydantic.alias_generators import to_camel
from pydantic.dataclasses import dataclass as pydantic_dataclass
from pydantic_core import from_json

from sayso.calls import Folder, ToolCall, new_id
from sayso.digests import Digests, arguments_digest, has_known_form
from sayso.errors import ConfigError
from sayso.rules.glob import compile_glob, escape_glob
from sayso.rules.javascript import as_text
from sayso.rules.matchers import Matcher
from sayso.rules.paths import find_place

_FOLDERS = ("workdir", "cwd")


class Values:
    """The values of a call, which all rules look at together, and the digests of its arguments.

    They are those of the moment when they are asked for first: for one
    decision, and not to be kept beyond it.
    """

    def __init__(self, arguments: Mapping[str, Any], folder: Folder | None = None) -> None:
        self._arguments = arguments
        self.folder = folder
        self._values: dict[str, str] = {}
        self.digests = Digests(arguments)

    def get(self, name: str) -> str | None:
        """The value of a parameter as text; None if the call has no such parameter.

        Raises:
            InvalidCallError: it has no JSON form, or no certain one.
        """
        found = self._values.get(name)
        if found is None and name in self._arguments:
            found = self._values[name] = as_text(self._arguments[name])
        return found

    def plain(self, name: str) -> Any:
        """The value of a parameter as it was passed; None if the call has no such parameter."""
        return self._arguments.get(name)

    @property
    def runs_in(self) -> Folder | None:
        """The folder that a line of a shell runs in: one that the call names, or the agent's."""
        named = next((self._arguments[name] for name in _FOLDERS if name in self._arguments), None)
        if not isinstance(named, str) or not named:
            return self.folder
        folder = self.folder or Folder("")
        return replace(folder, begins=find_place(folder).enter(named).begins)


# A name that is not known would leave out what narrows the rule: it is refused, never ignored.
_CONFIG = ConfigDict(
    alias_generator=to_camel, validate_by_name=True, validate_by_alias=True, extra="forbid"
)
_READABLE = 1_000


@pydantic_dataclass(frozen=True, slots=True, config=_CONFIG)
class Rule:
    """Calls of one tool whose arguments fit patterns.

    The tool's name is compared exactly; ``also`` are others that the rule is about as well.
    Every parameter named in ``params`` must be there and fit its glob, compared with the value
    as JavaScript's ``String(value)`` writes it; every one named in ``matchers`` must be there and
    be what its ``Matcher`` says. With ``arguments_digest`` the rule is about
    exactly one set of arguments and no other; with ``others_digest`` the
    arguments beside those in ``params`` and ``matchers`` are exactly those of this digest.
    Parameters named in ``talk`` are left out of both digests: the rule is not about them.
    Any other name is refused, so that a mistyped one never makes a rule wider.

    Raises:
        ConfigError: a pattern is refused; the message names the parameter and the fix.
            Or a digest is of a form that is not known here, or a name stands there twice.
    """

    tool: str
    params: Mapping[str, str] = field(default_factory=dict)
    arguments_digest: str | None = None
    others_digest: str | None = None
    # Left out where there is none: other versions read a rule that has neither.
    talk: Annotated[tuple[str, ...], Field(exclude_if=not_)] = ()
    matchers: Annotated[Mapping[str, Matcher], Field(exclude_if=not_)] = field(default_factory=dict)
    also: Annotated[tuple[str, ...], Field(exclude_if=not_)] = ()

    @field_validator("params")
    @classmethod
    def _readable(cls, params: Mapping[str, str]) -> Mapping[str, str]:
        for name, pattern in params.items():
            try:
                compile_glob(pattern)
            except ConfigError as error:
                raise ConfigError(f"the pattern of {name!r} is refused: {error}") from None
        return params

    @field_validator("arguments_digest", "others_digest")
    @classmethod
    def _of_a_known_form(cls, digest: str | None) -> str | None:
        # Nothing has a digest of a form that is not known here: a denial would deny nothing.
        if digest is not None and not has_known_form(digest):
            raise ConfigError(f"the form of the digest {digest!r} is not known here")
        return digest

    def __post_init__(self) -> None:
        if len({*self.tools}) < len(self.tools):
            raise ConfigError(f"a rule names the tool {self.tool!r} or another one twice")
        for name in (*self.talk, *self.params):
            if name in self.matchers or (name in self.talk and name in self.params):
                raise ConfigError(f"a rule says twice what {name!r} may be")

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools that the rule is about."""
        return (self.tool, *self.also)

    def matches(self, call: ToolCall, values: Values | None = None, *, but: str = "") -> bool:
        """Return True if the call is one that this rule is about.

        ``values`` are those of the call's arguments, for whoever asks many rules. What
        ``matchers`` says of the parameter ``but`` is left to the caller.
        """
        if call.name != self.tool and call.name not in self.also:
            return False
        values = values or Values(call.arguments, call.folder)
        for name, pattern in self.params.items():
            value = values.get(name)
            if value is None or not compile_glob(pattern).matches(value):
                return False
        for name, fit in self.matchers.items():
            folder = values.runs_in if fit.kind == "shell" else values.folder
            if name != but and not fit.holds(values.plain(name), folder):
                return False
        digests = values.digests
        if self.others_digest is not None and not digests.hold(
            self.others_digest, without=(*self.params, *self.matchers, *self.talk)
        ):
            return False
        return self.arguments_digest is None or digests.hold(
            self.arguments_digest, without=self.talk
        )


@pydantic_dataclass(frozen=True, slots=True, config=_CONFIG)
class PatternRule(Rule):
    """A rule whose params are meant as patterns, where what a tool suggests is taken literally.

    Put values that came with the call through ``escape_glob``: a star that an agent
    writes into its arguments is a star of the rule otherwise.
    """


def matching_rules(rules: Sequence[Rule], call: ToolCall) -> Iterator[int]:
    """The positions of the rules that are about the call, in order."""
    values = Values(call.arguments, call.folder)
    return (number for number, rule in enumerate(rules) if rule.matches(call, values))


def check_can_deny(rule: Rule) -> None:
    """Return when a rule may deny.

    Raises:
        ConfigError: it has matchers. A value that they do not understand they do not match, and a
            denial would let it pass. Or it is about several tools: denials are kept by tool.
    """
    if rule.also:
        raise ConfigError(f"a rule that denies is about one tool: write one for {rule.also[0]!r}")
    if rule.matchers:
        raise ConfigError(
            f"{next(iter(rule.matchers))!r} has a matcher, which can only allow: a value that "
            "it does not understand would not be denied; deny by a pattern, or the whole tool"
        )


def literal_rule(call: ToolCall, digest: str | None = None, *, talk: Sequence[str] = ()) -> Rule:
    """The narrowest rule: this tool with exactly these arguments, but for those that are talk.

    Arguments longer than a screen are named by their digest alone, so that a
    stored rule stays small. ``digest`` is that of the arguments, where it is
    known already.
    """
    held = {name: value for name, value in call.arguments.items() if name not in talk}
    texts: dict[str, str] = {}
    if _room_after(list(held.values()), _READABLE + len(held)) >= 0:
        texts = {name: as_text(value) for name, value in held.items()}
    readable = sum(map(len, texts.values())) <= _READABLE
    return Rule(
        tool=call.name,
        params={name: escape_glob(text) for name, text in texts.items()} if readable else {},
        arguments_digest=digest if digest and not talk else arguments_digest(held),
        talk=tuple(sorted(talk)),
    )


def _room_after(value: Any, room: int) -> int:
    """The room that is left after a value as text, at most; negative as soon as there is none."""
    if isinstance(value, str):
        return room - len(value)
    if isinstance(value, list | tuple):
        room -= max(len(value) - 1, 0)
        for item in value:
            if room < 0:
                break
            room = _room_after(item, room)
        return room
    return room - 1  # a mapping is one as well: "[object Object]"


def _if_readable(value: Any, read: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
    try:
        return read(value)
    except (ValidationError, ConfigError):
        if info.mode != "json":
            raise
    return () if isinstance(value, list) else None


OfferedRules = Annotated[tuple[Rule, ...], WrapValidator(_if_readable)]
"""Rules that came over the wire; none if one of them is of a version that is not known here.

All or none, so that the number of a rule among them is the same in every process.
"""

ToldRule = Annotated[Rule | None, WrapValidator(_if_readable)]
"""A rule that came over the wire only to be reported; None if it cannot be read here."""


IDLE_FOR = timedelta(days=14)
"""A rule that decides nothing for so long is pointed out."""

Scope = Literal["session", "agent", "tool-window", "project"]
"""Where a remembered rule holds.

One session, all of an agent's, one session for minutes, or all of an agent's on one project.
"""


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

    def is_idle(self, now: datetime) -> bool:
        """Return True if nothing was decided by it for 14 days: it may be there for nothing."""
        return now - (self.last_used_at or self.stored_at) >= IDLE_FOR

    def __post_init__(self) -> None:
        if self.effect == "deny":
            check_can_deny(self.rule)


_REMEMBERED: TypeAdapter[RememberedRule] = TypeAdapter(RememberedRule)


@dataclass(frozen=True, slots=True)
class UnreadableRule:
    """A stored rule of a version that is not known here, or one whose pattern is refused by now."""

    rule_id: str
    allows: bool


def read_remembered(written: bytes) -> RememberedRule | UnreadableRule:
    """The rule as a store keeps it. Nothing in it is left out to make it readable."""
    try:
        return _REMEMBERED.validate_json(written)
    except (ValidationError, ConfigError):
        pass
    try:
        found = from_json(written)
    except ValueError:
        found = None
    fields = found if isinstance(found, dict) else {}
    rule_id = fields.get("ruleId")
    allows = fields.get("effect") == "allow"
    return UnreadableRule(rule_id if isinstance(rule_id, str) else "", allows)


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
        """Return True if the call is one that it denies."""
        return self.rule is None or self.rule.matches(call, values)


@dataclass(frozen=True, slots=True)
class StandingDenial:
    """Why a call is denied, and the line that denies it; ``rule_id`` is of a remembered rule."""

    reason: str
    line: str
    rule_id: str = ""
