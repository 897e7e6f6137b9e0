"""Routes: the places of a request and its approvers, and the deadline that a route sets."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from sayso.actors import is_actor
from sayso.calling.manners import Calling, Reach
from sayso.chats.places import Place
from sayso.errors import StoreUnreachableError
from sayso.events import UserInputRequest
from sayso.seldom import Seldom
from sayso.stores.protocols import Record, RequestStore

_log = logging.getLogger(__name__)

ENGLISH = "en"


@dataclass(frozen=True, slots=True)
class Route:
    """Requests of some agents about some tools: where they go and who may answer.

    ``agent`` and ``tool`` are shell patterns. ``approvers`` are names of
    people, actors (``chat:bob``) or groups (``chat:@oncall``); without
    any, nobody may answer. Whoever asked may not approve it unless the route
    has ``self_approval``. ``seconds`` shortens the life of a request. ``calling`` is how those
    who may answer hear of it. ``language`` is what its cards are in, the default where it is
    empty; ``languages`` are those of single places.
    """

    to: tuple[Place, ...]
    approvers: tuple[str, ...] = ()
    agent: str = "*"
    tool: str = "*"
    seconds: float | None = None
    self_approval: bool = False
    calling: Calling = field(default_factory=Calling)
    language: str = ""
    languages: tuple[tuple[Place, str], ...] = ()

    def matches(self, agent_id: str, subject: str) -> bool:
        """Return True if what an agent asks of a subject goes this way."""
        return fnmatchcase(agent_id, self.agent) and fnmatchcase(subject, self.tool)

    def language_in(self, place: Place) -> str:
        """What its cards in a place are in; empty for the default.

        A place that it does not name is one of its own that has moved.
        """
        if not self.languages:
            return self.language
        own = dict(self.languages)
        if place in self.to:
            return own.get(place, self.language)
        there = {own.get(one, self.language) for one in self.to if one.platform == place.platform}
        return there.pop() if len(there) == 1 else self.language


@dataclass(frozen=True, slots=True)
class Routes:
    """All routes, the first that matches first, and the accounts of people by their names.

    ``is_account`` says whether the platform of an actor could have such an account.
    ``reach`` is when people can be called, by their names. ``language`` is what is said where
    no route says another.
    """

    routes: Sequence[Route]
    people: Mapping[str, frozenset[str]] = field(default_factory=dict)
    is_account: Callable[[str], bool] = is_actor
    reach: Mapping[str, Reach] = field(default_factory=dict)
    language: str = ENGLISH

    def find(self, request: UserInputRequest) -> Route | None:
        """The route of a request, None where no route matches."""
        return self.of(request.run.agent_id, request.subject)

    def of(self, agent_id: str, subject: str) -> Route | None:
        """The route of what an agent asks of a subject, None where no route matches."""
        return next((route for route in self.routes if route.matches(agent_id, subject)), None)

    @property
    def languages(self) -> frozenset[str]:
        """All languages that something may be said in."""
        of_routes = (
            {route.language, *(language for _, language in route.languages)}
            for route in self.routes
        )
        return frozenset({self.language}).union(*of_routes) - {""}

    def language_of(self, request: UserInputRequest, place: Place) -> str:
        """What the card of a request is in, in a place."""
        route = self.find(request)
        return (route.language_in(place) if route is not None else "") or self.language

    def language_at(self, place: Place, actor: str = "") -> str:
        """What is said in a place that is about no card.

        It is what all cards there are in, or else, where none are, all those that the actor
        may answer by name or by account.
        """
        ways = [(route, to) for route in self.routes for to in route.to]
        chat = place.platform, place.address
        there = (
            [one for one in ways if one[1] == place]
            or [one for one in ways if (one[1].platform, one[1].address) == chat]
            or [one for one in ways if actor in self.actors(one[0])]
        )
        said = {route.language_in(to) or self.language for route, to in there}
        return said.pop() if len(said) == 1 else self.language

    def name(self, actor: str) -> str:
        """The name of the person whose account this is, empty where it is not known."""
        return next((name for name, actors in self.people.items() if actor in actors), "")

    def actors(self, route: Route) -> frozenset[str]:
        """The actors who may answer by name or by account; groups are looked up elsewhere."""
        named = (self.people.get(approver, {approver}) for approver in route.approvers)
        return frozenset().union(*named)

    def reach_of(self, actor: str) -> Reach:
        """When whoever has the account can be called; always, where nothing is said of them."""
        return self.reach.get(self.name(actor), Reach())

    def asked_by(self, actor: str, request: UserInputRequest) -> bool:
        """Return True if the actor asked for it, with this or another account of the same person.

        A person may also be named by their name here, and case makes no difference.
        What is plainly neither a person nor an account may be anybody, so also the actor.
        """
        if not request.askers:
            return False
        who = self._same_as(actor)
        return any(
            not self._is_known(asker) or not who.isdisjoint(self._same_as(asker))
            for asker in request.askers
        )

    def _is_known(self, asker: str) -> bool:
        if is_actor(asker):
            return self.is_account(asker)
        return asker.casefold() in map(str.casefold, self.people)

    def _same_as(self, actor: str) -> frozenset[str]:
        """All names and accounts of the person whose name or account this is, itself included."""
        wanted = actor.casefold()
        people = (
            frozenset(map(str.casefold, (name, *accounts)))
            for name, accounts in self.people.items()
        )
        return frozenset({wanted}).union(*(person for person in people if wanted in person))

    def groups(self) -> frozenset[str]:
        """The groups named as approvers on any route, such as ``chat:@oncall``."""
        return frozenset(
            approver for route in self.routes for approver in route.approvers if is_group(approver)
        )


def is_group(approver: str) -> bool:
    """Return True if an approver is a group of a platform and not one actor."""
    return approver.partition(":")[2].startswith("@")


_SWEEP_SECONDS = 1.0
_SHORTEST_SECONDS = 0.05
# An undeliverable request ends this long before it would expire, or a tenth of its time.
_MARGIN_SECONDS = 1.0


class Deadlines:
    """Keeps the times of requests by the store's clock, not by the desk's."""

    def __init__(self, watch: RequestStore) -> None:
        self._watch = watch
        self._waits = Seldom(_log)

    async def shortened(self, record: Record, seconds: float | None) -> Record:
        """The request with at most so many seconds left from now on; None leaves it as it is.

        Raises:
            StoreUnreachableError: it was not shortened.
            RequestNotFoundError: no such request.
        """
        if seconds is None or record.seconds_left <= seconds:
            return record
        expires_at = await self._watch.shorten_deadline(record.request.question_id, seconds)
        request = record.request.model_copy(update={"expires_at": expires_at})
        return replace(record, request=request, seconds_left=seconds)

    async def sweep(self) -> None:
        """End requests whose time is over, until cancelled."""
        while True:
            seconds = None
            try:
                seconds = await self._watch.expire_due()
            except StoreUnreachableError as error:
                self._waits.say(f"expired requests are not ended yet: {error}")
            except Exception:
                _log.exception("expired requests are not ended yet")
            await asyncio.sleep(
                min(max(seconds or _SWEEP_SECONDS, _SHORTEST_SECONDS), _SWEEP_SECONDS)
            )


def shown_until(record: Record) -> float:
    """Until when of the event loop showing the request is tried: a little before it expires."""
    left = record.seconds_left
    return asyncio.get_running_loop().time() + left - min(_MARGIN_SECONDS, left / 10)
