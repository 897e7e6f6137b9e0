"""Settings for a command that works in an agent's folder: named, never found there.

And what is written into the settings of the agent, so that it names them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from sayso.errors import ConfigError
from sayso.text.secrets import has_login
from sayso_bots.cli.call import UsageError
from sayso_bots.settings.asked import AskSettings, read_ask_settings
from sayso_bots.settings.durations import parse_duration
from sayso_bots.settings.source import CONFIG_VARIABLE, DEFAULT_FILE, STORE_VARIABLE
from sayso_bots.settings.store import StoreSettings


def named_settings(
    config: str | None, store: str | None, env: Mapping[str, str], *, who: str = "agent"
) -> AskSettings:
    """The settings that the command line or the environment names.

    Without a name, what an agent may have written into its own folder must not count.

    Raises:
        ConfigError: they are wrong, looked for in that folder, or of a store that nobody sees.
    """
    named = config or env.get(CONFIG_VARIABLE, "")
    if named and not Path(named).is_absolute():
        raise ConfigError(
            f"{named} would be looked for in the folder that the {who} works in: "
            "write its whole path"
        )
    settings = read_ask_settings(named or os.devnull, env, store_url=store)
    if settings.store.is_memory:
        raise ConfigError(
            f"{settings.store.name} is memory://, which nobody outside this process can see; "
            "use the Redis of `sayso serve`"
        )
    return settings


def seconds_of(written: str | None, option: str) -> float | None:
    """The seconds that an option says; None where it is not there.

    Raises:
        UsageError: it is not a duration.
    """
    try:
        return None if written is None else parse_duration(written).total_seconds()
    except ValueError as error:
        raise UsageError(f"{option} {written!r:.40} {error}") from None


def with_login(store: str | None, env: Mapping[str, str]) -> str | None:
    """The store that was named, with the login of the variable where that is the same one."""
    there = env.get(STORE_VARIABLE, "").strip()
    return there if store and store == without_login(there) else store


def without_login(url: str) -> str:
    """The address of a store, or those of its cells, as it may stand in a file."""
    parts = [urlsplit(one) for one in url.split()]
    return " ".join(one._replace(netloc=one.netloc.rpartition("@")[2]).geturl() for one in parts)


def written_config(config: str | None, env: Mapping[str, str]) -> str:
    """The settings that a command names from anywhere; those of this folder where none are."""
    named = config or env.get(CONFIG_VARIABLE, "")
    if not named and Path(DEFAULT_FILE).exists():
        named = DEFAULT_FILE
    return str(Path(named).absolute()) if named else os.devnull


def written_address(store: StoreSettings) -> str:
    """The address of the store without its password, which must not stand in a file.

    Raises:
        UsageError: the password is not where it can be left out.
    """
    address = without_login(store.url) if has_login(store.url) else store.url
    if has_login(address):
        raise UsageError(f"{store.name} has its password elsewhere than before an @")
    return address


def options_of(given: Mapping[str, str | None]) -> list[str]:
    """The words of a command line; a value that begins with a dash would be taken for an option."""
    return [
        word
        for name, value in given.items()
        if value
        for word in ((f"{name}={value}",) if value.startswith("-") else (name, value))
    ]
