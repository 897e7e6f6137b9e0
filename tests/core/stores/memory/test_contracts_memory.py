"""The memory backend keeps every promise of the ports."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend
from sayso.testing import (
    AuditContract,
    BranchLogContract,
    BudgetsContract,
    BusContract,
    CopiesContract,
    DenialContract,
    DesksContract,
    DocumentsContract,
    DraftsContract,
    ErrandsContract,
    FloorContract,
    KeyedContract,
    LeasesContract,
    OpenLimitsContract,
    OutboxContract,
    OverrulingContract,
    ProjectsContract,
    RevokedContract,
    RosterContract,
    RulesContract,
    SettlingContract,
    StateContract,
    StoreContract,
    TogetherContract,
    UsesContract,
    WatchContract,
)


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


class TestMemoryDesks(DesksContract):
    pass


class TestMemoryOutbox(OutboxContract):
    pass


class TestMemoryRoster(RosterContract):
    pass


class TestMemoryOpenLimits(OpenLimitsContract):
    """See the contract."""


class TestMemoryLeases(LeasesContract):
    pass


class TestMemoryBudgets(BudgetsContract):
    pass


class TestMemoryDrafts(DraftsContract):
    pass


class TestMemoryBranchLog(BranchLogContract):
    pass


class TestMemoryDocuments(DocumentsContract):
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
