"""A store made of cells keeps every promise of the ports, as one store does."""

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


class TestCellsStore(StoreContract):
    pass


class TestCellsSettling(SettlingContract):
    pass


class TestCellsDenials(DenialContract):
    pass


class TestCellsOverruling(OverrulingContract):
    pass


class TestCellsKeyed(KeyedContract):
    pass


class TestCellsWatch(WatchContract):
    pass


class TestCellsCopies(CopiesContract):
    pass


class TestCellsRules(RulesContract):
    pass


class TestCellsFloors(FloorContract):
    pass


class TestCellsState(StateContract):
    pass


class TestCellsAudit(AuditContract):
    pass


class TestCellsBus(BusContract):
    pass


class TestCellsDesks(DesksContract):
    pass


class TestCellsOutbox(OutboxContract):
    pass


class TestCellsRoster(RosterContract):
    pass


class TestCellsLeases(LeasesContract):
    pass


class TestCellsBudgets(BudgetsContract):
    pass


class TestCellsDrafts(DraftsContract):
    pass


class TestCellsBranchLog(BranchLogContract):
    pass


class TestCellsDocuments(DocumentsContract):
    pass


class TestCellsErrands(ErrandsContract):
    pass


class TestCellsUses(UsesContract):
    pass


class TestCellsProjects(ProjectsContract):
    pass


class TestCellsRevoked(RevokedContract):
    pass


class TestCellsTogether(TogetherContract):
    pass
