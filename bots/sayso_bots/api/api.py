"""The hosted API: agents in any language ask, read events, and answer where they may."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from aiohttp import web

from sayso.agent.timeouts import DEFAULT_TIMEOUT_SECONDS
from sayso.always.terms import Terms
from sayso.calls import RunRef
from sayso.chats.adapter import Adapter
from sayso.clock import Clock, utc_now
from sayso.desk.approvers import Approvers
from sayso.desk.refused import RefusedPresses
from sayso.desk.routes import Routes
from sayso.desk.standing import Standing
from sayso.errors import DuplicateRequestError
from sayso.events import UserInputRequest, UserInputResponse
from sayso.feed.feed import BranchFeed
from sayso.policy.server_policy import ServerPolicy
from sayso.questions.large import beside as beside_large
from sayso.stores.audit import RefusalKind
from sayso.stores.backend import Backend
from sayso.stores.branch_log import Position, branch_of
from sayso.stores.ports import Joined, Record
from sayso.tasks import Background
from sayso_bots.api.addresses import BRANCH, run_of
from sayso_bots.api.answers import FILLED, Asked, answer_of
from sayso_bots.api.bodies import beside, read_body, without_nulls
from sayso_bots.api.door import Door, Endpoint
from sayso_bots.api.kinds import Kind, kind_of, response_kinds
from sayso_bots.api.once import AskedOnce, key_of
from sayso_bots.api.openapi import description
from sayso_bots.api.policy import opened_or_decided
from sayso_bots.api.problems import ApiProblem, Wrong, invalid, pointer
from sayso_bots.api.replies import (
    already_answered,
    denied_by_rule,
    event_reply,
    json_reply,
    object_reply,
    record_reply,
    written,
)
from sayso_bots.api.requests import Draft
from sayso_bots.api.stream import StreamLimits, Streams
from sayso_bots.api.tickets import TICKET_SECONDS, Tickets
from sayso_bots.settings.tokens import ApiSettings, ApiToken

_LIMITS = StreamLimits()
_OWN_APPROVAL = (
    "whoever asked may not approve it; somebody else has to, "
    "or its route has to say self_approval = true"
)


@asynccontextmanager
async def hosted_api(
    settings: ApiSettings,
    backend: Backend,
    routes: Routes,
    adapters: Mapping[str, Adapter],
    *,
    policies: ServerPolicy | None = None,
    terms: Terms | None = None,
    clock: Clock = utc_now,
    limits: StreamLimits = _LIMITS,
) -> AsyncIterator[HostedApi]:
    """The hosted API while the block runs. Whoever serves it ends its streams first."""
    async with BranchFeed(backend.log, backend.bus) as feed:
        streams = Streams(feed, limits)
        background = Background("the hosted API's audit")
        refused = RefusedPresses(backend.audit, background, None)
        people = People(routes, Approvers(routes, adapters), refused)
        try:
            says = Says(policies or ServerPolicy(), terms or Terms())
            yield HostedApi(settings, backend, people, streams, says, clock)
        finally:
            streams.end()
            await background.finish()


@dataclass(frozen=True, slots=True)
class People:
    """Who may answer what: the routes, who is looked up there, and who was refused."""

    routes: Routes
    approvers: Approvers
    refused: RefusedPresses


@dataclass(frozen=True, slots=True)
class Says:
    """What the settings say of calls: the policy, and on which terms Always is remembered."""

    policies: ServerPolicy
    terms: Terms


class HostedApi:
    """The endpoints. Every answer that is not what was asked for is a problem document."""

    def __init__(
        self,
        settings: ApiSettings,
        backend: Backend,
        people: People,
        streams: Streams,
        says: Says,
        clock: Clock,
    ) -> None:
        self.streams = streams
        self._backend = backend
        self._routes = people.routes
        self._approvers = people.approvers
        self._refused_presses = people.refused
        self._terms = says.terms
        self._policy = says.policies
        self._once = AskedOnce(backend, says.policies, clock)
        self._clock = clock
        self._description = b""
        self._tickets = Tickets(backend.drafts)
        self._door = Door(settings, self._tickets)

    def routes(self) -> list[web.RouteDef]:
        """The endpoints, for a web server."""
        door = self._door.opened
        asked, answered = f"{BRANCH}/requests", f"{BRANCH}/responses"
        one, events = f"{asked}/{{requestId:[^/]+}}", f"{BRANCH}/events"
        known: dict[str, dict[str, Endpoint]] = {
            asked: {"POST": self._ask},
            one: {"GET": self._show},
            answered: {"POST": self._answer},
            events: {"GET": self._follow},
            f"{events}/tickets": {"POST": self._give_ticket},
            "/openapi.json": {"GET": self._describe},
        }
        found = [
            _route(method, path, door(endpoint))
            for path, endpoints in known.items()
            for method, endpoint in endpoints.items()
        ]
        for path, endpoints in known.items():
            found.append(web.route("*", path, door(self._door.other_methods(list(endpoints)))))
        return [*found, web.route("*", "/agents{rest:(?:/.*)?}", door(_nowhere))]

    async def _ask(self, request: web.Request) -> web.StreamResponse:
        token, run = await self._admitted(request)
        draft = Draft(await read_body(request), run, token.actor, self._clock())
        key = key_of(request)
        if key and (known := await self._once.find(request, run, key, draft)):
            return await beside(request, partial(record_reply, known, 200))
        if draft.has_id and (known := await self._backend.store.get(draft.question_id)):
            return await beside(request, partial(self._repeated, draft, known, run))
        asked = await beside(request, partial(draft.request, self._seconds))
        self._check_asker(asked)
        try:
            said = await opened_or_decided(self._backend, self._policy, asked, self._clock, key=key)
        except DuplicateRequestError:
            # Somebody else was quicker with the same id, perhaps this same call.
            if known := await self._backend.store.get(draft.question_id):
                return await beside(request, partial(self._repeated, draft, known, run))
            raise
        if isinstance(said, Joined):
            # Somebody else was quicker with the same key: once more, to see what they asked.
            return await self._ask(request)
        # By the store's clock, as whoever repeats the call is told.
        known = await self._backend.store.get(draft.question_id) or Record(asked, said)
        if said is not None:
            return await beside(request, partial(record_reply, known, 200))
        location = f"{request.rel_url.raw_path}/{draft.question_id}"
        return await beside(request, partial(record_reply, known, 201, location=location))

    def _check_asker(self, asked: UserInputRequest) -> None:
        asker = asked.requested_by
        if asker is not None and not self._routes.is_account(asker):
            why = f"{asker!r} cannot be an account there; write its id"
            raise invalid(Wrong("/requestedBy", why))

    def _repeated(self, draft: Draft, known: Record, run: RunRef) -> web.StreamResponse:
        same = branch_of(known.request.run) == branch_of(run) and draft.is_repeated_by(
            known.request
        )
        if not same:
            detail = "another request has this id; leave the id out or use a new random one"
            where = pointer(draft.kind.id_name)
            raise ApiProblem(409, "DuplicateRequest", detail, errors=(Wrong(where, "is taken"),))
        return record_reply(known, 200)

    async def _show(self, request: web.Request) -> web.StreamResponse:
        _, run = await self._admitted(request)
        record = await self._backend.store.get(request.match_info["requestId"])
        if record is None or branch_of(record.request.run) != branch_of(run):
            raise ApiProblem(404, "UnknownRequest", "this branch has no request with this id")
        return await beside_large(record.request, partial(record_reply, record, 200))

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        token, run = await self._admitted(request)
        given = await read_body(request)
        kind = kind_of(given, response_kinds())
        given = without_nulls(given, kind, FILLED)
        question_id = given.get(kind.id_name)
        if not isinstance(question_id, str):
            raise invalid(Wrong(pointer(kind.id_name), "must be the id of the request"))
        record = await self._waiting(run, question_id)
        standing = await self._standing(token, record.request, given)
        if record.ending is not None:
            return await self._answered_again(token, record, kind, given)
        asked = Asked(record.request, token.actor, self._clock(), self._terms)
        answer, rule = await beside_large(record.request, partial(answer_of, asked, kind, given))
        if not standing.allows(answer):
            self._refused(token, record.request, "own_request", given)
            raise ApiProblem(403, "OwnRequest", _OWN_APPROVAL)
        settled = await self._backend.store.settle(question_id, answer, remember=rule)
        if settled.forbidden:
            raise denied_by_rule(settled.ending)
        if not settled.first:
            ended = Record(record.request, settled.ending)
            return await self._answered_again(token, ended, kind, given)
        return event_reply(answer)

    async def _answered_again(
        self,
        token: ApiToken,
        record: Record,
        kind: Kind[UserInputResponse],
        given: Mapping[str, Any],
    ) -> web.StreamResponse:
        """The recorded answer, where it is this one: its sender may not have heard of it."""
        ending = record.ending
        if ending is not None and ending.decided_by == token.actor:
            asked = Asked(record.request, token.actor, ending.decided_at, self._terms)
            with suppress(ApiProblem):
                again = partial(answer_of, asked, kind, given)
                answer, rule = await beside_large(record.request, again)
                # What it would remember is made anew, with an id of its own: it is the one that is.
                kept = rule and replace(rule, rule_id=ending.rule_kept)
                if answer.keeping(kept) == ending:
                    return event_reply(ending)
        self._refused(token, record.request, "late", given)
        raise already_answered(record)

    async def _waiting(self, run: RunRef, question_id: str) -> Record:
        record = await self._backend.store.get(question_id)
        if record is not None and branch_of(record.request.run) == branch_of(run):
            return record
        if await self._backend.log.open_questions(run):
            raise ApiProblem(
                409, "NobodyWaits", "nobody on this branch waits for an answer with this id"
            )
        raise ApiProblem(409, "BranchRuntimeNotActive", "nothing is open on this branch")

    async def _standing(
        self, token: ApiToken, request: UserInputRequest, given: Mapping[str, Any]
    ) -> Standing:
        standing = await self._approvers.standing(token.actor, request)
        if standing is Standing.STRANGER:
            self._refused(token, request, "not_approver", given)
            detail = f"{token.actor} is not an approver on this request's route"
            raise ApiProblem(403, "NotAnApprover", detail)
        if token.actor in request.askers and not token.answers_own:
            self._refused(token, request, "own_request", given)
            detail = "this token asked the question itself; somebody else has to answer"
            raise ApiProblem(403, "OwnRequest", detail)
        return standing

    def _refused(
        self,
        token: ApiToken,
        request: UserInputRequest,
        why: RefusalKind,
        given: Mapping[str, Any],
    ) -> None:
        key = given.get("choiceKey") or given.get("choice")
        choice = key if isinstance(key, str) else ""
        self._refused_presses.note(request, why, by=token.actor, place="api", choice=choice)

    async def _follow(self, request: web.Request) -> web.StreamResponse:
        run = run_of(request)
        caller = await self._door.reader(request, run)
        written = request.headers.get("Last-Event-ID") or request.query.get("lastEventId")
        try:
            after = None if not written else Position.parse(written)
        except ValueError as error:
            raise ApiProblem(400, "InvalidEventId", f"Last-Event-ID {error}") from None
        headers = self._door.cors_headers(request)
        return await self.streams.answer(request, run, after, headers, caller)

    async def _give_ticket(self, request: web.Request) -> web.StreamResponse:
        token, run = await self._admitted(request)
        ticket = await self._tickets.make(run, token.name)
        return object_reply({"ticket": ticket, "expiresInSeconds": TICKET_SECONDS}, 201)

    async def _describe(self, _: web.Request) -> web.StreamResponse:
        if not self._description:
            # It takes a tenth of a second, and anybody may ask for it.
            self._description = written(description())
        return json_reply(self._description, 200)

    async def _admitted(self, request: web.Request) -> tuple[ApiToken, RunRef]:
        run = run_of(request)
        return self._door.caller(request, run), run

    def _seconds(self, request: UserInputRequest, wanted: float | None) -> float:
        """How long a request lives: as long as it wants and its route lets it."""
        route = self._routes.find(request)
        most = None if route is None else route.seconds
        seconds = (most or DEFAULT_TIMEOUT_SECONDS) if wanted is None else wanted
        return seconds if most is None else min(seconds, most)


def _route(method: str, path: str, endpoint: Endpoint) -> web.RouteDef:
    # To aiohttp HEAD is a GET, and opens a stream that nobody sees.
    alone = {"allow_head": False} if method == "GET" else {}
    return web.route(method, path, endpoint, **alone)


async def _nowhere(_: web.Request) -> web.StreamResponse:
    raise ApiProblem(404, "NotFound", "there is no such endpoint; see /openapi.json")
