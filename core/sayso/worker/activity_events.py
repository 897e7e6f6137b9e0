"""Activity events: published to observers and audited in the background, best effort."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress

from sayso.calls import RunRef
from sayso.chats.places import Press
from sayso.errors import StoreUnreachableError, SubscriptionLostError
from sayso.events import Event, UserInputRequest
from sayso.stores.audit import RefusalKind
from sayso.stores.notices import PressKind, PressNotice, RoutedNotice
from sayso.stores.protocols import Audit, Bus
from sayso.stores.topics import notice_topic
from sayso.tasks import Background
from sayso.worker.request_log import log_refused
from sayso.worker.routing import Route

_log = logging.getLogger(__name__)

# When so many are under way, the store is slow or somebody presses for fun: the rest is not told.
_MAX_PUBLISHING = 1_000


class ActivityEvents:
    """Publishes notices beside the work of a desk, a limited number at a time."""

    def __init__(self, bus: Bus, background: Background) -> None:
        self._bus = bus
        self._background = background
        self._under_way = 0

    def routed(self, request: UserInputRequest, route: Route) -> None:
        """The request goes this way."""
        notice = RoutedNotice(
            question_id=request.question_id,
            places=tuple(map(str, route.to)),
            approvers=route.approvers,
        )
        self._tell(request.run, notice)

    def pressed(self, request: UserInputRequest, press: Press, kind: PressKind) -> None:
        """The request was pressed on and stays open."""
        notice = PressNotice(
            question_id=request.question_id,
            kind=kind,
            actor=press.actor,
            place=str(press.message.place),
            choice=press.choice,
        )
        self._tell(request.run, notice)

    def _tell(self, run: RunRef, notice: Event) -> None:
        if self._under_way < _MAX_PUBLISHING:
            self._under_way += 1
            self._background.start(self._publish(run, notice))

    async def _publish(self, run: RunRef, notice: Event) -> None:
        try:
            with suppress(SubscriptionLostError):
                await self._bus.publish(notice_topic(run), notice)
        finally:
            self._under_way -= 1


# When so many are under way, the store is slow or somebody presses for fun: the rest is not noted.
_MAX_WRITING = 100
# What the store has noted once it is not asked to note again, however often somebody presses.
_REMEMBERED = 4_096
# Whoever waits is told of these: the others say nothing about who may answer.
_TOLD: Mapping[RefusalKind, PressKind] = {
    "not_approver": "refused",
    "own_request": "own_request",
}


class RejectedInteractions:
    """Notes who was refused what, and why. Nobody waits for it, and nothing hangs on it."""

    def __init__(
        self, audit: Audit, background: Background, notices: ActivityEvents | None
    ) -> None:
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
        if key in self._noted or self._under_way >= _MAX_WRITING:
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
