"""For tests of implementations of the ports: their contracts, and builders. Needs pytest."""

# ruff: noqa: E402  the contracts' assertions are explained only if pytest knows of them first
import pytest

for _name in ("bus", "cards", "store", "watch", "work"):
    pytest.register_assert_rewrite(f"assent.testing.{_name}_contract")

from assent.testing.builders import a_copy, a_request, a_response, a_rule, soon, until
from assent.testing.bus_contract import BusContract
from assent.testing.cards_contract import CopiesContract, RulesContract
from assent.testing.store_contract import StoreContract
from assent.testing.watch_contract import WatchContract
from assent.testing.work_contract import LeasesContract, OutboxContract

__all__ = [
    "BusContract",
    "CopiesContract",
    "LeasesContract",
    "OutboxContract",
    "RulesContract",
    "StoreContract",
    "WatchContract",
    "a_copy",
    "a_request",
    "a_response",
    "a_rule",
    "soon",
    "until",
]
