"""Telling whoever waits what happens to a question; best effort, and nothing hangs on it."""

from __future__ import annotations

from contextlib import suppress

from sayso.calls import RunRef
from sayso.chats.places import Press
from sayso.desk.routes import Route
from sayso.errors import SubscriptionLostError
from sayso.events import Event, UserInputRequest
from sayso.stores.notices import PressKind, PressNotice, RoutedNotice
from sayso.stores.ports import Bus
from sayso.stores.topics import notice_topic
from sayso.tasks import Background

# When so many are under way, the store is slow or somebody presses for fun: the rest is not told.
_MOST_AT_ONCE = 1_000


class Notices:
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
        if self._under_way < _MOST_AT_ONCE:
            self._under_way += 1
            self._background.start(self._publish(run, notice))

    async def _publish(self, run: RunRef, notice: Event) -> None:
        try:
            with suppress(SubscriptionLostError):
                await self._bus.publish(notice_topic(run), notice)
        finally:
            self._under_way -= 1
