"""Retention: the audit's decisions go when their time is over."""

from __future__ import annotations

import logging
from datetime import timedelta

from sayso.desk.timer import Timer
from sayso.errors import StoreUnreachableError
from sayso.seldom import Seldom
from sayso.stores.ports import Audit

_log = logging.getLogger(__name__)

_SECONDS = 3_600.0


async def trim_audit(audit: Audit, keep: timedelta, timer: Timer) -> None:
    """Drop what the audit has had for longer than this, every hour until cancelled."""
    waits = Seldom(_log)
    while True:
        try:
            await audit.trim(keep)
        except StoreUnreachableError as error:
            waits.say(f"the audit is not trimmed yet: {error}")
        await timer.sleep(_SECONDS)
