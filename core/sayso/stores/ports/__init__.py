"""What the core needs from outside: small promises, checked by contract tests.

One file for each idea; whoever implements or uses a port imports it from here. How a promise is
kept is the business of ``memory`` and ``redis``.
"""

from sayso.stores.ports.branch_log import BranchLog
from sayso.stores.ports.bus import Bus, Ring
from sayso.stores.ports.checkup import Ailment, Checkup
from sayso.stores.ports.copies import KEPT, Copies, Copy, Found, Marked
from sayso.stores.ports.errands import Due, Errands
from sayso.stores.ports.floors import Floors
from sayso.stores.ports.keyed import LONGEST_KEY, Hold, Keyed, check_key
from sayso.stores.ports.outbox import Job, Outbox
from sayso.stores.ports.requests import (
    MOST_ASKED_LAST,
    Joined,
    Opened,
    Record,
    Settled,
    Store,
    Watch,
)
from sayso.stores.ports.roster import NO_LIMITS, OpenLimits, Roster
from sayso.stores.ports.rules import (
    Audit,
    BookChanged,
    KeptRule,
    Revoked,
    Rules,
)
from sayso.stores.ports.uses import Report, Use, Uses, Went

__all__ = [
    "KEPT",
    "LONGEST_KEY",
    "MOST_ASKED_LAST",
    "NO_LIMITS",
    "Ailment",
    "Audit",
    "BookChanged",
    "BranchLog",
    "Bus",
    "Checkup",
    "Copies",
    "Copy",
    "Due",
    "Errands",
    "Floors",
    "Found",
    "Hold",
    "Job",
    "Joined",
    "KeptRule",
    "Keyed",
    "Marked",
    "OpenLimits",
    "Opened",
    "Outbox",
    "Record",
    "Report",
    "Revoked",
    "Ring",
    "Roster",
    "Rules",
    "Settled",
    "Store",
    "Use",
    "Uses",
    "Watch",
    "Went",
    "check_key",
]
