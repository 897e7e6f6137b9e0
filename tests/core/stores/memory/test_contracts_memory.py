"""The memory backend keeps every promise of the ports."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from store_contracts.audit import AuditContract
from store_contracts.bus import BusContract
from store_contracts.copies import CopiesContract
from store_contracts.denial import DenialContract
from store_contracts.errands import ErrandsContract
from store_contracts.floor import FloorContract
from store_contracts.key_value import KeyValueContract, RateContract
from store_contracts.keyed import KeyedContract
from store_contracts.limits import OpenLimitsContract
from store_contracts.log import BranchLogContract
from store_contracts.outbox import OutboxContract
from store_contracts.overruling import OverrulingContract
from store_contracts.projects import ProjectsContract, RevokedContract
from store_contracts.roster import RosterContract
from store_contracts.rules import RulesContract
from store_contracts.settling import SettlingContract
from store_contracts.state import StateContract
from store_contracts.store import StoreContract
from store_contracts.together import TogetherContract
from store_contracts.uses import UsesContract
from store_contracts.watch import WatchContract

from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend


@pytest.fixture
async def backend() -> AsyncIterator[Backend]:
    async with memory_backend() as opened:
        yield opened


class TestMemoryStore(StoreContract):
    pass


class TestMemorySettling(SettlingContract):
    pass


class TestMemoryDenials(DenialContract):
    pass


class TestMemoryOverruling(OverrulingContract):
    pass


class TestMemoryKeyed(KeyedContract):
    pass


class TestMemoryWatch(WatchContract):
    pass


class TestMemoryCopies(CopiesContract):
    pass


class TestMemoryRules(RulesContract):
    pass


class TestMemoryFloors(FloorContract):
    pass


class TestMemoryState(StateContract):
    pass


class TestMemoryAudit(AuditContract):
    pass


class TestMemoryBus(BusContract):
    pass


class TestMemoryOutbox(OutboxContract):
    pass


class TestMemoryRoster(RosterContract):
    pass


class TestMemoryOpenLimits(OpenLimitsContract):
    """See the contract."""


class TestMemoryBranchLog(BranchLogContract):
    pass


class TestMemoryErrands(ErrandsContract):
    pass


class TestMemoryUses(UsesContract):
    pass


class TestMemoryProjects(ProjectsContract):
    pass


class TestMemoryRevoked(RevokedContract):
    pass


class TestMemoryTogether(TogetherContract):
    pass


class TestMemoryKeyValue(KeyValueContract):
    pass


class TestMemoryRates(RateContract):
    pass
