"""The hosted API: agents in any language ask, read events, and answer where they may."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from aiohttp import web

from sayso.always.terms import GrantOptions
from sayso.calls import RunRef
from sayso.chats.adapter import Adapter
from sayso.clock import Clock, utc_now
from sayso.durations import parse_duration
from sayso.events import UserInputRequest, UserInputResponse
from sayso.feed.feed import BranchFeed
from sayso.policy.server_policy import ServerPolicy
from sayso.questions.large import beside as beside_large
from sayso.stores.audit import RefusalKind
from sayso.stores.backend import Backend
from sayso.stores.branch_log import Position, branch_of
from sayso.stores.protocols import Record
from sayso.tasks import Background
from sayso.worker.activity_events import RejectedInteractions
from sayso.worker.authorization import Approvers, Authorization
from sayso.worker.routing import Routes
from sayso_bots.api.answers import FILLED, Asked, answer_of
from sayso_bots.api.asking import Asking
from sayso_bots.api.bodies import Kind, kind_of, read_body, response_kinds, without_nulls
from sayso_bots.api.door import TICKET_SECONDS, Door, Endpoint, Tickets
from sayso_bots.api.openapi import description
from sayso_bots.api.problems import ApiProblem, Wrong, invalid, pointer
from sayso_bots.api.replies import (
    BRANCH,
    already_answered,
    denied_by_rule,
    event_reply,
    json_reply,
    object_reply,
    record_reply,
    run_of,
    written,
)
from sayso_bots.api.stream import LONGEST_WAIT, Places, Polls, StreamLimits, Streams
from sayso_bots.config.api_tokens import ApiSettings, ApiToken

_LIMITS = StreamLimits()
_WITHDRAWN = "the agent withdrew it"
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
    terms: GrantOptions | None = None,
    clock: Clock = utc_now,
    limits: StreamLimits = _LIMITS,
) -> AsyncIterator[HostedApi]:
    """The hosted API while the block runs. Whoever serves it ends its streams first."""
    async with BranchFeed(backend.log, backend.bus) as feed:
        places = Places(limits.most)
        streams, polls = Streams(feed, limits, places), Polls(backend, places.take)
        background = Background("what follows on calls of the hosted API")
        tickets = Tickets(backend.key_value)
        try:
            yield HostedApi(
                backend,
                tickets,
                Door(settings, tickets),
                Asking(backend, routes, policies or ServerPolicy(), clock, background),
                streams,
                polls,
                Approvers(routes, adapters),
                RejectedInteractions(backend.audit, background, None),
                terms or GrantOptions(),
                clock,
            )
        finally:
            streams.end()
            polls.end()
            await background.finish()


@dataclass
class HostedApi:
    """The endpoints. Every answer that is not what was asked for is a problem document."""

    store: Backend
    tickets: Tickets
    door: Door
    asking: Asking
    streams: Streams
    polls: Polls
    approvers: Approvers
    rejected: RejectedInteractions
    terms: GrantOptions
    clock: Clock
    _description: bytes = b""

    def end(self) -> None:
        """End all streams and waits: clients come back wherever somebody serves then."""
        self.streams.end()
        self.polls.end()

    def routes(self) -> list[web.RouteDef]:
        """The endpoints, for a web server."""
        door = self.door.opened
        asked, answered = f"{BRANCH}/requests", f"{BRANCH}/responses"
        one, events = f"{asked}/{{requestId:[^/]+}}", f"{BRANCH}/events"
        known: dict[str, dict[str, Endpoint]] = {
            asked: {"POST": self._ask},
            one: {"GET": self._show, "DELETE": self._withdraw},
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
            found.append(web.route("*", path, door(self.door.other_methods(list(endpoints)))))
        return [*found, web.route("*", "/agents{rest:(?:/.*)?}", door(_nowhere))]

    async def _ask(self, request: web.Request) -> web.StreamResponse:
        token, run = await self._admitted(request)
        return await self.asking.ask(request, token, run, partial(self.door.count, token))

    async def _show(self, request: web.Request) -> web.StreamResponse:
        token, run = await self._admitted(request)
        seconds = _wait_of(request)
        record = await self._own(request, run)
        if seconds and record.ending is None:
            await self.polls.wait(request, token.name, record, seconds)
            record = await self._own(request, run)
        return await beside_large(record.request, partial(record_reply, record, 200))

    async def _withdraw(self, request: web.Request) -> web.StreamResponse:
        token, run = await self._admitted(request)
        if await request.read():
            raise ApiProblem(400, "InvalidBody", "send no body here")
        record = await self._own(request, run)
        asked = record.request
        if token.actor != (asked.filed_by or asked.requested_by):
            detail = "only the token that this request came with withdraws it"
            raise ApiProblem(403, "NotTheAsker", detail)
        if record.ending is None:
            ending = asked.cancelled(at=self.clock(), reason=_WITHDRAWN, by=token.actor)
            await self.store.store.settle(asked.question_id, ending)
            record = await self._own(request, run)
        return await beside_large(asked, partial(record_reply, record, 200))

    async def _own(self, request: web.Request, run: RunRef) -> Record:
        """The branch's request that the address names."""
        record = await self.store.store.get(request.match_info["requestId"])
        if record is None or branch_of(record.request.run) != branch_of(run):
            raise ApiProblem(404, "UnknownRequest", "this branch has no request with this id")
        return record

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
        asked = Asked(record.request, token.actor, self.clock(), self.terms)
        answer, rule = await beside_large(record.request, partial(answer_of, asked, kind, given))
        if not standing.allows(answer):
            self._refused(token, record.request, "own_request", given)
            raise ApiProblem(403, "OwnRequest", _OWN_APPROVAL)
        settled = await self.store.store.settle(question_id, answer, remember=rule)
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
            asked = Asked(record.request, token.actor, ending.decided_at, self.terms)
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
        record = await self.store.store.get(question_id)
        if record is not None and branch_of(record.request.run) == branch_of(run):
            return record
        if await self.store.log.open_questions(run):
            raise ApiProblem(
                409, "NobodyWaits", "nobody on this branch waits for an answer with this id"
            )
        raise ApiProblem(409, "BranchRuntimeNotActive", "nothing is open on this branch")

    async def _standing(
        self, token: ApiToken, request: UserInputRequest, given: Mapping[str, Any]
    ) -> Authorization:
        standing = await self.approvers.standing(token.actor, request)
        if standing is Authorization.STRANGER:
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
        self.rejected.note(request, why, by=token.actor, place="api", choice=choice)

    async def _follow(self, request: web.Request) -> web.StreamResponse:
        run = run_of(request)
        caller = await self.door.reader(request, run)
        written = request.headers.get("Last-Event-ID") or request.query.get("lastEventId")
        try:
            after = None if not written else Position.parse(written)
        except ValueError as error:
            raise ApiProblem(400, "InvalidEventId", f"Last-Event-ID {error}") from None
        headers = self.door.cors_headers(request)
        return await self.streams.answer(request, run, after, headers, caller)

    async def _give_ticket(self, request: web.Request) -> web.StreamResponse:
        token, run = await self._admitted(request)
        ticket = await self.tickets.make(run, token.name)
        return object_reply({"ticket": ticket, "expiresInSeconds": TICKET_SECONDS}, 201)

    async def _describe(self, _: web.Request) -> web.StreamResponse:
        if not self._description:
            # It takes a tenth of a second, and anybody may ask for it.
            self._description = written(description())
        return json_reply(self._description, 200)

    async def _admitted(self, request: web.Request) -> tuple[ApiToken, RunRef]:
        run = run_of(request)
        return self.door.caller(request, run), run


def _wait_of(request: web.Request) -> float:
    """How many seconds a look may wait; more than the longest wait is cut."""
    given = request.query.getall("wait", [])
    if not given:
        return 0.0
    try:
        if len(given) > 1:
            raise ValueError("is given twice")  # noqa: TRY301
        return min(parse_duration(given[0]).total_seconds(), LONGEST_WAIT)
    except ValueError as error:
        raise ApiProblem(400, "InvalidWait", f"wait {error}") from None


def _route(method: str, path: str, endpoint: Endpoint) -> web.RouteDef:
    # To aiohttp HEAD is a GET, and opens a stream that nobody sees.
    alone = {"allow_head": False} if method == "GET" else {}
    return web.route(method, path, endpoint, **alone)


async def _nowhere(_: web.Request) -> web.StreamResponse:
    raise ApiProblem(404, "NotFound", "there is no such endpoint; see /openapi.json")
