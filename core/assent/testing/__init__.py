"""What tests of Assent are made of: builders, contracts of the ports, a real server."""

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
