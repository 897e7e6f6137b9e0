"""Commands that ask for an agent: their settings, never those of the folder it works in.

And what is written into the settings of the agent, and where they serve HTTP.
"""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from sayso.durations import parse_duration
from sayso.errors import ConfigError
from sayso.text.secrets import has_login
from sayso_bots.config.source import (
    CONFIG_VARIABLE,
    DEFAULT_FILE,
    STORE_VARIABLE,
    find_asking_file,
    find_named_file,
    is_unread,
)
from sayso_bots.config.store_settings import AskSettings, StoreSettings, read_ask_settings
from sayso_bots.process.resources import hide_environment


def named_settings(
    config: str | None, store: str | None, env: Mapping[str, str], *, who: str = "agent"
) -> AskSettings:
    """The settings for a command that an agent's client starts, in whichever folder.

    Raises:
        ConfigError: they are wrong, named by a relative path, or of a store that nobody sees.
    """
    named = find_named_file(config, env)
    if named and not Path(named).is_absolute():
        raise ConfigError(
            f"{named} would be looked for in the folder that the {who} works in: "
            "write its whole path"
        )
    return asking_settings(config, store, env)


def asking_settings(config: str | None, store: str | None, env: Mapping[str, str]) -> AskSettings:
    """The settings for a command that asks; stderr says of a file in this folder that it is unread.

    An agent, or a change that nobody has read, may have written that file.

    Raises:
        ConfigError: they are wrong, or of a store that nobody sees.
    """
    say_unread(config, env)
    settings = read_ask_settings(find_asking_file(config, env), env, store_url=store)
    if settings.store.is_memory:
        raise ConfigError(
            f"{settings.store.name} is memory://, which nobody outside this process can see; "
            "use the Redis of `sayso serve`"
        )
    return settings


def say_unread(config: str | None, env: Mapping[str, str]) -> None:
    """Tell whoever reads stderr of a settings file in this folder that does not count."""
    if is_unread(config, env):
        print(
            f"sayso: {DEFAULT_FILE} in this folder is not read, since an agent may have written "
            f"it; name it with --config or {CONFIG_VARIABLE} if it is yours",
            file=sys.stderr,
        )


def keep_from_children(store: str | None) -> None:
    """Let no other program read the password of the store, which would approve anything.

    Raises:
        ConfigError: it stands on the command line, which everybody can read.
        OSError: the kernel does not hide the environment.
    """
    if store and has_login(store):
        raise ConfigError(
            f"--store holds a password, which every program on this machine could read; set "
            f"{STORE_VARIABLE}"
        )
    hide_environment()


def seconds_of(written: str | None, option: str) -> float | None:
    """The seconds that an option says; None where it is not there.

    Raises:
        ConfigError: it is not a duration.
    """
    try:
        return None if written is None else parse_duration(written).total_seconds()
    except ValueError as error:
        raise ConfigError(f"{option} {written!r:.40} {error}") from None


def with_login(store: str | None, env: Mapping[str, str]) -> str | None:
    """The store that was named, with the login of the variable where that is the same one."""
    there = env.get(STORE_VARIABLE, "").strip()
    return there if store and store == without_login(there) else store


def without_login(url: str) -> str:
    """The address of a store as it may stand in a file."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def written_config(config: str | None, env: Mapping[str, str]) -> str:
    """The whole path of the settings that are written into an agent's own."""
    say_unread(config, env)
    return str(Path(find_asking_file(config, env)).absolute())


def written_address(store: StoreSettings) -> str:
    """The address of the store without its password, which must not stand in a file.

    Raises:
        ConfigError: the password is not where it can be left out.
    """
    address = without_login(store.url) if has_login(store.url) else store.url
    if has_login(address):
        raise ConfigError(f"{store.name} has its password elsewhere than before an @")
    return address


def say_login(store: StoreSettings, title: str) -> None:
    """Tell whoever reads stderr that the password of the store is not in the agent's settings."""
    if has_login(store.url):
        print(
            "sayso: the password of the store is not written down: "
            f"{STORE_VARIABLE} must be set, as it is now, where {title} is started",
            file=sys.stderr,
        )


def options_of(given: Mapping[str, str | None]) -> list[str]:
    """The words of a command line; a value that begins with a dash would be taken for an option."""
    return [
        word
        for name, value in given.items()
        if value
        for word in ((f"{name}={value}",) if value.startswith("-") else (name, value))
    ]


LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
MIN_TOKEN_LENGTH = 32
_LAST_PORT = 65_535


def parse_address(written: str) -> tuple[str, int]:
    """Return the host and the port of ``--listen``.

    Raises:
        ConfigError: it names none.
    """
    host, _, port = written.rpartition(":")
    if not port.isdecimal() or int(port) > _LAST_PORT:
        raise ConfigError(f"--listen {written!r:.40}: write HOST:PORT, such as 127.0.0.1:8090")
    return host.strip("[]") or "127.0.0.1", int(port)


def read_token(env: Mapping[str, str], variable: str) -> str:
    """Return the token that clients must bring; empty where the variable is not set.

    Raises:
        ConfigError: it is too short.
    """
    token = env.get(variable, "").strip()
    if token and len(token) < MIN_TOKEN_LENGTH:
        raise ConfigError(
            f"{variable} has less than {MIN_TOKEN_LENGTH} characters; make one with "
            "`openssl rand -hex 32`"
        )
    return token


@contextmanager
def take_port(host: str, port: int) -> Iterator[Sequence[socket.socket]]:
    """Listen on all addresses of the host while the block runs.

    Raises:
        ConfigError: something else does, or the address is not of this machine.
    """
    from sayso_bots.server.webserver import bind_port

    try:
        with bind_port(host, port) as sockets:
            yield sockets
    except ConfigError:
        raise ConfigError(f"--listen: {host}:{port} is in use, or not of this machine") from None
