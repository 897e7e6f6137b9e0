"""From a request to its card in one place, in every state and language."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from gettext import NullTranslations
from typing import TypeAlias

from sayso.always.terms import GrantOptions, about
from sayso.cards.bundle import EACH
from sayso.cards.called import NOBODY
from sayso.cards.card import (
    DESCRIPTION_LIMIT,
    NAME_LIMIT,
    REVOKE,
    Card,
    CardBody,
    Choice,
    Ended,
    Open,
)
from sayso.cards.origin import details
from sayso.cards.outcomes import SUPERSEDED, outcome_by
from sayso.cards.plain_text import afterwards
from sayso.cards.truncation import Room
from sayso.chats.adapter import Adapter
from sayso.chats.places import Place
from sayso.clock import Clock, utc_now
from sayso.errors import ConfigError
from sayso.events import RequestExpiredEvent, Resolution, UserInputRequest
from sayso.locales import NAMES, load_translations, locale_of
from sayso.questions.large import is_large
from sayso.questions.refusals import Refusals
from sayso.stores.protocols import Found, Use
from sayso.text.secrets import redacted_text
from sayso.text.visible import folded, shortened, visible
from sayso.values import Value
from sayso.worker.routing import Routes


class Localizer:
    """Picks translations. They are loaded once, and none for a card.

    Raises:
        ConfigError: a route names a language that there is no translation into.
    """

    def __init__(
        self, routes: Routes, translations: Mapping[str, NullTranslations] | None = None
    ) -> None:
        known = translations or {tag: load_translations(tag) for tag in NAMES}
        used = routes.languages
        if unknown := used - known.keys():
            tags = ", ".join(sorted(known))
            raise ConfigError(f"there is no translation into {min(unknown)!r}, only into {tags}")
        self._routes = routes
        self._known = known
        self._only = known[routes.language] if len(used) == 1 else None

    def of(self, request: UserInputRequest, place: Place) -> NullTranslations:
        """Return the translations for a request in a place."""
        return self._only or self._known[self._routes.language_of(request, place)]

    def at(self, place: Place, actor: str = "") -> NullTranslations:
        """Return the translations for a place without a card, for this actor."""
        return self._only or self._known[self._routes.language_at(place, actor)]


KEPT_BODIES = 8_192
_SMALL_CHARACTERS = 4_000
_KEPT_CHARACTERS = 4_000_000

Which: TypeAlias = tuple[str, datetime, str]
Said: TypeAlias = tuple[Which, str]


def which(request: UserInputRequest) -> Which:
    """Return a key that tells a request from a later one of the same id."""
    return request.question_id, request.expires_at, request.digest_of_arguments


def said(request: UserInputRequest, translations: NullTranslations) -> Said:
    """Return a key that tells a request's card from the same in another language."""
    return which(request), locale_of(translations)


class CardBodyCache:
    """Keeps the newest few thousand small bodies, and large ones up to some millions of characters.

    They never change, and are wanted several times, each in one language. An id alone names none:
    once its record is gone, another request may have it.
    """

    def __init__(self, make: Callable[[UserInputRequest, NullTranslations], CardBody]) -> None:
        self._make = make
        self._small: dict[Said, CardBody] = {}
        self._large: dict[Said, CardBody] = {}
        self._characters = 0
        self._one_at_a_time = asyncio.Lock()

    async def prepare(self, request: UserInputRequest, translations: NullTranslations) -> None:
        """See that ``of`` has no work that others would notice."""
        wanted = said(request, translations)
        if self._known(wanted) is not None or not is_large(request):
            return
        async with self._one_at_a_time:
            if self._known(wanted) is None:
                self._keep(wanted, await asyncio.to_thread(self._make, request, translations))

    def of(self, request: UserInputRequest, translations: NullTranslations) -> CardBody:
        """Return the request's card body in these translations."""
        wanted = said(request, translations)
        body = self._known(wanted)
        if body is None:
            body = self._make(request, translations)
            self._keep(wanted, body)
        return body

    def has_small(self, request: UserInputRequest, translations: NullTranslations) -> bool:
        """Return True if the request is one of the newest small ones in these words."""
        return said(request, translations) in self._small

    def _known(self, wanted: Said) -> CardBody | None:
        return self._small.get(wanted) or self._large.get(wanted)

    def _keep(self, wanted: Said, body: CardBody) -> None:
        if len(body.content) <= _SMALL_CHARACTERS:
            self._small[wanted] = body
            if len(self._small) > KEPT_BODIES:
                del self._small[next(iter(self._small))]
            return
        self._large[wanted] = body
        self._characters += _length(body)
        while self._characters > _KEPT_CHARACTERS and len(self._large) > 1:
            self._characters -= _length(self._large.pop(next(iter(self._large))))


def _length(body: CardBody) -> int:
    return len(body.content) + len(body.description)


_PLAIN = Open()
# More of a reason is on no card: no secret that is cut there is seen.
_LONGEST_REASON = 20_000
_SHORTEST = timedelta(seconds=1)


class CardBuilder:
    """Makes cards. What a request puts on them is made once, for the newest small ones."""

    def __init__(
        self,
        adapters: Mapping[str, Adapter],
        routes: Routes,
        *,
        terms: GrantOptions,
        refusals: Refusals,
        speech: Localizer | None = None,
        clock: Clock = utc_now,
    ) -> None:
        self._adapters = adapters
        self._routes = routes
        self._terms = terms
        self._refusals = refusals
        self._speech = speech or Localizer(routes)
        self._clock = clock
        self._bodies = CardBodyCache(self._made_body)
        self._fitted: dict[tuple[Said, str, int], CardBody] = {}
        self._deniers: dict[Which, str] = {}
        self._expiries: dict[Which, timedelta] = {}

    async def prepare(self, place: Place, *requests: UserInputRequest) -> None:
        """Before their cards there are made: no presses wait for large ones meanwhile."""
        for request in requests:
            await self._bodies.prepare(request, self._said(request, place))

    async def body(self, request: UserInputRequest, place: Place) -> CardBody:
        """What a request puts on its card there."""
        await self.prepare(place, request)
        return self._bodies.of(request, self._said(request, place))

    def language(self, request: UserInputRequest, place: Place) -> str:
        """What is said of a request there is in this language."""
        return locale_of(self._said(request, place))

    def card(self, found: Found, view: Open = _PLAIN) -> Card:
        """The card of a copy as its place can show it: how it ended, or else this view of it."""
        copy, request = found.copy, found.request
        adapter, translations = (
            self._adapters[copy.place.platform],
            self._said(request, copy.target),
        )
        body, limits = self._bodies.of(request, translations), adapter.limits
        room = Room(limits.content, lines=limits.lines)
        if copy.bundle:
            # An adapter that finds no room any more shows nothing of it: then it can be denied.
            room = adapter.room(body, len(copy.bundle)) or Room(0, 0)
        state: Open | Ended
        if found.ending is None and copy.closed_at is not None:
            state = Ended(outcome=SUPERSEDED, at=copy.closed_at)
        elif found.ending is None:
            state = self._open(request, view, translations)
        else:
            state = self.ended(found, found.ending, details=view.details)
        return Card(
            handle=copy.handle,
            body=self._fitting(copy.place.platform, request, room, translations),
            asker=request.asker,
            expires_at=request.expires_at,
            limit=room.content,
            reveal_limit=limits.reveal,
            revealed=copy.revealed,
            state=state,
            description_limit=min(room.description, DESCRIPTION_LIMIT),
            number=copy.handles.index(copy.handle) + 1,
            count=len(copy.handles),
            lines=room.lines,
            columns=limits.columns,
            translations=translations,
            call=copy.call if isinstance(state, Open) else NOBODY,
            waits=self._waited(request, translations) if isinstance(state, Open) else "",
        )

    def bare(self, found: Found) -> Card:
        """A card that says how its request ended and little more: for one that cannot be made."""
        copy, request = found.copy, found.request
        if found.ending is None:
            raise ValueError(f"request {request.question_id!r} has not ended")
        return Card(
            handle=copy.handle,
            body=CardBody(visible(shortened(request.subject, NAME_LIMIT))),
            asker=visible(shortened(request.run.agent_id, NAME_LIMIT)),
            expires_at=request.expires_at,
            limit=0,
            reveal_limit=0,
            state=Ended(found.ending.outcome.value, found.ending.decided_at),
            number=copy.handles.index(copy.handle) + 1,
            count=len(copy.handles),
            translations=self._said(request, copy.target),
        )

    def note_denier(self, request: UserInputRequest, who: str) -> None:
        """Let all cards of the request say, while it is open, that they write why they deny it.

        The first counts. Kept for the newest few thousand requests, as long as the process lives.
        """
        self._deniers.setdefault(which(request), who)
        if len(self._deniers) > KEPT_BODIES:
            del self._deniers[next(iter(self._deniers))]

    def _waited(self, request: UserInputRequest, translations: NullTranslations) -> str:
        """In how long the request expires, as it was when its first card was made here."""
        key = which(request)
        if (left := self._expiries.get(key)) is None:
            left = max(request.expires_at - self._clock(), _SHORTEST)
            self._expiries[key] = left
            if len(self._expiries) > KEPT_BODIES:
                del self._expiries[next(iter(self._expiries))]
        return about(left, translations)

    def _open(self, request: UserInputRequest, view: Open, translations: NullTranslations) -> Open:
        who = self._deniers.get(which(request), "") if self._deniers else ""
        return (
            replace(
                view,
                notice=translations.gettext(
                    "{who} denies this; the reason is being written."
                ).format(who=who),
            )
            if who
            else view
        )

    def translations(self, found: Found) -> NullTranslations:
        """What is said of a card."""
        return self._speech.of(found.request, found.copy.target)

    def _said(self, request: UserInputRequest, place: Place) -> NullTranslations:
        return self._speech.of(request, place)

    def spoken(self, found: Found) -> UserInputRequest:
        """The request in the language of its card."""
        return found.request.in_language(self.translations(found))

    def ended(self, found: Found, ending: Resolution, *, details: bool = False) -> Ended:
        """The state of a card whose request ended so, and what is told of it since."""
        request, translations, revoked = self.spoken(found), self.translations(found), found.revoked
        went, note = _afterwards(found.use, translations)
        expired = isinstance(ending, RequestExpiredEvent)
        reason = translations.gettext("nobody answered in time") if expired else ending.reason
        stored = request.stored(ending)
        choices: tuple[Choice, ...] = ()
        if revoked is not None:
            stored = translations.gettext("revoked by {who}; it was: {stored}").format(
                who=self._who(revoked.by), stored=stored
            )
        elif ending.remembers_at(self._clock()):
            choices = (replace(REVOKE, label=translations.gettext("Revoke")),)
        return Ended(
            outcome=ending.outcome.value,
            at=ending.decided_at,
            by=ending.decided_by or "",
            by_name=self._routes.name(ending.decided_by or ""),
            reason=redacted_text(reason[:_LONGEST_REASON]),
            stored=stored,
            facts=request.told(ending),
            below=request.told_below(ending),
            choices=choices,
            until=ending.remembered_until if stored and revoked is None else None,
            went=went,
            note=note,
            details=details,
        )

    def _who(self, actor: str) -> str:
        name = self._routes.name(actor)
        return f"{name} ({actor})" if name else actor

    def how(self, found: Found, ending: Resolution) -> str:
        """How a request ended and by whom, in words."""
        ended = self.ended(found, ending)
        return outcome_by(self.translations(found), ended.outcome, ended.who)

    def can_share(self, place: Place, request: UserInputRequest, count: int) -> bool:
        """Return True if the place has room for the request on a message with so many cards."""
        body = self._bodies.of(request, self._said(request, place))
        keys = {choice.key for choice in body.choices}
        return (
            keys.issuperset(EACH.values())
            and self._adapters[place.platform].room(body, count) is not None
        )

    def unanswerable(self, place: Place, request: UserInputRequest) -> str:
        """Why the question cannot be answered there, for whoever asked; empty when it can."""
        body = self._bodies.of(request, self._said(request, place))
        return self._adapters[place.platform].limits.problem(body)

    def _fitting(
        self, platform: str, request: UserInputRequest, room: Room, translations: NullTranslations
    ) -> CardBody:
        """What of the request's card the platform can ask for there; kept as its whole is."""
        key = (said(request, translations), platform, room.stores)
        if (fitted := self._fitted.get(key)) is None:
            limits, body = self._adapters[platform].limits, self._bodies.of(request, translations)
            fitted = limits.fitted(body, room.stores, translations)
            if self._bodies.has_small(request, translations):
                self._fitted[key] = fitted
                if len(self._fitted) > KEPT_BODIES:
                    del self._fitted[next(iter(self._fitted))]
        return fitted

    def _made_body(self, request: UserInputRequest, translations: NullTranslations) -> CardBody:
        # A copy of its own: a kind may keep what it said, and say it again in another language.
        body = request.in_language(translations).card()
        return replace(
            body,
            # Made so already by our own kinds: those of others may not know.
            values=tuple(map(_folded, body.values)),
            description=folded(body.description),
            details=body.details or details(request, translations),
            choices=self._offered(request, body.choices, translations),
            more=self._offered(request, body.more, translations),
        )

    def _offered(
        self, request: UserInputRequest, choices: tuple[Choice, ...], translations: NullTranslations
    ) -> tuple[Choice, ...]:
        """The choices that these terms allow, each with how long it would hold."""
        allowed = (
            self._terms.lengths(self._for_its_tools(request, choice), translations)
            if choice.stores
            else self._refusals.applied_to(choice, translations)
            for choice in choices
        )
        return tuple(choice for choice in allowed if choice is not None)

    def _for_its_tools(self, request: UserInputRequest, choice: Choice) -> Choice:
        """The choice, or that about the tool of the card where another tool has another route.

        Whoever may answer here need not be one who may answer there.
        """
        if choice.alone is None:
            return choice
        route = self._routes.find(request)
        others = (self._routes.of(request.run.agent_id, tool) for tool in choice.also)
        if any(one is not route for one in others):
            choice = choice.alone
        return replace(choice, alone=None)


def _folded(value: Value) -> Value:
    return replace(value, text=folded(value.text), brief=folded(value.brief))


def _afterwards(use: Use | None, translations: NullTranslations) -> tuple[str, str]:
    return ("", "") if use is None else afterwards(use.report, translations)
