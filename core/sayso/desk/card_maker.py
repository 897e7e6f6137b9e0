"""From a request to its card in one place, in every state, on the terms of the bots."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from gettext import NullTranslations

from sayso.always.terms import GrantOptions, about
from sayso.cards.afterwards import afterwards
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
from sayso.cards.room import Room
from sayso.chats.adapter import Adapter
from sayso.chats.places import Place
from sayso.clock import Clock, utc_now
from sayso.desk.bodies import KEPT_BODIES, Bodies, Said, Which, said, which
from sayso.desk.routes import Routes
from sayso.desk.speech import Speech
from sayso.events import RequestExpiredEvent, Resolution, UserInputRequest
from sayso.locales import locale_of
from sayso.questions.refusals import Refusals
from sayso.stores.ports import Found, Use
from sayso.text.blanks import folded
from sayso.text.secrets import redacted_text
from sayso.text.visible import shortened, visible
from sayso.values import Value

_PLAIN = Open()
# More of a reason is on no card: no secret that is cut there is seen.
_LONGEST_REASON = 20_000
_SHORTEST = timedelta(seconds=1)


class CardMaker:
    """Makes cards. What a request puts on them is made once, for the newest small ones."""

    def __init__(
        self,
        adapters: Mapping[str, Adapter],
        routes: Routes,
        *,
        terms: GrantOptions,
        refusals: Refusals,
        speech: Speech | None = None,
        clock: Clock = utc_now,
    ) -> None:
        self._adapters = adapters
        self._routes = routes
        self._terms = terms
        self._refusals = refusals
        self._speech = speech or Speech(routes)
        self._clock = clock
        self._bodies = Bodies(self._made_body)
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
        """Whether the place has room for the request on a message with so many cards."""
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
