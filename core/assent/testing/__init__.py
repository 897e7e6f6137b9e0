"""For tests of implementations of the ports: their contracts, and builders. Needs pytest."""

# ruff: noqa: E402  the contracts' assertions are explained only if pytest knows of them first
import pytest

for _name in ("bus", "cards", "settling", "store", "watch", "work"):
    pytest.register_assert_rewrite(f"assent.testing.{_name}_contract")

from assent.testing.builders import a_copy, a_request, a_response, a_rule, soon, until
from assent.testing.bus_contract import BusContract
from assent.testing.cards_contract import CopiesContract
from assent.testing.harness import (
    Prompt,
    Stage,
    StoppedClock,
    UnscriptedPromptError,
    play,
)
from assent.testing.rules_contract import AuditContract, RulesContract
from assent.testing.settling_contract import SettlingContract
from assent.testing.store_contract import StoreContract
from assent.testing.watch_contract import WatchContract
from assent.testing.work_contract import LeasesContract, OutboxContract

__all__ = [
    "AuditContract",
    "BusContract",
    "CopiesContract",
    "LeasesContract",
    "OutboxContract",
    "Prompt",
    "RulesContract",
    "SettlingContract",
    "Stage",
    "StoppedClock",
    "StoreContract",
    "UnscriptedPromptError",
    "WatchContract",
    "a_copy",
    "a_request",
    "a_response",
    "a_rule",
    "play",
    "soon",
    "until",
]
