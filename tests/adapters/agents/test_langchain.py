"""LangChain's agents behind ``SaysoMiddleware``, while they run and put aside."""

from __future__ import annotations

from support.conformance import (
    AgainContract,
    DoorContract,
    KilledContract,
    OtherWayContract,
    SuspendedContract,
    SyncContract,
)
from support.langchain_doors import Inline, Suspended, TheirOwn


class TestLangChain(DoorContract, AgainContract, SyncContract, KilledContract):
    door = Inline()


class TestLangChainPutAside(OtherWayContract, AgainContract, SuspendedContract):
    door = Suspended()


class TestLangChainsOwnApprovals(OtherWayContract, SuspendedContract):
    door = TheirOwn()
