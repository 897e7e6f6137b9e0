"""Who may come in, how often, and how every call is answered: each with an id of its own."""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Sequence
from uuid import uuid4

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from sayso.errors import (
    BusLostError,
    StoreUnreachableError,
    TooManyOpenError,
    UnreadableEventError,
)
from sayso.seldom import Seldom
from sayso_bots.aap.bodies import bearer
from sayso_bots.aap.credentials import is_token_of
from sayso_bots.aap.errors import AapError, too_many
from sayso_bots.aap.instances import Instance, Instances
from sayso_bots.api.limits import Limits
from sayso_bots.api.problems import ApiProblem
from sayso_bots.process.sources import is_gone, source_of
from sayso_bots.settings.aap import AapSettings, Provisioner
from sayso_bots.settings.tokens import SHORTEST_TOKEN

_log = logging.getLogger(__name__)

Endpoint = Callable[[web.Request], Awaitable[web.Response]]

REQUEST_ID = "X-Request-ID"

# Failed attempts an address may make a second; behind a proxy all clients share one.
_FAILURES_PER_SECOND = 5.0
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


class Door:
    """Lets in who has a token of the kind that a call needs. Calls are counted in this process."""

    def __init__(self, settings: AapSettings, instances: Instances) -> None:
        limits = settings.limits
        self._provisioners = settings.provisioners
        self._instances = instances
        self._calls = Limits(limits.per_second)
        self._provisioning = Limits(limits.provisioner_per_second)
        self._asking = Limits(limits.requests_per_second)
        self._failures = Limits(_FAILURES_PER_SECOND)
        self._told = Seldom(_log)

    def opened(self, endpoint: Endpoint) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        """The endpoint with all that can go wrong answered as the protocol wants it."""

        async def answer(request: web.Request) -> web.StreamResponse:
            call_id = str(uuid4())
            try:
                response = await endpoint(request)
            except Exception as error:
                if isinstance(error, ConnectionError) and is_gone(request.transport):
                    raise  # the caller has gone: nobody is there to be answered
                response = self._error(error).response(call_id)
            response.headers[REQUEST_ID] = call_id
            return response

        return answer

    async def instance(self, request: web.Request) -> Instance:
        """Whose call it is, of those that adapters make.

        Raises:
            AapError: no token, a wrong one, one of a provisioner, or too many calls.
        """
        token = _presented(request)
        instance = await self._instances.behind(token)
        if instance is None:
            if self._provisioner(token) is not None:
                raise _other_kind("an instance")
            raise self._refused(request, token)
        if wait := self._calls.wait(instance.id):
            raise too_many(wait)
        return instance

    def asks(self, instance: Instance) -> None:
        """See that the instance does not ask too often.

        Raises:
            AapError: it does.
        """
        if wait := self._asking.wait(instance.id):
            raise too_many(wait)

    async def provisioner(self, request: web.Request) -> Provisioner:
        """Who makes or changes an instance.

        Raises:
            AapError: no token, a wrong one, one of an instance, or too many calls.
        """
        token = _presented(request)
        provisioner = self._provisioner(token)
        if provisioner is None:
            if await self._instances.behind(token) is not None:
                raise _other_kind("a provisioner")
            raise self._refused(request, token)
        if wait := self._provisioning.wait(provisioner.name):
            raise too_many(wait)
        return provisioner

    def other_methods(self, methods: Sequence[str]) -> Endpoint:
        """The answer to other methods than these."""

        async def answer(_: web.Request) -> web.Response:
            allowed = ", ".join(methods)
            message = f"use {allowed} here"
            raise AapError(405, "method_not_allowed", message, headers={"Allow": allowed})

        return answer

    def _provisioner(self, token: str) -> Provisioner | None:
        found = None
        for one in self._provisioners:
            if is_token_of(token, one.sha256) and len(token) >= SHORTEST_TOKEN:
                found = one
        return found

    def _refused(self, request: web.Request, token: str) -> AapError:
        address = source_of(request.remote or "")
        self._told.say("a call of the approval protocol has no token that is known", address)
        if wait := self._failures.wait(address):
            return too_many(wait)
        code = "invalid_token" if token else "missing_token"
        said = "this token is not known, or revoked" if token else "send Authorization: Bearer …"
        challenge = {"WWW-Authenticate": 'Bearer realm="sayso"'}
        return AapError(401, code, said, headers=challenge)

    def _error(self, error: Exception) -> AapError:
        match error:
            case AapError():
                return error
            case web.HTTPRequestEntityTooLarge():
                return AapError(400, "request_too_large", "a body has at most 1 MiB")
            case web.RequestPayloadError() | HttpProcessingError() | ApiProblem():
                message = "the body cannot be read: its length, its chunks or its time are wrong"
                return AapError(400, "invalid_body", message)
            case TooManyOpenError():
                return AapError(429, "too_many_open", str(error), headers={"Retry-After": "5"})
            case StoreUnreachableError() | BusLostError():
                self._told.say(f"the approval protocol waits for the store: {error}")
                cell = getattr(error, "cell", "")
                message = (
                    f"{f'cell {cell} of the store' if cell else 'the store'} does not answer; try "
                    "again with the same Idempotency-Key"
                )
                return AapError(503, "store_unreachable", message, headers={"Retry-After": "1"})
            case UnreadableEventError():
                return no_such_request()
        # The trace only: a call holds a token.
        _log.error("the approval protocol failed", exc_info=error)
        message = "this is a fault of the server; its log says why"
        return AapError(500, "internal_error", message)


def no_such_request() -> AapError:
    """There is none, or it is another's: whoever asks learns no more."""
    return AapError(404, "request_not_found", "there is no such request")


def id_in(request: web.Request) -> str:
    """The id in the address, in the one way that we write it; empty where it is not one."""
    given = request.match_info["id"]
    return given.lower() if _UUID.fullmatch(given) else ""


async def nowhere(_: web.Request) -> web.Response:
    """The answer where there is nothing."""
    raise AapError(404, "unknown_endpoint", "there is no such endpoint")


def _presented(request: web.Request) -> str:
    token = bearer(request)
    return token if token.isascii() else "?"


def _other_kind(wanted: str) -> AapError:
    return AapError(403, "wrong_token", f"this call needs the token of {wanted}")
