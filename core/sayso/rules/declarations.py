"""Annotations of a tool: its permission, the roles of its arguments, words for its calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, TypedDict, TypeVar, Unpack, overload

from sayso.errors import ConfigError
from sayso.rules.rule import Rule
from sayso.text.kind import Kind, check_kinds
from sayso.wording.wording import Risk, Templates, WordingWords


class RoleWords(TypedDict, total=False):
    """The names of roles where a tool is declared; see ``Roles``."""

    talk: Sequence[str]
    command: str
    paths: Sequence[str]
    writes: Sequence[str]
    url: str


@dataclass(frozen=True, slots=True)
class Roles:
    """The names of arguments, by what they are for.

    ``talk`` changes nothing of what the call does: words for people, or how long it may
    take. ``command`` is a line of a POSIX shell, or the list of a program and its
    arguments. ``paths`` are the files that it works on, ``writes`` what it does with them: any
    of it is meant by whoever allows the paths. ``url`` is the page that it fetches.

    Raises:
        ConfigError: one is not a list of names, or an argument has two roles.
    """

    talk: tuple[str, ...] = ()
    command: str = ""
    paths: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    url: str = ""

    def __post_init__(self) -> None:
        lists = {"talk": self.talk, "paths": self.paths, "writes": self.writes}
        for word, names in lists.items():
            if not isinstance(names, tuple) or not all(isinstance(one, str) for one in names):
                raise ConfigError(f"{word} must be a list of the names of arguments")
        named = [*self.names, *self.talk, *self.writes]
        if len(set(named)) < len(named):
            raise ConfigError("an argument has one role: talk, command, paths, writes or url")

    @property
    def names(self) -> tuple[str, ...]:
        """The arguments that a call has if its tool is the one that was meant."""
        return (*self.paths, *filter(None, (self.command, self.url)))


def roles_of(words: RoleWords) -> Roles:
    """The roles that were said.

    Raises:
        ConfigError: as ``Roles``.
    """
    said: dict[str, Any] = {
        word: names if isinstance(names, str) else tuple(names)
        for word, names in dict[str, Any](words).items()
    }
    return Roles(**said)


Suggestion: TypeAlias = Rule | Mapping[str, Any]
"""A rule, or the arguments that one for the tool is about: literal, unless it is a PatternRule."""

DerivePermission = Callable[[Mapping[str, Any]], Suggestion | Iterable[Suggestion]]
"""From the arguments of a call to rules worth offering with Always, the narrow ones first.

Their params are the very texts that match, whatever characters stand in them,
unless a rule is a ``PatternRule``.
"""

ToolKind = Literal["tool", "sub-agent", "multi-agent"]
_Function = TypeVar("_Function", bound=Callable[..., object])
_MARK = "__sayso_declaration__"


class ToolWords(RoleWords, WordingWords, total=False):
    """What a tool says besides: what its arguments are for and are, and words for its calls."""

    kinds: Mapping[str, Kind]


@dataclass(frozen=True, slots=True)
class ToolAnnotations:
    """What a tool says of itself: whether it needs a permission, and which rules suit it.

    ``arguments_schema`` is the JSON Schema of its arguments: what a person
    edits must fit it. ``talk`` to ``url`` is what its arguments are for, see ``Roles``;
    ``kinds`` says by an argument's name of which kind its text is, where a card should not
    guess; the rest is what it says of a call, see ``sayso.wording.wording.Templates``.

    Raises:
        ConfigError: an argument has two roles, names of arguments are no list, there is no
            such kind, or what it says is no template.
    """

    requires: bool = True
    kind: ToolKind = "tool"
    derive: DerivePermission | None = None
    arguments_schema: Mapping[str, Any] | None = None
    talk: Sequence[str] = ()
    command: str = ""
    paths: Sequence[str] = ()
    writes: Sequence[str] = ()
    url: str = ""
    kinds: Mapping[str, Kind] = field(default_factory=dict, hash=False)
    title: str = ""
    summary: str = ""
    facts: Mapping[str, str] = field(default_factory=dict, hash=False)
    risk: Risk = ""
    link: str = ""

    def __post_init__(self) -> None:
        roles_of(self._said)
        check_kinds(self.kinds)
        self.templates.check()

    @property
    def roles(self) -> Roles:
        """What its arguments are for."""
        return roles_of(self._said)

    @property
    def templates(self) -> Templates:
        """What it says of its calls."""
        return Templates(self.title, self.summary, self.facts, self.risk, self.link)

    @property
    def _said(self) -> RoleWords:
        return {
            "talk": self.talk,
            "command": self.command,
            "paths": self.paths,
            "writes": self.writes,
            "url": self.url,
        }


@overload
def requires_permission(function: _Function) -> _Function: ...


@overload
def requires_permission(
    *,
    derive_permission: DerivePermission | None = None,
    requires: bool = True,
    arguments_schema: Mapping[str, Any] | None = None,
    **said: Unpack[ToolWords],
) -> Callable[[_Function], _Function]: ...


def requires_permission(
    function: _Function | None = None,
    *,
    derive_permission: DerivePermission | None = None,
    requires: bool = True,
    arguments_schema: Mapping[str, Any] | None = None,
    **said: Unpack[ToolWords],
) -> _Function | Callable[[_Function], _Function]:
    """Declare that a function, sync or async, needs a permission, or with ``requires=False`` none.

    ``derive_permission(arguments)`` gives the rules to offer with Always, see ``DerivePermission``;
    ``arguments_schema`` is what arguments that a person edits must fit. ``talk``, ``command``,
    ``paths``, ``writes`` and ``url`` are what its arguments are for, see ``Roles``; ``kinds``,
    ``title``, ``summary``, ``facts``, ``risk`` and ``link`` are as for ``ToolAnnotations``.

    Raises:
        ConfigError: as for ``ToolAnnotations``.
    """
    declaration = ToolAnnotations(
        requires=requires, derive=derive_permission, arguments_schema=arguments_schema, **said
    )
    return _marking(declaration) if function is None else _marking(declaration)(function)


def sub_agent_tool(function: _Function) -> _Function:
    """Declare that a function starts another agent: it needs a permission."""
    return _marking(ToolAnnotations(kind="sub-agent"))(function)


def multi_agent_tool(function: _Function) -> _Function:
    """Declare that a function starts several agents: it needs a permission."""
    return _marking(ToolAnnotations(kind="multi-agent"))(function)


def declared_by(tool: Callable[..., object]) -> ToolAnnotations | None:
    """What a function declares of itself."""
    found = getattr(tool, _MARK, None)
    return found if isinstance(found, ToolAnnotations) else None


def schema_of(declaration: ToolAnnotations | None) -> dict[str, Any] | None:
    """The JSON Schema of a tool's arguments, where it declares one."""
    if declaration is None or declaration.arguments_schema is None:
        return None
    return dict(declaration.arguments_schema)


class Requirements:
    """What is declared of tools, by name: by the tools themselves, or for tools of others."""

    def __init__(self, tools: Iterable[Callable[..., object]] = ()) -> None:
        self._declared: dict[str, ToolAnnotations] = {}
        for tool in tools:
            self.add(tool)

    def add(self, tool: Callable[..., object], *, name: str | None = None) -> None:
        """Take over what a tool declares, under its own name unless another is given."""
        declaration = declared_by(tool)
        if declaration is not None:
            self._declared[tool_name(tool) if name is None else name] = declaration

    def declare(
        self,
        name: str,
        *,
        requires: bool = True,
        kind: ToolKind = "tool",
        derive_permission: DerivePermission | None = None,
        arguments_schema: Mapping[str, Any] | None = None,
        **said: Unpack[ToolWords],
    ) -> None:
        """Declare for a tool by its name, as for ``ToolAnnotations``; the last one counts."""
        self._declared[name] = ToolAnnotations(
            requires, kind, derive_permission, arguments_schema, **said
        )

    def of(self, name: str) -> ToolAnnotations | None:
        """Return the declaration of the tool with this name."""
        return self._declared.get(name)


def tool_name(tool: Callable[..., object]) -> str:
    """The name a function goes by as a tool.

    Raises:
        ConfigError: it has none.
    """
    name = getattr(tool, "__name__", None)
    if not isinstance(name, str) or name == "<lambda>":
        raise ConfigError(f"a {type(tool).__name__} without a name is not a tool: pass its name")
    return name


def _marking(declaration: ToolAnnotations) -> Callable[[_Function], _Function]:
    def mark(function: _Function) -> _Function:
        setattr(function, _MARK, declaration)
        return function

    return mark
