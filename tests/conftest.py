"""What all tests share: a real Redis server, and a namespace of it for each test."""

from __future__ import annotations

import gc
import logging
import os
import signal
from collections.abc import AsyncIterator, Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from support.examples import THOROUGH, examples
from support.valkey_server import Valkey

from sayso.calls import new_id
from sayso.stores.backend import Backend
from sayso.stores.connect import open_store

_OTHER_LOGGERS = ("sayso_bots", "sayso_slack", "sayso_telegram", "httpx", "httpcore")


# A shell that runs tests in the background makes them deaf to Ctrl-C, and so the processes that
# they start: those that are told to stop would not.
signal.signal(signal.SIGINT, signal.default_int_handler)

# A busy machine is slow, which says nothing about the code. A quick run makes up the same data
# every time, so that what it says hangs on the code alone; a thorough one makes up new data.
settings.register_profile(
    "ours", max_examples=examples(100), deadline=None, derandomize=not THOROUGH
)
settings.load_profile("ours")

_HERE = Path(__file__).parent
# What takes long in one piece comes first, or one process would do it while the others are done.
_FIRST = (
    *("e2e", "adapters/agents", "agents", "clients", "test_docs_site.py", "test_packaging.py"),
    *("bots", "bench", "playground"),
)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Two processes more than there are cores: many tests wait."""
    return min(6, (os.cpu_count() or 1) + 2)


def pytest_collection() -> None:
    """What is loaded now stays: there is no garbage in it, however often one looks."""
    gc.disable()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Garbage that tests leave is collected, without looking through all that was loaded."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A report of a failure is made without collecting garbage on the way.

    Python 3.11 reads its own source for a report. Garbage that complains meanwhile, such as a task
    nobody waited for, makes it read again inside of that, which it takes for an error of its own.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=_rank)


def _rank(item: pytest.Item) -> int:
    path = item.path.relative_to(_HERE)
    rooms = {"/".join(path.parts[:depth]) for depth in (1, 2)}
    return next((rank for rank, room in enumerate(_FIRST) if room in rooms), len(_FIRST))


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """A Redis server: the one at SAYSO_TEST_REDIS_URL, otherwise one of this session's own."""
    if url := os.environ.get("SAYSO_TEST_REDIS_URL"):
        yield url
        return
    server = Valkey()
    server.start()
    try:
        yield server.url
    finally:
        server.close()


@pytest.fixture
def store_url(redis_url: str) -> str:
    """The server's URL with a namespace that no other test uses."""
    separator = "&" if "?" in redis_url else "?"
    return f"{redis_url}{separator}namespace=test-{new_id()}"


@pytest.fixture(params=["memory", "redis"])
def store(request: pytest.FixtureRequest) -> str:
    """The URL of a store that nobody else uses: one in memory, then one in Redis."""
    if request.param == "memory":
        return "memory://"
    url: str = request.getfixturevalue("store_url")
    return url


@pytest.fixture
async def backend(store: str) -> AsyncIterator[Backend]:
    """Each kind of store, opened."""
    async with open_store(store) as opened:
        yield opened


@pytest.fixture(autouse=True)
def loggers_as_they_were() -> Iterator[None]:
    """Commands that run in this process set how much our loggers say: for that test only."""
    ours = [logging.getLogger(name) for name in ("", "sayso", *_OTHER_LOGGERS)]
    levels = [logger.level for logger in ours]
    yield
    for logger, level in zip(ours, levels, strict=True):
        logger.setLevel(level)
