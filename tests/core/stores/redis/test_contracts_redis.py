"""The Redis backend keeps every promise of the ports."""

from __future__ import annotations

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


class TestRedisRoster(RosterContract):
    pass


class TestRedisOpenLimits(OpenLimitsContract):
    """See the contract."""


class TestRedisBranchLog(BranchLogContract):
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


class TestRedisKeyValue(KeyValueContract):
    pass


class TestRedisRates(RateContract):
    pass
