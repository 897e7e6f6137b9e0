"""The Redis backend keeps every promise of the ports."""

from __future__ import annotations

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
    SeenContract,
    SettlingContract,
    StateContract,
    StoreContract,
    TogetherContract,
    UsesContract,
    WatchContract,
)


class TestRedisStore(StoreContract):
    pass


class TestRedisSettling(SettlingContract):
    pass


class TestRedisDenials(DenialContract):
    pass


class TestRedisOverruling(OverrulingContract):
    pass


class TestRedisKeyed(KeyedContract):
    pass


class TestRedisWatch(WatchContract):
    pass


class TestRedisCopies(CopiesContract):
    pass


class TestRedisRules(RulesContract):
    pass


class TestRedisFloors(FloorContract):
    pass


class TestRedisState(StateContract):
    pass


class TestRedisAudit(AuditContract):
    pass


class TestRedisBus(BusContract):
    pass


class TestRedisOutbox(OutboxContract):
    pass


class TestRedisDesks(DesksContract, SeenContract):
    pass


class TestRedisRoster(RosterContract):
    pass


class TestRedisOpenLimits(OpenLimitsContract):
    """See the contract."""


class TestRedisLeases(LeasesContract):
    pass


class TestRedisBudgets(BudgetsContract):
    pass


class TestRedisDrafts(DraftsContract):
    pass


class TestRedisBranchLog(BranchLogContract):
    pass


class TestRedisDocuments(DocumentsContract):
    pass


class TestRedisErrands(ErrandsContract):
    pass


class TestRedisUses(UsesContract):
    pass


class TestRedisProjects(ProjectsContract):
    pass


class TestRedisRevoked(RevokedContract):
    pass


class TestRedisTogether(TogetherContract):
    pass
