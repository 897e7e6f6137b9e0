"""Settings for a command that works in an agent's folder: named, never found there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from sayso.errors import ConfigError
from sayso_bots.cli.call import UsageError
from sayso_bots.settings.durations import parse_duration
from sayso_bots.settings.settings import AskSettings, read_ask_settings
from sayso_bots.settings.source import CONFIG_VARIABLE


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
        raise ConfigError(f"{named} is looked for wherever the {who} works: write where it is")
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
