"""Bots with the hosted API and the provider of the approval protocol, on a store of two cells."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import count

import aiohttp
from support.aap_world import PROVISIONER, SECRET, AapWorld, with_instance
from support.api_world import API, ROUTE, TOKENS, World
from support.cells import in_cell
from support.commands import deliver_to, env_of

from sayso import RunRef
from sayso.stores.backend import Backend
from sayso.stores.cells.backend import CellsBackend
from sayso.stores.connect import open_store
from sayso_bots.server.server import serving
from sayso_bots.settings.settings import settings_of
from sayso_bots.settings.source import source_of
from sayso_bots.settings.tokens import token_hash
from sayso_playground import Playground

CELLS = ("00", "01")
_AAP = f"""
[aap]
per_second = 2000
requests_per_second = 1000
provisioner_per_second = 1000

[[aap.provisioner]]
name = "fleet"
sha256 = "{token_hash(PROVISIONER)}"
"""


@dataclass(frozen=True)
class Doors:
    """All that is served of one store, and a store of the tests' own beside it."""

    playground: Playground
    theirs: CellsBackend
    backend: CellsBackend
    world: World
    aap: AapWorld

    def session(self, cell: str) -> str:
        """A session of the tests' agent that lives in this cell."""
        return in_cell(self.backend, cell).session_id

    def api(self, cell: str) -> World:
        """A client of the hosted API whose session lives in this cell."""
        return replace(self.world, session_id=self.session(cell))

    def context(self, cell: str) -> Mapping[str, str]:
        """What an adapter claims of a conversation that lives in this cell."""
        agent, instance = self.aap.agent, self.aap.instance_id
        for number in count():
            run = RunRef(agent, f"aap:{instance}:thread-{number}")
            if self.backend.made_of.name_of(run) == cell:
                return {"session_id": f"thread-{number}"}
        raise AssertionError

    async def with_instance_in(self, cell: str) -> Doors:
        """The same, with an instance of which all documents are in this cell."""
        made = self.backend.made_of
        while True:
            aap = await with_instance(self.aap)
            names = (f"aap-instance:{aap.instance_id}", f"aap-instances:{aap.instance_id[:2]}")
            if {made.named(f"document {name}") for name in names} == {cell}:
                return replace(self, aap=aap)


@asynccontextmanager
async def doors_on(playground: Playground, address: str) -> AsyncIterator[Doors]:
    """Bots on this store while the block runs."""
    toml = f"{ROUTE}{API}{TOKENS}{_AAP}"
    env = env_of(playground, SAYSO_STORE_URL=address, SAYSO_AAP_SECRET=SECRET)
    async with (
        open_store(address) as theirs,
        open_store(address) as backend,
        aiohttp.ClientSession() as session,
        serving(settings_of(source_of(toml, env)), backend=theirs) as bots,
    ):
        deliver_to(playground, bots.url)
        world = World(bots.url, playground, session, backend, bots)
        aap = await with_instance(AapWorld(bots.url, playground, session, backend))
        yield Doors(playground, _cells(theirs), _cells(backend), world, aap)


def _cells(backend: Backend) -> CellsBackend:
    assert isinstance(backend, CellsBackend)
    return backend
