"""Stores made of cells for tests: their servers, and sessions that live where a test wants them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count

from support.valkey_server import Valkey

from sayso import RunRef
from sayso.questions.permission import PermissionRequestEvent
from sayso.rules.rule import RememberedRule
from sayso.stores.addresses import read_cells, written
from sayso.stores.backend import Backend
from sayso.stores.cells.backend import CellsBackend
from sayso.testing import a_request, a_response

AGENT = "deploy-bot"


@dataclass(frozen=True)
class Servers:
    """Several servers that keep what is written, a cell on each."""

    servers: Sequence[Valkey]

    @property
    def address(self) -> str:
        """The address of the store that they make."""
        return " ".join(
            written(f"{server.url}?socket_timeout=1", f"0{number}")
            for number, server in enumerate(self.servers)
        )

    @property
    def swapped(self) -> str:
        """The address of two cells that have changed places."""
        cells = read_cells(self.address)
        others = reversed(cells)
        return " ".join(
            written(one.url, other.name) for one, other in zip(cells, others, strict=True)
        )

    def kill(self, number: int) -> None:
        """End one at once, as a crash does."""
        self.servers[number].kill()

    async def start(self, number: int) -> None:
        """Start it again, with its data."""
        await asyncio.to_thread(self.servers[number].start)


@contextmanager
def servers(number: int = 2) -> Iterator[Servers]:
    """So many servers, all started."""
    made = [Valkey(appendonly="yes", appendfsync="always") for _ in range(number)]
    try:
        for server in made:
            server.start()
        yield Servers(made)
    finally:
        for server in made:
            server.close()


def in_cell(backend: Backend, cell: str, *, project: str = "", after: int = 0) -> RunRef:
    """A run whose session lives in this cell."""
    assert isinstance(backend, CellsBackend)
    for number in count(after):
        run = RunRef(AGENT, f"session-{number}", project=project)
        if backend.made_of.name_of(run) == cell:
            return run
    raise AssertionError


async def asked_in(backend: Backend, cell: str) -> PermissionRequestEvent:
    """A request that is open in this cell."""
    request = a_request(run=in_cell(backend, cell))
    await backend.store.open(request, seconds=30, inbox="", book=None)
    return request


async def remember_in(backend: Backend, run: RunRef, rule: RememberedRule) -> None:
    """Store a rule, by an answer to a request of this run."""
    request = a_request(run=run)
    await backend.store.open(request, seconds=30, inbox="", book=None)
    answer = a_response(request, approved=rule.effect == "allow")
    settled = await backend.store.settle(request.question_id, answer, remember=rule)
    assert settled.first
