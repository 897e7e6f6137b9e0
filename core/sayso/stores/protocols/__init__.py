"""Protocols that every store implements, one file each, with the types that they exchange.

How a promise is kept is the business of ``memory`` and ``redis``; contracts are tests.
"""

from sayso.stores.protocols.card_messages import (
    KEPT,
    Copies,
    Copy,
    Found,
    Marked,
    Report,
    Use,
    Went,
)
from sayso.stores.protocols.event_log import Audit, BranchLog, Bus, Ring
from sayso.stores.protocols.key_value import (
    KEY_KINDS,
    KeyValueStore,
    check_entry,
    check_key_kind,
)
from sayso.stores.protocols.outbox import NO_LIMITS, Due, Job, OpenLimits, Outbox
from sayso.stores.protocols.request_store import (
    LONGEST_KEY,
    MOST_ASKED_LAST,
    Hold,
    Joined,
    Opened,
    Record,
    RequestStore,
    Settled,
    check_key,
)
from sayso.stores.protocols.rule_store import BookChanged, KeptRule, Revoked, RuleStore

__all__ = [
    "KEPT",
    "KEY_KINDS",
    "LONGEST_KEY",
    "MOST_ASKED_LAST",
    "NO_LIMITS",
    "Audit",
    "BookChanged",
    "BranchLog",
    "Bus",
    "Copies",
    "Copy",
    "Due",
    "Found",
    "Hold",
    "Job",
    "Joined",
    "KeptRule",
    "KeyValueStore",
    "Marked",
    "OpenLimits",
    "Opened",
    "Outbox",
    "Record",
    "Report",
    "RequestStore",
    "Revoked",
    "Ring",
    "RuleStore",
    "Settled",
    "Use",
    "Went",
    "check_entry",
    "check_key",
    "check_key_kind",
]
