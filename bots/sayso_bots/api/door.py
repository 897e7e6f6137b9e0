"""Access to the hosted API: bearer tokens, tickets, limits and origins; failures as problems."""

from __future__ import annotations

import hashlib
import json
import logging
import math
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from sayso.calls import RunRef
from sayso.errors import (
    RequestUnansweredError,
    StoreUnreachableError,
    SubscriptionLostError,
    UnreadableEventError,
)
from sayso.seldom import Seldom
from sayso.stores.branch_log import branch_of
from sayso.stores.protocols import KeyValueStore
from sayso_bots.api.problems import ApiProblem
from sayso_bots.config.api_tokens import ApiSettings, ApiToken, find_token
from sayso_bots.process.sources import is_gone, source_of

_MOST_CALLERS = 10_000


class Limits:
    """Lets each caller through a number of times a second, and twice as often for a moment.

    Of more than 10,000 callers those who were here least recently are forgotten.
    """

    def __init__(self, per_second: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_second
        self._most = max(1.0, 2 * per_second)
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, caller: str) -> int:
        """0 when the caller may go on, otherwise after how many seconds to come back."""
        now = self._clock()
        level = self._level(caller, now)
        self._buckets.pop(caller, None)
        self._buckets[caller] = (level - 1 if level >= 1 else level, now)
        if len(self._buckets) > _MOST_CALLERS:
            self._buckets.popitem(last=False)
        return self._until_one(level)

    def count(self, caller: str, calls: int) -> None:
        """So many calls more were made in one: whoever makes them waits the longer afterwards."""
        now = self._clock()
        self._buckets[caller] = (self._level(caller, now) - calls, now)

    def would_wait(self, caller: str) -> int:
        """Return what ``wait`` would; it does not count as a call."""
        return self._until_one(self._level(caller, self._clock()))

    def _level(self, caller: str, now: float) -> float:
        level, since = self._buckets.get(caller, (self._most, now))
        return min(self._most, level + (now - since) * self._per_second)

    def _until_one(self, level: float) -> int:
        return 0 if level >= 1 else max(1, math.ceil((1 - level) / self._per_second))


TICKET_SECONDS = 600
_FORM = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Ticket:
    """The branch a ticket was given for, and its token."""

    branch: tuple[str, str, str]
    token_name: str


def is_ticket(text: str) -> bool:
    """Return True if it has the form of one."""
    return _FORM.fullmatch(text) is not None


class Tickets:
    """Tickets in the store, where only their hashes are. Each opens one branch, to read."""

    def __init__(self, key_value: KeyValueStore) -> None:
        self._key_value = key_value

    async def make(self, run: RunRef, token_name: str) -> str:
        """A new ticket for the run's branch.

        Raises:
            StoreUnreachableError: it could not be stored.
        """
        ticket = secrets.token_urlsafe(32)
        text = json.dumps([*branch_of(run), token_name])
        await self._key_value.set(_key(ticket), text, seconds=TICKET_SECONDS)
        return ticket

    async def read(self, ticket: str) -> Ticket | None:
        """Look a ticket up; None when there is none, or it is over.

        Raises:
            StoreUnreachableError: the store does not answer.
        """
        text = await self._key_value.get(_key(ticket))
        if text is None:
            return None
        agent_id, session_id, branch_id, token_name = json.loads(text)
        return Ticket((agent_id, session_id, branch_id), token_name)


def _key(ticket: str) -> str:
    return "draft:api-ticket:" + hashlib.sha256(ticket.encode()).hexdigest()


_log = logging.getLogger(__name__)

Endpoint = Callable[[web.Request], Awaitable[web.StreamResponse]]

# Failed attempts an address may make a second; behind a proxy all clients share one.
_FAILURES_PER_SECOND = 5.0
# Each costs a look into the store. Beyond that, good tickets from this address wait too.
_STRANGE_TICKETS_PER_SECOND = 20.0
_ALLOWED_HEADERS = "Authorization, Content-Type, Idempotency-Key, Last-Event-ID"
_PREFLIGHT_SECONDS = "600"


class Door:
    """Lets in who presents a token of the settings, and keeps the others out alike.

    Calls are counted in this process alone.
    """

    def __init__(self, settings: ApiSettings, tickets: Tickets) -> None:
        self._tokens = settings.tokens
        self._origins = settings.origins
        self._tickets = tickets
        self._calls = Limits(settings.per_second)
        self._failures = Limits(_FAILURES_PER_SECOND)
        self._strange_tickets = Limits(_STRANGE_TICKETS_PER_SECOND)
        self._told = Seldom(_log)

    def opened(self, endpoint: Endpoint) -> Endpoint:
        """The endpoint with all that can go wrong answered as a problem document."""

        async def answer(request: web.Request) -> web.StreamResponse:
            try:
                response = await endpoint(request)
            except ApiProblem as problem:
                response = problem.response()
            except web.HTTPRequestEntityTooLarge:
                response = ApiProblem(413, "TooLarge", "a body has at most 1 MiB").response()
            except (web.RequestPayloadError, HttpProcessingError):
                detail = "the body cannot be read: its length or its chunks are wrong"
                response = ApiProblem(400, "InvalidBody", detail).response()
            except (StoreUnreachableError, SubscriptionLostError) as error:
                self._told.say(f"the hosted API waits for the store: {error}")
                response = _unavailable(request)
            except RequestUnansweredError as error:
                response = ApiProblem(
                    429, "TooManyOpen", error.reason, headers={"Retry-After": "5"}
                ).response()
            except UnreadableEventError:
                detail = "this request is of a kind that is not known here"
                response = ApiProblem(409, "UnknownKind", detail).response()
            except Exception as error:
                if isinstance(error, ConnectionError) and is_gone(request.transport):
                    raise  # the caller has gone: nobody is there to be answered
                # The trace only: a request may hold a token.
                _log.exception("the hosted API failed")
                response = ApiProblem(
                    500, "Failed", "this is a fault of the server; its log says why"
                ).response()
            if not response.prepared:
                response.headers.update(self.cors_headers(request))
            return response

        return answer

    def other_methods(self, methods: Sequence[str]) -> Endpoint:
        """The answer to other methods than these: a preflight's, or which there are."""
        allowed = ", ".join((*methods, "OPTIONS") if self._origins else methods)

        async def answer(request: web.Request) -> web.StreamResponse:
            asked = "Access-Control-Request-Method" in request.headers
            if request.method == "OPTIONS" and asked and self._lets_in(request):
                return web.Response(
                    status=204,
                    headers={
                        "Access-Control-Allow-Methods": ", ".join(methods),
                        "Access-Control-Allow-Headers": _ALLOWED_HEADERS,
                        "Access-Control-Max-Age": _PREFLIGHT_SECONDS,
                    },
                )
            detail = f"use {allowed} here"
            raise ApiProblem(405, "MethodNotAllowed", detail, headers={"Allow": allowed})

        return answer

    def cors_headers(self, request: web.Request) -> Mapping[str, str]:
        """What lets pages of the configured origins read the answer; nothing for the others."""
        if not self._lets_in(request):
            return {"Vary": "Origin"} if self._origins else {}
        return {
            "Access-Control-Allow-Origin": request.headers["Origin"],
            "Access-Control-Expose-Headers": "Location, Retry-After",
            "Vary": "Origin",
        }

    def _lets_in(self, request: web.Request) -> bool:
        return request.headers.get("Origin") in self._origins

    def caller(self, request: web.Request, run: RunRef) -> ApiToken:
        """Whose call it is.

        Raises:
            ApiProblem: no token, a wrong one, one for other agents, or too many calls.
        """
        token = find_token(self._tokens, _bearer(request))
        if token is None:
            raise self._refused(request)
        if wait := self._calls.wait(token.name):
            raise _too_many(wait)
        if not token.speaks_for(run.agent_id):
            # Whether there is such an agent makes no difference.
            detail = "this token does not speak for this agent"
            raise ApiProblem(403, "OtherAgent", detail)
        return token

    def count(self, token: ApiToken, more: int) -> None:
        """A call counts as so many more."""
        self._calls.count(token.name, more)

    async def reader(self, request: web.Request, run: RunRef) -> str:
        """Whose token or ticket lets the caller read the branch.

        Raises:
            ApiProblem: it may not.
            StoreUnreachableError: the ticket cannot be looked up.
        """
        ticket = request.query.get("ticket")
        if ticket is None or "Authorization" in request.headers:
            return self.caller(request, run).name
        unknown = "the ticket is unknown or has expired"
        if not is_ticket(ticket):
            raise self._refused(request, unknown)
        if wait := self._strange_tickets.would_wait(_address(request)):
            raise _too_many(wait)
        known = await self._tickets.read(ticket)
        if known is None or not self._still_speaks_for(known.token_name, run):
            self._strange_tickets.wait(_address(request))
            raise self._refused(request, unknown)
        if wait := self._calls.wait(known.token_name):
            raise _too_many(wait)
        if known.branch != branch_of(run):
            raise ApiProblem(403, "OtherBranch", "this ticket is for another branch")
        return known.token_name

    def _still_speaks_for(self, name: str, run: RunRef) -> bool:
        return any(token.name == name and token.speaks_for(run.agent_id) for token in self._tokens)

    def _refused(self, request: web.Request, detail: str = "") -> ApiProblem:
        what = "ticket" if detail else "token"
        self._told.say(f"a call of the hosted API has no {what} that is known", _address(request))
        if wait := self._failures.wait(_address(request)):
            return _too_many(wait)
        presented = "Authorization" in request.headers
        challenge = 'Bearer realm="sayso"' + (', error="invalid_token"' if presented else "")
        said = detail or (
            "this token is not known" if presented else "send the header Authorization: Bearer …"
        )
        return ApiProblem(401, "Unauthorized", said, headers={"WWW-Authenticate": challenge})


def _bearer(request: web.Request) -> str:
    sent = request.headers.getall("Authorization", [])
    if len(sent) != 1:
        return ""
    scheme, _, token = sent[0].strip().partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _address(request: web.Request) -> str:
    return source_of(request.remote or "")


def _too_many(wait: int) -> ApiProblem:
    detail = f"too many calls; come back in {wait} s"
    return ApiProblem(429, "TooManyCalls", detail, headers={"Retry-After": str(wait)})


def _unavailable(request: web.Request) -> web.Response:
    detail = "the store does not answer"
    if request.method != "GET":
        # Perhaps it did what it was told, and only its reply was lost.
        detail += (
            "; it is not known whether it was done: look with GET, or repeat it with the same id"
        )
    return ApiProblem(503, "StoreUnreachable", detail, headers={"Retry-After": "1"}).response()
