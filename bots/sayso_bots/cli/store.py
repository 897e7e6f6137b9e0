"""Looking into the store from a command line."""

from __future__ import annotations

import argparse
import asyncio
import getpass
import socket
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

from sayso.errors import ConfigError, StoreUnreachableError
from sayso.stores.backend import Backend
from sayso.stores.connect import open_store
from sayso_bots.config.store_settings import StoreSettings, read_store

START_BOTS = "no bots are running on this store; `sayso serve` starts them"
"""What whoever looks at the store should know: nobody would show a question."""

# Setting something up does not wait for a store that is away.
_LOOK_SECONDS = 3.0

_T = TypeVar("_T")


def with_store(
    args: argparse.Namespace, env: Mapping[str, str], look: Callable[[Backend], Awaitable[_T]]
) -> _T:
    """What a look into the store of the settings brings.

    Raises:
        ConfigError: it lives inside another process.
        StoreUnreachableError: it does not answer.
    """
    store = read_store(args.config, env, args.store)
    if store.is_memory:
        raise ConfigError(
            f"{store.name} is memory://, which lives inside another process; "
            "this command needs Redis"
        )

    async def looked() -> _T:
        async with open_store(store.url) as backend:
            try:
                await backend.outbox.count_workers()
                return await look(backend)
            except StoreUnreachableError as error:
                raise StoreUnreachableError(store.explain_unreachable(error)) from None

    return asyncio.run(looked())


def who_and_where() -> str:
    """The user and the machine, such as ``ci@runner-7``."""
    try:
        user = getpass.getuser()
    except (OSError, KeyError):  # a user id without a name, as in many containers
        user = "somebody"
    return f"{user}@{socket.gethostname()}"


def say_no_bots() -> None:
    """Tell whoever reads stderr."""
    print(f"sayso: {START_BOTS}", file=sys.stderr)


def unattended(store: StoreSettings) -> str:
    """Why nobody could see a question by now; empty where bots run.

    Raises:
        ConfigError: it is no address of a store.
    """

    async def desks() -> int:
        async with asyncio.timeout(_LOOK_SECONDS), open_store(store.url) as backend:
            return await backend.outbox.count_workers()

    try:
        return "" if asyncio.run(desks()) else START_BOTS
    except StoreUnreachableError as error:
        return store.explain_unreachable(error)
    except TimeoutError:
        return f"{store.name}: no answer within {_LOOK_SECONDS:g} s"
