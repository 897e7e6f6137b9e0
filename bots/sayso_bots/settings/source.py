"""What was written: the settings file with its lines, and the environment over it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sayso.written.document import Document, SettingsError, parsed, read_text
from sayso.written.lines import KeyPath
from sayso_bots.settings.credentials import holds_api_token

if TYPE_CHECKING:
    from sayso.platforms.platform import Platform
    from sayso.platforms.secret import Secret

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
class Source(Document):
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

    def place(self, path: KeyPath) -> str:
        """Where a key stands: the variable that set it, or file, line and key."""
        if (variable := self.overridden.get(path)) is not None:
            return variable
        return Document.place(self, path)


def find_named_file(config: str | None, env: Mapping[str, str]) -> str:
    """The settings file that somebody names: ``config``, else ``$SAYSO_CONFIG``, else none."""
    return config or env.get(CONFIG_VARIABLE, "")


def user_file(env: Mapping[str, str]) -> str:
    """The settings file in the user's own configuration folder, empty where there is none."""
    folder = Path(env.get("XDG_CONFIG_HOME", ""))
    if not folder.is_absolute():
        folder = Path(env.get("HOME", ""), ".config")
    file = folder / "sayso" / DEFAULT_FILE
    return str(file) if file.is_absolute() and os.path.lexists(file) else ""


def asking_file(config: str | None, env: Mapping[str, str]) -> str:
    """The settings file of a command that asks for an agent: never one of the working directory."""
    return find_named_file(config, env) or user_file(env) or os.devnull


def is_unread(config: str | None, env: Mapping[str, str], folder: str = "") -> bool:
    """Return whether the folder holds a settings file that a command that asks does not read."""
    here = Path(folder, DEFAULT_FILE)
    if find_named_file(config, env) or not os.path.lexists(here):
        return False
    return here.resolve() != Path(asking_file(config, env)).resolve()


def settings_file(config: str | None, env: Mapping[str, str]) -> str:
    """The settings file of an operator's command; ``sayso.toml`` where there is none."""
    if (named := find_named_file(config, env)) or Path(DEFAULT_FILE).exists():
        return named or DEFAULT_FILE
    return user_file(env) or DEFAULT_FILE


def read_source(config: str | None, env: Mapping[str, str]) -> Source:
    """The settings file, if there is one, and the environment over it.

    Unless somebody names it, the file need not be there.

    Raises:
        SettingsError: the file cannot be read or is not TOML.
    """
    name, text = settings_file(config, env), ""
    if find_named_file(config, env) or Path(name).exists():
        text = read_text(name, fix="; name another one with --config")
    return source_of(text, env, name=name)


def source_of(text: str, env: Mapping[str, str], *, name: str = DEFAULT_FILE) -> Source:
    """The settings in a text and the environment over them.

    Raises:
        SettingsError: the text is not TOML.
    """
    try:
        data, lines = parsed(text, name)
    except SettingsError as error:
        headers = _HEADER.findall(text)
        twice = [name for bracket, name in headers if bracket == "[" and ("[[", name) in headers]
        if not twice:
            raise
        raise SettingsError([f"{error}{_ONE_TABLE.format(twice[0])}"]) from None
    source = Source(name, data, lines, env, frozenset(data))
    _refuse_api_tokens(source)
    for variable, (section, key) in OVERRIDES.items():
        if value := source.value(variable):
            _override(source, variable, section, key, value)
    return source


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
