"""Calls that are denied in advance, by their ids, each with a reason where somebody gave one."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TypeAlias

from sayso.errors import ConfigError
from sayso.policy.decision import Decision

CallIds: TypeAlias = Collection[str] | Mapping[str, str]
"""Ids of calls; a mapping says why each of them is denied."""

LINE = "denied call id"


def reasons_by_id(call_ids: CallIds) -> dict[str, str]:
    """The ids with their reasons, empty where there is none.

    Raises:
        ConfigError: it is a single string, or something in it is not one.
    """
    if isinstance(call_ids, str):
        raise ConfigError("denied_call_ids must be a list of ids, not a single string")
    reasons = dict(call_ids) if isinstance(call_ids, Mapping) else dict.fromkeys(call_ids, "")
    if not all(isinstance(one, str) for pair in reasons.items() for one in pair):
        raise ConfigError("denied_call_ids must be strings, and so must their reasons")
    return reasons


def denial_of(call_id: str, denied: Mapping[str, str]) -> Decision | None:
    """The denial of the call with this id; None where it is not among those denied."""
    if (reason := denied.get(call_id)) is None:
        return None
    return Decision.DENY.because(reason or "this call was denied in advance", line=LINE)
