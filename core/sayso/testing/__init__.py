"""For tests of implementations of the ports: their contracts, and builders. Needs pytest.

A file a contract, each a class of tests that an implementation inherits. The tests of Sayso itself
are not here, nor is anything that a program needs at work.
"""

# ruff: noqa: E402  the contracts' assertions are explained only if pytest knows of them first
from pathlib import Path

import pytest

for _contract in Path(__file__).parent.glob("*_contract.py"):
    pytest.register_assert_rewrite(f"{__name__}.{_contract.stem}")

from sayso.testing.adapter_contract import AdapterContract, AdapterStage, Shown
from sayso.testing.audit_contract import AuditContract
from sayso.testing.budgets_contract import BudgetsContract
from sayso.testing.builders import a_copy, a_request, a_response, a_rule, soon, until
from sayso.testing.bus_contract import BusContract
from sayso.testing.caller_contract import CallerContract, CallerStage, Said
from sayso.testing.copies_contract import CopiesContract
from sayso.testing.denial_contract import DenialContract
from sayso.testing.desks_contract import DesksContract, SeenContract
from sayso.testing.documents_contract import DocumentsContract
from sayso.testing.drafts_contract import DraftsContract
from sayso.testing.errands_contract import ErrandsContract
from sayso.testing.floor_contract import FloorContract
from sayso.testing.harness import (
    Filled,
    Prompt,
    Stage,
    StoppedClock,
    UnscriptedPromptError,
    play,
)
from sayso.testing.keyed_contract import KeyedContract
from sayso.testing.leases_contract import LeasesContract
from sayso.testing.limits_contract import OpenLimitsContract
from sayso.testing.log_contract import BranchLogContract
from sayso.testing.outbox_contract import OutboxContract
from sayso.testing.overruling_contract import OverrulingContract
from sayso.testing.platform_contract import PlatformContract
from sayso.testing.press_recorder import PressRecorder
from sayso.testing.projects_contract import ProjectsContract, RevokedContract
from sayso.testing.roster_contract import RosterContract
from sayso.testing.rules_contract import RulesContract
from sayso.testing.settling_contract import SettlingContract
from sayso.testing.state_contract import StateContract
from sayso.testing.store_contract import StoreContract
from sayso.testing.together_contract import TogetherContract
from sayso.testing.uses_contract import UsesContract
from sayso.testing.watch_contract import WatchContract

__all__ = [
    "AdapterContract",
    "AdapterStage",
    "AuditContract",
    "BranchLogContract",
    "BudgetsContract",
    "BusContract",
    "CallerContract",
    "CallerStage",
    "CopiesContract",
    "DenialContract",
    "DesksContract",
    "DocumentsContract",
    "DraftsContract",
    "ErrandsContract",
    "Filled",
    "FloorContract",
    "KeyedContract",
    "LeasesContract",
    "OpenLimitsContract",
    "OutboxContract",
    "OverrulingContract",
    "PlatformContract",
    "PressRecorder",
    "ProjectsContract",
    "Prompt",
    "RevokedContract",
    "RosterContract",
    "RulesContract",
    "Said",
    "SeenContract",
    "SettlingContract",
    "Shown",
    "Stage",
    "StateContract",
    "StoppedClock",
    "StoreContract",
    "TogetherContract",
    "UnscriptedPromptError",
    "UsesContract",
    "WatchContract",
    "a_copy",
    "a_request",
    "a_response",
    "a_rule",
    "play",
    "soon",
    "until",
]
