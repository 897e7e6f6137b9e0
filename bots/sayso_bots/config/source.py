"""The settings file with its lines, the environment over it, and values in its sections."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field, PlainValidator

from sayso.durations import parse_duration
from sayso.text.secret_patterns import OWN_TOKEN, holds
from sayso.toml_file import KeyPath, SettingsError, TomlFile, parse_toml, read_text

if TYPE_CHECKING:
    from sayso.platforms.platform import Platform, Secret

DEFAULT_FILE = "sayso.toml"
CONFIG_VARIABLE = "SAYSO_CONFIG"
STORE_VARIABLE = "SAYSO_STORE_URL"

_HEADER = re.compile(r"^[ \t]*(\[{1,2})[ \t]*([\w-]+)[ \t]*\]", re.MULTILINE)
_ONE_TABLE = (
    "; such a table is written once, as [{}]: one `sayso serve` serves one workspace or bot of a "
    "platform"
)

# Which variable overrides which key; those of platforms are called SAYSO_<NAME>_<KEY>.
OVERRIDES: Mapping[str, tuple[str, str]] = {
    STORE_VARIABLE: ("store", "url"),
    "SAYSO_HOST": ("server", "host"),
    "SAYSO_PORT": ("server", "port"),
}


@dataclass(slots=True)
class Source(TomlFile):
    """The settings as they were written. Problems are collected while they are read.

    ``files`` are those that it names and that were read, too.
    """

    env: Mapping[str, str]
    sections: frozenset[str] = frozenset()
    overridden: dict[KeyPath, str] = field(default_factory=dict)
    files: list[Path] = field(default_factory=list)

    def value(self, variable: str) -> str:
        """A variable's value, empty when it is not set."""
        return self.env.get(variable, "").strip()

    def locate(self, path: KeyPath) -> str:
        """Name the variable that set a key, or its file, line and name."""
        if (variable := self.overridden.get(path)) is not None:
            return variable
        return TomlFile.locate(self, path)


def find_named_file(config: str | None, env: Mapping[str, str]) -> str:
    """Find the settings file that somebody names: ``config``, else ``$SAYSO_CONFIG``, else none."""
    return config or env.get(CONFIG_VARIABLE, "")


def find_user_file(env: Mapping[str, str]) -> str:
    """Find the settings file in the user's own configuration folder; empty where there is none."""
    folder = Path(env.get("XDG_CONFIG_HOME", ""))
    if not folder.is_absolute():
        folder = Path(env.get("HOME", ""), ".config")
    file = folder / "sayso" / DEFAULT_FILE
    return str(file) if file.is_absolute() and os.path.lexists(file) else ""


def find_asking_file(config: str | None, env: Mapping[str, str]) -> str:
    """Find the settings file of a command that asks: never one of the working directory."""
    return find_named_file(config, env) or find_user_file(env) or os.devnull


def is_unread(config: str | None, env: Mapping[str, str], folder: str = "") -> bool:
    """Return whether the folder holds a settings file that a command that asks does not read."""
    here = Path(folder, DEFAULT_FILE)
    if find_named_file(config, env) or not os.path.lexists(here):
        return False
    return here.resolve() != Path(find_asking_file(config, env)).resolve()


def find_settings_file(config: str | None, env: Mapping[str, str]) -> str:
    """Find the settings file of an operator's command; ``sayso.toml`` where there is none."""
    if (named := find_named_file(config, env)) or Path(DEFAULT_FILE).exists():
        return named or DEFAULT_FILE
    return find_user_file(env) or DEFAULT_FILE


def read_source(config: str | None, env: Mapping[str, str]) -> Source:
    """Read the settings file, if there is one, and lay the environment over it.

    Unless somebody names it, the file need not be there.

    Raises:
        SettingsError: the file cannot be read or is not TOML.
    """
    name, text = find_settings_file(config, env), ""
    if find_named_file(config, env) or Path(name).exists():
        text = read_text(name, fix="; name another one with --config")
    return parse_source(text, env, name=name)


def parse_source(text: str, env: Mapping[str, str], *, name: str = DEFAULT_FILE) -> Source:
    """Parse the settings in a text, and lay the environment over them.

    Raises:
        SettingsError: the text is not TOML.
    """
    try:
        data, lines = parse_toml(text, name)
    except SettingsError as error:
        headers = _HEADER.findall(text)
        twice = [name for bracket, name in headers if bracket == "[" and ("[[", name) in headers]
        if not twice:
            raise
        raise SettingsError([f"{error}{_ONE_TABLE.format(twice[0])}"]) from None
    source = Source(name, data, lines, env, frozenset(data))
    _refuse(source, "api", lambda found: _PASTED if holds_api_token(found) else "")
    for variable, (section, key) in OVERRIDES.items():
        if value := source.value(variable):
            _override(source, variable, section, key, value)
    return source


def apply_platforms(source: Source, platforms: Iterable[Platform[Any]]) -> None:
    """Refuse the platforms' secrets in the file, and lay their variables over it."""
    platforms = tuple(platforms)
    secrets = [secret for platform in platforms for secret in platform.secrets]
    for platform in platforms:
        table = source.data.get(platform.name)
        for secret in platform.secrets:
            for key in secret.keys:
                if isinstance(table, dict) and key in table:
                    source.add_problem((platform.name, key), _explain_secret(secret))
                    del table[key]
    _refuse(
        source,
        "platforms",
        lambda found: next((_explain_secret(one) for one in secrets if one.is_in(found)), ""),
    )
    for platform in platforms:
        for variable, key in list_variables(platform).items():
            if value := source.value(variable):
                _override(source, variable, platform.name, key, value)


def list_variables(platform: Platform[Any]) -> Mapping[str, str]:
    """Return which variable overrides which key of the platform's section."""
    prefix = f"SAYSO_{platform.name.upper()}_"
    return {f"{prefix}{key.upper()}": key for key in platform.section.model_fields}


def holds_api_token(text: str) -> bool:
    """Return True if the text contains a bearer token of the hosted API."""
    return holds(OWN_TOKEN, text)


def _override(source: Source, variable: str, section: str, key: str, value: str) -> None:
    # An address alone does not say that a platform is wanted: its token does.
    table = source.data.setdefault(section, {})
    if isinstance(table, dict):
        table[key] = value
        source.overridden[(section, key)] = variable


def _refuse(source: Source, top: str, explain: Callable[[str], str]) -> None:
    """Refuse each text and each key that holds a secret; ``explain`` says what to do instead."""
    for path, value in list(_walk(source.data)):
        if isinstance(value, str) and (text := explain(value)):
            source.add_problem(path, text)
            source.refused.add(path)
        elif isinstance(value, dict):
            for key in list(value):
                if text := explain(key):
                    source.add_problem(path or (top,), f"has a key that {text}")
                    del value[key]


def _explain_secret(secret: Secret) -> str:
    return (
        "holds a secret, which must not stand in a file; "
        f"remove it and set {secret.variable} in the environment"
    )


_PASTED = (
    "holds a token of the hosted API, which must not stand in a file; "
    "keep it where it is used, and write here what `sayso api token NAME` prints"
)


def _walk(value: Any, path: KeyPath = ()) -> Iterator[tuple[KeyPath, Any]]:
    """Yield a value and all that it holds, with their paths."""
    yield path, value
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _walk(item, (*path, key))


Flag = Annotated[bool, Field(strict=True)]
"""``true`` or ``false``, and no word for them."""

Duration = Annotated[timedelta, BeforeValidator(parse_duration)]
"""Written as ``90s``, ``10m`` or ``1h30m``."""


def refuse_bool(value: object) -> object:
    """Return the value; of true and false what was written, which is no number."""
    # To pydantic, true is a 1.
    return repr(value) if isinstance(value, bool) else value


def count_up_to(highest: int, *, off: bool = False) -> PlainValidator:
    """Return the validator of a count from 1; with ``off``, that word stands for 0."""
    more = ', such as 50, or "off"' if off else ""

    def check(value: object) -> int:
        if off and value == "off":
            return 0
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= highest:
            raise ValueError(f"is not a whole number from 1 to {highest}{more}")
        return value

    return PlainValidator(check)
