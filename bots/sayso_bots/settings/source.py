"""What was written: the settings file with its lines, and the environment over it."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from sayso.errors import ConfigError
from sayso.platforms.platform import Platform
from sayso.platforms.secret import Secret
from sayso_bots.settings.credentials import holds_api_token, shown
from sayso_bots.settings.modules import printable
from sayso_bots.settings.toml_lines import KeyPath, key_lines

DEFAULT_FILE = "sayso.toml"
CONFIG_VARIABLE = "SAYSO_CONFIG"

# Which variable overrides which key; those of platforms are called SAYSO_<NAME>_<KEY>.
OVERRIDES: Mapping[str, tuple[str, str]] = {
    "SAYSO_STORE_URL": ("store", "url"),
    "SAYSO_HOST": ("server", "host"),
    "SAYSO_PORT": ("server", "port"),
}

MOST_BYTES = 256 * 1024
MOST_DEPTH = 50
"""Bounds of a settings file: no setting needs more, and reading one ends in a clear line."""

MOST_TOLD = 50
"""So many problems are told at once; whoever has more of them wrote something else."""

# A key of more parts takes the reader seconds before it can be told how deep it is.
_MOST_PARTS = 500

# What tomllib says of a string that the end of its line cuts off.
_OPEN_STRING = "Illegal character '\\n'"

_Model = TypeVar("_Model", bound=BaseModel)


class SettingsError(ConfigError):
    """The settings are wrong: one line for each problem, which names the key and the fix."""

    def __init__(self, problems: Iterable[str]) -> None:
        told = tuple(problems)
        more = (f"and {len(told) - MOST_TOLD} more",) if len(told) > MOST_TOLD else ()
        self.problems = told[:MOST_TOLD] + more
        super().__init__("\n".join(self.problems))


@dataclass(slots=True)
class Source:
    """The settings as they were written. Problems are collected while they are read."""

    name: str
    data: dict[str, Any]
    lines: Mapping[KeyPath, int]
    env: Mapping[str, str]
    sections: frozenset[str] = frozenset()
    overridden: dict[KeyPath, str] = field(default_factory=dict)
    problems: list[tuple[str, str]] = field(default_factory=list)
    refused: set[KeyPath] = field(default_factory=set)

    def section(self, model: type[_Model], *path: str | int) -> _Model | None:
        """The section at a path, None when it is wrong; a missing one has its defaults."""
        try:
            return model.model_validate(self.written(path, {}))
        except ValidationError as error:
            for detail in error.errors(include_url=False)[:MOST_TOLD]:
                self._explain(model, path, detail)
            return None

    def written(self, path: KeyPath, default: Any = None) -> Any:
        """What was written at a path, ``default`` where nothing was."""
        value: Any = self.data
        for part in path:
            try:
                value = value[part]
            except (KeyError, IndexError, TypeError):
                return default
        return value

    def value(self, variable: str) -> str:
        """A variable's value, empty when it is not set."""
        return self.env.get(variable, "").strip()

    def problem(self, path: KeyPath, text: str) -> None:
        """Note that what stands at a path is wrong; ``text`` goes on after its name.

        Nothing more is said of a value that was refused altogether.
        """
        if path in self.refused:
            return
        self.problems.append((str(path[0]), f"{self.place(path)} {text}"))

    def place(self, path: KeyPath) -> str:
        """Where a key stands: the variable that set it, or file, line and key."""
        if (variable := self.overridden.get(path)) is not None:
            return variable
        key = printable(".".join(map(str, path)))
        known = (path[:length] for length in range(len(path), 0, -1))
        line = next((self.lines[part] for part in known if part in self.lines), None)
        return f"{self.name} line {line}: {key}" if line else f"{self.name}: {key}"

    def check(self, *sections: str) -> None:
        """Finish reading these sections; all of them where none is named.

        Raises:
            SettingsError: there were problems in them.
        """
        problems = [text for section, text in self.problems if not sections or section in sections]
        if problems:
            raise SettingsError(dict.fromkeys(problems))

    def _explain(self, model: type[BaseModel], base: KeyPath, detail: ErrorDetails) -> None:
        path = self._existing((*base, *detail["loc"]))
        kind, context = detail["type"], detail.get("ctx", {})
        if kind == "extra_forbidden":
            self.problem(path, unknown(str(path[-1]), model.model_fields))
        elif kind == "missing":
            self.problem(base, f"has no {detail['loc'][-1]!r}; add one")
        elif kind in _SENTENCES:
            self.problem(path, f"{_SENTENCES[kind]}, not {shown(detail['input'])}")
        elif kind in _BOUNDS:
            bound = _BOUNDS[kind].format_map(context)
            self.problem(path, f"{bound}, not {shown(detail['input'])}")
        elif kind == "literal_error":
            self.problem(path, f"must be {context['expected']}, not {shown(detail['input'])}")
        elif kind == "value_error":
            self.problem(path, f"{shown(detail['input'])} {context['error']}")
        else:
            self.problem(path, f"is wrong: {detail['msg']}; it is {shown(detail['input'])}")

    def _existing(self, path: KeyPath) -> KeyPath:
        """As much of a path as was written: validation may have put a lone value in a list."""
        value: Any = self.data
        for depth, part in enumerate(path):
            if isinstance(value, str):
                return path[:depth]
            try:
                value = value[part]
            except (KeyError, IndexError, TypeError):
                return path[:depth]
        return path


_SENTENCES = {
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "string_type": 'must be a string in "quotes"',
    "tuple_type": 'must be a list such as ["…"]',
    "model_type": "must be a table",
    "dict_type": "must be a table",
    "mapping_type": "must be a table",
}
_BOUNDS = {
    "greater_than_equal": "must be at least {ge}",
    "greater_than": "must be more than {gt}",
    "less_than_equal": "must be at most {le}",
    "less_than": "must be less than {lt}",
}


def unknown(key: str, known: Iterable[str], otherwise: str = "") -> str:
    """What to say of a key that is not a setting: the nearest one, or all there are.

    ``otherwise`` goes on where none is near.
    """
    names = list(known)
    if near := difflib.get_close_matches(key, names, n=1, cutoff=0.6):
        return f"is not a setting; did you mean {near[0]}?"
    return f"is not a setting; settings here are {', '.join(names)}{otherwise}"


def read_source(config: str | None, env: Mapping[str, str]) -> Source:
    """The settings file, if there is one, and the environment over it.

    The file is ``config``, else ``$SAYSO_CONFIG``, else ``./sayso.toml``
    where that exists.

    Raises:
        SettingsError: the file cannot be read or is not TOML.
    """
    asked_for = config or env.get(CONFIG_VARIABLE, "")
    name = asked_for or DEFAULT_FILE
    text = ""
    if asked_for or Path(name).exists():
        try:
            with Path(name).open("rb") as file:
                # One byte more than allowed tells that there are more; some files have no end.
                text = file.read(MOST_BYTES + 1).decode("utf-8-sig")
        except FileNotFoundError:
            raise SettingsError([f"{name}: no such file; name another one with --config"]) from None
        except (OSError, ValueError) as error:
            raise SettingsError([f"{name} cannot be read: {_why(error)}"]) from None
    return source_of(text, env, name=name)


def source_of(text: str, env: Mapping[str, str], *, name: str = DEFAULT_FILE) -> Source:
    """The settings in a text and the environment over them.

    Raises:
        SettingsError: the text is not TOML.
    """
    if len(text) > MOST_BYTES:
        raise SettingsError([f"{name} is longer than {MOST_BYTES:,} bytes; it is no settings file"])
    if any(line.partition("=")[0].count(".") > _MOST_PARTS for line in text.split("\n")):
        raise SettingsError([_too_deep(name)])
    try:
        data = tomllib.loads(text)
    except RecursionError:
        raise SettingsError([_too_deep(name)]) from None
    except tomllib.TOMLDecodeError as error:
        said = str(error)
        hint = "; is a closing quote missing in that line?" if _OPEN_STRING in said else ""
        raise SettingsError([f"{name} is not valid TOML: {printable(said)}{hint}"]) from None
    except ValueError:
        # Python reads no number of more than 4,300 digits.
        raise SettingsError([f"{name} holds a number that is too long to be read"]) from None
    if _depth(data) > MOST_DEPTH:
        raise SettingsError([_too_deep(name)])
    source = Source(name, data, key_lines(text), env, frozenset(data))
    _refuse_api_tokens(source)
    for variable, (section, key) in OVERRIDES.items():
        if value := source.value(variable):
            _override(source, variable, section, key, value)
    return source


def _depth(data: Any) -> int:
    """How deep tables and lists are nested, level by level."""
    depth, level = 0, [data]
    while level and depth <= MOST_DEPTH:
        inner = (each.values() if isinstance(each, dict) else each for each in level)
        level = [one for some in inner for one in some if isinstance(one, dict | list)]
        depth += 1
    return depth


def _too_deep(name: str) -> str:
    return f"{name} is nested more than {MOST_DEPTH} levels deep; no setting is"


def _override(source: Source, variable: str, section: str, key: str, value: str) -> None:
    # An address alone does not say that a platform is wanted: its token does.
    table = source.data.setdefault(section, {})
    if isinstance(table, dict):
        table[key] = value
        source.overridden[(section, key)] = variable


def read_with(source: Source, platforms: Iterable[Platform[Any]]) -> None:
    """Read the source as the platforms want it: refuse their secrets, take their variables."""
    platforms = tuple(platforms)
    for platform in platforms:
        table = source.data.get(platform.name)
        for secret in platform.secrets:
            for key in secret.keys:
                if isinstance(table, dict) and key in table:
                    source.problem((platform.name, key), _use_instead(secret))
                    del table[key]
    secrets = [secret for platform in platforms for secret in platform.secrets]
    for path, value in list(_texts(source.data)):
        if found := next((secret for secret in secrets if secret.is_in(value)), None):
            source.problem(path, _use_instead(found))
            source.refused.add(path)
    for path, table in list(_tables(source.data)):
        for key in list(table):
            if found := next((secret for secret in secrets if secret.is_in(key)), None):
                source.problem(path or ("platforms",), f"has a key that {_use_instead(found)}")
                del table[key]
    for platform in platforms:
        for variable, key in overrides(platform).items():
            if value := source.value(variable):
                _override(source, variable, platform.name, key, value)


def overrides(platform: Platform[Any]) -> Mapping[str, str]:
    """Which variable overrides which key of the platform's section."""
    prefix = f"SAYSO_{platform.name.upper()}_"
    return {f"{prefix}{key.upper()}": key for key in platform.section.model_fields}


def _refuse_api_tokens(source: Source) -> None:
    for path, value in list(_texts(source.data)):
        if holds_api_token(value):
            source.problem(path, _PASTED)
            source.refused.add(path)
    for path, table in list(_tables(source.data)):
        for key in [key for key in table if holds_api_token(key)]:
            source.problem(path or ("api",), f"has a key that {_PASTED}")
            del table[key]


def _use_instead(secret: Secret) -> str:
    return (
        "holds a secret, which must not stand in a file; "
        f"remove it and set {secret.variable} in the environment"
    )


_PASTED = (
    "holds a token of the hosted API, which must not stand in a file; "
    "keep it where it is used, and write here what `sayso api token NAME` prints"
)


def _tables(value: Any, path: KeyPath = ()) -> Iterable[tuple[KeyPath, dict[str, Any]]]:
    if isinstance(value, dict):
        yield path, value
        for key, item in value.items():
            yield from _tables(item, (*path, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _tables(item, (*path, number))


def _texts(value: Any, path: KeyPath = ()) -> Iterable[tuple[KeyPath, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(item, (*path, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _texts(item, (*path, number))


def _why(error: Exception) -> str:
    return "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error.args[-1])
