"""Posting cards: the intent is stored before a message is sent, its id until it is stored."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from sayso.calls import new_id
from sayso.cards.called import Call
from sayso.chats.adapter import Adapter
from sayso.chats.places import MessageRef, Place
from sayso.clock import Clock
from sayso.errors import (
    ChannelMigratedError,
    DeliveryError,
    RequestNotFoundError,
    StoreUnreachableError,
)
from sayso.seldom import Seldom
from sayso.stores.chat_moves import find_chat, note_chat_move
from sayso.stores.protocols import KEPT, Copies, Copy, Found, KeyValueStore, Marked, Record
from sayso.tasks import Background, outcomes, together
from sayso.worker.card_builder import CardBuilder
from sayso.worker.mentions import Mentions
from sayso.worker.poison_guard import PoisonGuard
from sayso.worker.request_log import log_posted
from sayso.worker.send_queue import Rank, SendQueue, ShutdownError, Timer
from sayso.worker.update_cards import CardUpdater

_log = logging.getLogger(__name__)

_NOTE_AGAIN_SECONDS = 0.5
# Whoever waited longer for its turn looks whether anybody still wants to see it.
_NEWS_SECONDS = 0.5
_STAYS_SECONDS = 60.0
_MOST_PLACES = 1_000


class CardPoster:
    """Posts messages, patiently, each place in its own lane.

    Platforms cannot be asked to post something once. So the handles are in
    the store before a message leaves, which makes its buttons work whatever
    happens; a number that a platform gave is noted until the store has it,
    and a message is posted again only when nobody knows of such a number.
    """

    def __init__(
        self,
        copies: Copies,
        key_value: KeyValueStore,
        adapters: Mapping[str, Adapter],
        maker: CardBuilder,
        lanes: SendQueue,
        delivery: CardUpdater,
        caution: PoisonGuard,
        callings: Mentions,
        *,
        background: Background,
        clock: Clock,
        keep: timedelta = KEPT,
        timer: Timer,
    ) -> None:
        self._copies = copies
        self._key_value = key_value
        self._adapters = adapters
        self._maker = maker
        self._lanes = lanes
        self._delivery = delivery
        self._caution = caution
        self._callings = callings
        self._background = background
        self._clock = clock
        self._keep = keep
        self._timer = timer
        self._waits = Seldom(_log)
        self._one_at_a_time = asyncio.Lock()
        self._stays: dict[tuple[str, str], float] = {}
        self._on_their_way: dict[str, set[asyncio.Task[str | Exception]]] = {}

    async def show(
        self, records: Sequence[Record], place: Place, untils: Sequence[float]
    ) -> list[str | BaseException]:
        """Show the requests in one place, on one message where it has room for them.

        For each of them: what prevented it, empty when it is shown, or the
        error it failed with. Each is tried until its time of the event loop in
        ``untils``. One that stands there already is left alone. Those that
        find no room beside the others, and all of them when the platform does
        not take the message, are shown one by one.

        Raises:
            ShutdownError: the desk stops before they are shown.
            PoisonedError: one of them took two desks down.
            StoreUnreachableError: the copies could not be noted.
        """
        place = await self._where(place)
        if place.platform not in self._adapters:
            return [f"{place.platform} is not configured" for _ in records]
        why_not = {
            number: f"{place.platform} cannot ask this: {reason}"
            for number, record in enumerate(records)
            if (reason := await self._unanswerable(record, place))
        }
        missing = [
            record
            for number, record in enumerate(records)
            if number not in why_not and not _stands(record, place)
        ]
        bundle = await self._shown_as_bundle(missing, place, min(untils))
        alone = {
            number
            for number, record in enumerate(records)
            if any(record is one for one in missing) and not any(record is one for one in bundle)
        }
        results = iter(
            await outcomes(
                self._post([records[number]], place, untils[number]) for number in sorted(alone)
            )
        )
        return [
            next(results) if number in alone else why_not.get(number, "")
            for number in range(len(records))
        ]

    async def _where(self, place: Place) -> Place:
        """Where the messages to a place go. That it has not moved is asked once a minute: whoever
        sends to a place that has moved since then is told by the platform, and follows.
        """
        chat, now = (place.platform, place.address), self._timer.now()
        if self._stays.get(chat, 0.0) > now:
            return place
        moved = await find_chat(self._key_value, place)
        if moved == place:
            self._stays[chat] = now + _STAYS_SECONDS
            if len(self._stays) > _MOST_PLACES:
                del self._stays[next(iter(self._stays))]
        return moved

    def moved(self, old: Place) -> None:
        """A place has a new address, as the store says: look there for the next message."""
        self._stays.pop((old.platform, old.address), None)

    async def arrived(self, question_id: str) -> None:
        """Return when no message with the request is on its way any more, and all are noted.

        Raises:
            ShutdownError: the desk stops before.
            StoreUnreachableError: one could not be brought up to date.
        """
        while sending := self._on_their_way.get(question_id):
            for result in await asyncio.gather(*sending):
                if isinstance(result, ShutdownError | StoreUnreachableError):
                    raise result

    async def _unanswerable(self, record: Record, place: Place) -> str:
        async with self._caution.about(record.request.question_id):
            await self._maker.prepare(place, record.request)
            return self._maker.unanswerable(place, record.request)

    async def _shown_as_bundle(
        self, records: Sequence[Record], place: Place, until: float
    ) -> Sequence[Record]:
        """Those of the requests that share a message now; none where there is no such message."""
        bundle = [
            record
            for record in records
            if self._maker.can_share(place, record.request, len(records))
        ]
        if len(bundle) < 2:
            return ()
        try:
            return () if await self._post(bundle, place, until) else bundle
        except (ShutdownError, StoreUnreachableError):
            raise
        except Exception:
            # What goes wrong with one of them must not take the others along.
            _log.exception("a message with several cards is not shown")
            return ()

    async def _post(self, records: Sequence[Record], place: Place, until: float) -> str:
        """Post a message with a card for each request; what prevented it, empty when it stands.

        What was sent by then is waited for elsewhere, see ``arrived``: it may stand all the same.
        """
        sending = self._background.start(self._sent(records, place, until))
        for record in records:
            self._keep_track(record.request.question_id, sending)
        await asyncio.wait({sending}, timeout=until - asyncio.get_running_loop().time() + 0.1)
        if not sending.done():
            return f"{place} did not answer in time"
        result = sending.result()
        if isinstance(result, Exception):
            raise result
        return result

    def _keep_track(self, question_id: str, sending: asyncio.Task[str | Exception]) -> None:
        tasks = self._on_their_way.setdefault(question_id, set())
        tasks.add(sending)

        def forget(task: asyncio.Task[str | Exception]) -> None:
            tasks.discard(task)
            if not tasks and self._on_their_way.get(question_id) is tasks:
                del self._on_their_way[question_id]

        sending.add_done_callback(forget)

    async def _sent(self, records: Sequence[Record], place: Place, until: float) -> str | Exception:
        """What ``_send`` says or raises: whoever started it may not wait for it any more."""
        try:
            return await self._send(records, place, until)
        except Exception as error:
            return error

    async def _send(self, records: Sequence[Record], place: Place, until: float) -> str:
        adapter = self._adapters[place.platform]
        calls = [await self._callings.call(record.request, place) for record in records]
        copies = await self._issued(records, place, calls)
        problem, agent = "", records[0].request.run.agent_id
        while True:
            place = copies[0].place
            budgets = adapter.limits.budgets(place, "show")
            asked_at = asyncio.get_running_loop().time()
            patience = asyncio.timeout_at(until)
            try:
                async with patience, self._lanes.turn(place, Rank.NEW, budgets, agent=agent):
                    # What is sent now may arrive: from here on its number is waited for.
                    patience.reschedule(None)
                    found = await self._now(records, copies, asked_at)
                    if all(one.ending is not None for one in found):
                        await self._drop(copies)
                        return ""
                    ref = await self._show(adapter, found, place)
            except TimeoutError:
                if not patience.expired():
                    raise
                await self._drop(copies)
                return problem or f"{place}: too many messages wait there"
            except ChannelMigratedError as moved:
                copies = await self._follow(copies, moved)
            except DeliveryError as error:
                problem = f"{place}: {error.reason}"
                _log.warning("a message is not shown yet: %s", error)
                if error.permanent:
                    return problem
                if error.retry_after is None:
                    # The platform may have posted it all the same: then both messages work.
                    copies = await self._issued(records, place, calls)
            else:
                await self._note_posted(records, copies, ref)
                return ""

    async def _now(
        self, records: Sequence[Record], copies: Sequence[Copy], asked_at: float
    ) -> list[Found]:
        """The requests as they are when their turn has come."""
        if asyncio.get_running_loop().time() - asked_at < _NEWS_SECONDS:
            return [
                Found(copy, record.request, None)
                for copy, record in zip(copies, records, strict=True)
            ]
        now = await together(self._copies.find(copy.handle) for copy in copies)
        found = []
        for one, copy, record in zip(now, copies, records, strict=True):
            if one is None:
                raise RequestNotFoundError(record.request.question_id)
            found.append(Found(copy, record.request, one.ending))
        return found

    async def _show(self, adapter: Adapter, found: Sequence[Found], place: Place) -> MessageRef:
        async with self._caution.about(found[0].copy.question_id):
            await self._maker.prepare(place, *(one.request for one in found))
            await self._turn()
            cards = [self._maker.card(one) for one in found]
            return await adapter.show(cards, place)

    async def _turn(self) -> None:
        """Return when it is this message's turn: the one before it leaves before it is made."""
        async with self._one_at_a_time:
            await asyncio.sleep(0)

    async def _issued(
        self, records: Sequence[Record], place: Place, calls: Sequence[Call]
    ) -> list[Copy]:
        """New copies of the requests for one message there, noted in the store."""
        handles = tuple(new_id() for _ in records)
        copies = [
            Copy(
                handle,
                record.request.question_id,
                place,
                bundle=handles if len(handles) > 1 else (),
                call=call,
            )
            for handle, record, call in zip(handles, records, calls, strict=True)
        ]
        await self._issue(copies)
        return copies

    async def _issue(self, copies: Sequence[Copy]) -> None:
        await together(self._copies.issue(copy, keep=self._keep) for copy in copies)

    async def _drop(self, copies: Sequence[Copy]) -> None:
        await together(map(self._copies.drop, copies))

    async def _follow(self, copies: Sequence[Copy], moved: ChannelMigratedError) -> list[Copy]:
        place = copies[0].place
        old = Place(place.platform, place.address)
        await note_chat_move(self._key_value, old, replace(old, address=moved.address))
        self.moved(old)
        followed = [replace(copy, place=replace(place, address=moved.address)) for copy in copies]
        await self._issue(followed)
        return followed

    async def _note_posted(
        self,
        records: Sequence[Record],
        copies: Sequence[Copy],
        ref: MessageRef,
    ) -> None:
        shown = [
            Found(copy.at(ref), record.request, None)
            for copy, record in zip(copies, records, strict=True)
        ]
        for one in shown:
            log_posted(one.request, one.copy.place)
        marked = await together(map(self._noted, shown))
        changed = None
        for one, now in zip(shown, marked, strict=True):
            if now != Marked():
                copy = replace(one.copy, closed_at=now.closed_at)
                changed = replace(one, copy=copy, ending=now.ending)
        if changed is not None:
            # It ended while it was on its way, or another message was quicker.
            await self._delivery.update(changed)

    async def _noted(self, found: Found) -> Marked:
        """Note the message until it is noted: nobody else knows its number."""
        while True:
            try:
                return await self._copies.mark(found.copy)
            except StoreUnreachableError as error:
                self._waits.say(f"a message that stands is not noted yet: {error}")
                await self._timer.sleep(_NOTE_AGAIN_SECONDS)
            except RequestNotFoundError as error:
                _log.error("a message stands for a request that is gone: %s", error)
                reason = "the store lost this request"
                return Marked(found.request.undeliverable(at=self._clock(), reason=reason))


def _stands(record: Record, place: Place) -> bool:
    return any(copy.stands and copy.target == place for copy in record.copies)
