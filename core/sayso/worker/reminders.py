"""Reminding: open questions are told of again, once across all desks, and to people directly."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from sayso.cards.called import Called
from sayso.cards.card import NAME_LIMIT
from sayso.cards.gist import gist
from sayso.chats.adapter import Adapter
from sayso.chats.caller import Caller, Waiting
from sayso.chats.places import MessageRef, Place
from sayso.clock import Clock
from sayso.errors import DeliveryError, StoreUnreachableError
from sayso.events import UserInputRequest
from sayso.seldom import Seldom
from sayso.stores.backend import Backend
from sayso.stores.chat_moves import find_chat
from sayso.stores.protocols import Copy, Record
from sayso.text.secrets import redacted_text
from sayso.text.visible import shortened, visible
from sayso.worker.card_builder import CardBuilder
from sayso.worker.mentions import MOST_CALLED, Mentions, Whom
from sayso.worker.routing import Route, Routes
from sayso.worker.send_queue import Rank, SendQueue, ShutdownError

_log = logging.getLogger(__name__)

QUEUE = "calls"
"""The errands of calling people."""

MOST_TOLD = 10
"""So many questions are told of in one reminder."""

LOOK_SECONDS = 5.0
"""What comes due within this shares its messages."""

_MOST_AT_ONCE = 200
# A desk that dies over an errand leaves it to another one after this.
_HOLD_SECONDS = 60.0
_LINK_SECONDS = 2.0
_LONGEST_READ = 20_000


@dataclass(frozen=True, slots=True)
class _Errand:
    """One intention: to remind in a place of a question, or to write to a person about it."""

    kind: str
    where: str
    question_id: str
    number: int = 0

    @property
    def name(self) -> str:
        return json.dumps([self.kind, self.where, self.question_id, self.number])


def _read(name: str) -> _Errand | None:
    try:
        kind, where, question_id, number = json.loads(name)
    except ValueError:
        return None
    return _Errand(str(kind), str(where), str(question_id), int(number))


class Reminders:
    """Keeps intentions in the store, and carries them out when they are due.

    Each belongs to one question in one place, or for one person, and is gone when
    that has ended. At least once: a desk that dies between a message and its note leaves
    it to another desk.
    """

    def __init__(
        self,
        backend: Backend,
        routes: Routes,
        adapters: Mapping[str, Adapter],
        callers: Mapping[str, Caller],
        callings: Mentions,
        lanes: SendQueue,
        maker: CardBuilder,
        *,
        clock: Clock,
        pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._backend = backend
        self._routes = routes
        self._adapters = adapters
        self._callers = callers
        self._callings = callings
        self._lanes = lanes
        self._maker = maker
        self._clock = clock
        self._pause = pause
        self._waits = Seldom(_log)

    async def plan(self, request: UserInputRequest, route: Route) -> None:
        """Note what is to be done about a request that is shown; once more changes nothing.

        Raises:
            StoreUnreachableError: not all of it was noted.
        """
        for place in route.to:
            if place.platform in self._callers:
                await self._plan(request, route, place)

    async def _plan(self, request: UserInputRequest, route: Route, place: Place) -> None:
        manner = route.calling
        for number, seconds in enumerate(manner.remind):
            await self._put(_Errand("remind", str(place), request.question_id, number), seconds)
        if manner.notify == "none":
            return
        if not (manner.notify == "dm" or manner.quiet or self._routes.reach):
            return
        whom = await self._callings.whom(request, place)
        if whom.quiet_until is not None:
            # They hear of it in the morning, if it still waits then.
            seconds = (whom.quiet_until - self._clock()).total_seconds()
            await self._put(_Errand("wake", str(place), request.question_id), max(seconds, 0.0))
        elif manner.notify == "dm":
            for one in whom.people:
                await self._put(_Errand("dm", one.actor, request.question_id), 0.0)

    async def _put(self, errand: _Errand, seconds: float) -> None:
        await self._backend.outbox.schedule(QUEUE, errand.name, seconds=seconds)

    async def run(self) -> None:
        """Do what is due, until cancelled; nothing where no route ever calls again."""
        while self._is_wanted:
            try:
                await self.look()
            except StoreUnreachableError as error:
                self._waits.say(f"nobody is reminded for now: {error}")
            except ShutdownError:
                return
            except Exception:
                _log.exception("nobody was reminded")
            await self._pause(LOOK_SECONDS)

    @property
    def _is_wanted(self) -> bool:
        ways = [route.calling for route in self._routes.routes]
        calls = any(way.remind or way.notify == "dm" or way.quiet for way in ways)
        return bool(self._callers) and (
            calls or any(one.quiet for one in self._routes.reach.values())
        )

    async def look(self) -> None:
        """Do what is due now.

        Raises:
            ShutdownError: the desk stops; what was not done is due again.
            StoreUnreachableError: the store is away; likewise.
        """
        due = await self._backend.outbox.claim_scheduled(
            QUEUE, most=_MOST_AT_ONCE, hold=_HOLD_SECONDS
        )
        by_place: defaultdict[str, list[_Errand]] = defaultdict(list)
        by_actor: defaultdict[str, list[_Errand]] = defaultdict(list)
        for name in due.names:
            errand = _read(name)
            if errand is None:
                await self._backend.outbox.complete_scheduled(QUEUE, name)
            else:
                (by_actor if errand.kind == "dm" else by_place)[errand.where].append(errand)
        work = [self._in_place(Place.parse(where), some) for where, some in by_place.items()]
        work += [self._to_person(actor, some) for actor, some in by_actor.items()]
        for problem in await asyncio.gather(*work, return_exceptions=True):
            if isinstance(problem, ShutdownError | StoreUnreachableError):
                raise problem
            if isinstance(problem, BaseException):
                _log.error("somebody was not called", exc_info=problem)

    async def _in_place(self, place: Place, errands: Sequence[_Errand]) -> None:
        """Tell in one message of all questions that still wait there."""
        place = await find_chat(self._backend.key_value, place)
        caller = self._callers.get(place.platform)
        records = await self._open(errands) if caller is not None else {}
        called: dict[str, Called] = {}
        chosen: dict[str, tuple[Record, Copy]] = {}
        for errand in errands:
            record = records.get(errand.question_id)
            if record is None:
                await self._done(errand)
            elif copy := _standing(record, place):  # until it stands, the errand comes again
                whom = await self._callings.whom(record.request, place)
                if not await self._put_off(errand, record, whom):
                    chosen[errand.question_id] = record, copy
                    called |= {one.actor: one for one in whom.people}
        if caller is None or not chosen:
            return
        done = [errand for errand in errands if errand.question_id in chosen]
        people = tuple(called.values())[:MOST_CALLED]
        await self._send(place, done, lambda some: caller.remind(place, some, people), chosen)

    async def _put_off(self, errand: _Errand, record: Record, whom: Whom) -> bool:
        """Whether nothing is said there now: in quiet hours, or where people are written to."""
        wakes = errand.kind == "wake"
        if whom.quiet_until is not None:
            seconds = max((whom.quiet_until - self._clock()).total_seconds(), 1.0)
            await self._put(_Errand("wake", errand.where, errand.question_id), seconds)
        elif wakes and self._callings.manner(record.request).notify == "dm":
            for one in whom.people:
                await self._put(_Errand("dm", one.actor, errand.question_id), 0.0)
            await self._done(errand)
            return True
        else:
            return False
        if not wakes:
            await self._done(errand)
        return True

    async def _to_person(self, actor: str, errands: Sequence[_Errand]) -> None:
        """Tell one person in one message of all questions that still wait for them."""
        platform, _, account = actor.partition(":")
        caller, records = self._callers.get(platform), await self._open(errands)
        chosen: dict[str, tuple[Record, Copy]] = {}
        for errand in errands:
            record = records.get(errand.question_id)
            if caller is None or record is None:
                await self._done(errand)
                continue
            here = [one for one in record.copies if one.stands and one.place.platform == platform]
            if here:
                chosen[errand.question_id] = record, here[0]
        if caller is None or not chosen:
            return
        done = [errand for errand in errands if errand.question_id in chosen]
        await self._send(
            Place(platform, account), done, lambda some: caller.write(actor, some), chosen
        )

    async def _send(
        self,
        place: Place,
        errands: Sequence[_Errand],
        send: Callable[[Sequence[Waiting]], Awaitable[None]],
        chosen: Mapping[str, tuple[Record, Copy]],
    ) -> None:
        """Send one message about those that are open when its turn has come."""
        budgets = self._adapters[place.platform].limits.budgets(place, "show")
        try:
            links = await asyncio.gather(*(self._link(copy) for _, copy in chosen.values()))
            async with self._lanes.turn(place, Rank.REMINDER, budgets):
                still = await self._open(errands)
                waiting = [
                    await waiting_of(self._maker, record, copy.target, copy, link)
                    for (record, copy), link in zip(chosen.values(), links, strict=True)
                    if record.request.question_id in still
                ]
                waiting.sort(key=lambda one: one.expires_at)
                if waiting:
                    await send(waiting[:MOST_TOLD])
        except DeliveryError as error:
            _log.warning("somebody could not be called: %s", error)
            if not error.permanent:
                return  # it is due again
        for errand in errands:
            await self._done(errand)

    async def _open(self, errands: Sequence[_Errand]) -> Mapping[str, Record]:
        """Those of the questions that are open now."""
        ids = list(dict.fromkeys(errand.question_id for errand in errands))
        records = await asyncio.gather(*map(self._backend.store.get, ids))
        return {
            question_id: record
            for question_id, record in zip(ids, records, strict=True)
            if record is not None and record.ending is None
        }

    async def _link(self, copy: Copy) -> str:
        return await link_of(self._callers.get(copy.place.platform), copy)

    async def _done(self, errand: _Errand) -> None:
        await self._backend.outbox.complete_scheduled(QUEUE, errand.name)


async def link_of(caller: Caller | None, copy: Copy) -> str:
    """An address of the card, empty where the platform has none or does not say in time."""
    if caller is None or not copy.message_id:
        return ""
    try:
        async with asyncio.timeout(_LINK_SECONDS):
            return await caller.link(_card(copy))
    except (DeliveryError, TimeoutError):
        return ""


async def waiting_of(
    maker: CardBuilder, record: Record, place: Place, copy: Copy | None = None, link: str = ""
) -> Waiting:
    """The question in one line, as on its card in a place.

    What the agent wrote of it is visible and holds no secrets.
    """
    request = record.request
    body = await maker.body(request, place)
    return Waiting(
        title=line_of(request.subject) if body.tool else body.title,
        asker=line_of(request.asker),
        expires_at=request.expires_at,
        card=None if copy is None else _card(copy),
        link=link,
        language=maker.language(request, place),
        matters=gist(body),
    )


def _card(copy: Copy) -> MessageRef:
    return MessageRef(copy.place, copy.message_id)


def line_of(text: str) -> str:
    """An agent's words on one line: visible, without secrets, and not too long."""
    return visible(shortened(redacted_text(text[:_LONGEST_READ]), NAME_LIMIT), one_line=True)


def _standing(record: Record, place: Place) -> Copy | None:
    """The message that shows the question there, if one does."""
    there = [copy for copy in record.copies if copy.stands]
    return next((copy for copy in there if place in (copy.target, copy.place)), None)
