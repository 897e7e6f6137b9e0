"""Refused presses: told to whoever waits, and noted in the audit, beside the work of a desk."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Mapping

from sayso.chats.places import Press
from sayso.desk.event_log import log_refused
from sayso.desk.notices import Notices
from sayso.errors import StoreUnreachableError
from sayso.events import UserInputRequest
from sayso.stores.audit import RefusalKind
from sayso.stores.notices import PressKind
from sayso.stores.ports import Audit
from sayso.tasks import Background

_log = logging.getLogger(__name__)

# When so many are under way, the store is slow or somebody presses for fun: the rest is not noted.
_MOST_AT_ONCE = 100
# What the store has noted once it is not asked to note again, however often somebody presses.
_REMEMBERED = 4_096
# Whoever waits is told of these: the others say nothing about who may answer.
_TOLD: Mapping[RefusalKind, PressKind] = {
    "not_approver": "refused",
    "own_request": "own_request",
}


class RefusedPresses:
    """Notes who was refused what, and why. Nobody waits for it, and nothing hangs on it."""

    def __init__(self, audit: Audit, background: Background, notices: Notices | None) -> None:
        self._audit = audit
        self._background = background
        self._notices = notices
        self._noted: OrderedDict[tuple[str, RefusalKind, str], None] = OrderedDict()
        self._under_way = 0

    def press(self, request: UserInputRequest, press: Press, why: RefusalKind) -> None:
        """A press on the request was refused."""
        if self._notices is not None and (kind := _TOLD.get(why)) is not None:
            self._notices.pressed(request, press, kind)
        self.note(request, why, by=press.actor, place=str(press.message.place), choice=press.choice)

    def note(
        self, request: UserInputRequest, why: RefusalKind, *, by: str, place: str, choice: str
    ) -> None:
        """Whoever it was by was refused this choice, made in this place."""
        key = (request.question_id, why, by)
        if key in self._noted or self._under_way >= _MOST_AT_ONCE:
            return
        self._noted[key] = None
        log_refused(request, why, by=by, place=place, choice=choice)
        if len(self._noted) > _REMEMBERED:
            self._noted.popitem(last=False)
        self._under_way += 1
        self._background.start(self._write(key, place, choice))

    async def _write(self, key: tuple[str, RefusalKind, str], place: str, choice: str) -> None:
        question_id, why, by = key
        try:
            await self._audit.refuse(question_id, why, by=by, place=place, choice=choice)
        except StoreUnreachableError as error:
            self._noted.pop(key, None)
            _log.warning("a refused press is not in the audit: %s", error)
        finally:
            self._under_way -= 1
