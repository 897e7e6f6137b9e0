"""Asking: one request, or several that belong together, each of them once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from aiohttp import web

from sayso.agent.patience import Patience
from sayso.agent.timeouts import DEFAULT_TIMEOUT_SECONDS
from sayso.calls import RunRef
from sayso.clock import Clock
from sayso.errors import IdempotencyConflictError, RequestNotFoundError, SaysoError
from sayso.events import UserInputRequest
from sayso.policy.server_policy import ServerPolicy
from sayso.stores.backend import Backend
from sayso.stores.branch_log import branch_of
from sayso.stores.protocols import LONGEST_KEY, Joined, Record
from sayso.tasks import Background
from sayso.worker.routing import Routes
from sayso_bots.api.bodies import beside, read_body
from sayso_bots.api.policy import HEADER, AskedOnce, key_of, opened_or_decided
from sayso_bots.api.problems import ApiProblem, Wrong, all_of, invalid, pointer
from sayso_bots.api.replies import record_reply, records_reply
from sayso_bots.api.requests import Draft
from sayso_bots.config.api_tokens import ApiToken

_log = logging.getLogger(__name__)

_Item = TypeVar("_Item")
_Done = TypeVar("_Done")

MOST_TOGETHER = 32
"""How many requests a batch has at most."""
TOGETHER = "requests"
"""The field of a body that makes it a batch."""
_WITHDRAWING_SECONDS = 60.0
_NOT_TOGETHER = "the batch that it belongs to could not be asked"


@dataclass(frozen=True, slots=True)
class _Said:
    """What is known of a request once it was asked; ``new`` ones wait for a person from now on."""

    record: Record
    new: bool = False


class Asking:
    """``POST …/requests``: what was asked before is told again, what a rule decides is over."""

    def __init__(
        self,
        backend: Backend,
        routes: Routes,
        policy: ServerPolicy,
        clock: Clock,
        background: Background,
    ) -> None:
        self._backend = backend
        self._routes = routes
        self._policy = policy
        self._once = AskedOnce(backend, policy, clock)
        self._clock = clock
        self._background = background

    async def ask(
        self,
        request: web.Request,
        token: ApiToken,
        run: RunRef,
        count: Callable[[int], None],
    ) -> web.StreamResponse:
        """Ask what the body says; ``count`` is told how many requests there are beyond the first.

        Raises:
            ApiProblem: something is wrong with the body, and nothing was asked.
            StoreUnreachableError: the store does not answer.
        """
        body, key = await read_body(request), key_of(request)
        if TOGETHER not in body or "type" in body:
            draft = Draft(body, run, token.actor, self._clock())
            return await self._one(request, draft, run, key)
        bodies = _bodies(body)
        count(len(bodies) - 1)
        batch = _Batch(self, request, run, _keys(key, len(bodies)))
        said = await batch.ask(bodies, token.actor)
        status = 201 if any(one.new for one in said) else 200
        return await beside(request, partial(records_reply, [one.record for one in said], status))

    async def _one(
        self, request: web.Request, draft: Draft, run: RunRef, key: str
    ) -> web.StreamResponse:
        said = await self.known(request, draft, run, key)
        if said is None:
            asked = await beside(request, partial(self.complete, draft))
            said = await self.opened(request, draft, asked, run, key)
        if not said.new:
            return await beside(request, partial(record_reply, said.record, 200))
        location = f"{request.rel_url.raw_path}/{draft.question_id}"
        return await beside(request, partial(record_reply, said.record, 201, location=location))

    async def known(
        self, request: web.Request, draft: Draft, run: RunRef, key: str
    ) -> _Said | None:
        """What was asked before, under this key or id; None where nothing was.

        Raises:
            ApiProblem: something else was.
        """
        if key and (record := await self._once.find(request, run, key, draft)):
            return _Said(record)
        if draft.has_id and (record := await self._backend.store.get(draft.question_id)):
            return await beside(request, partial(_repeated, draft, record, run))
        return None

    def complete(self, draft: Draft) -> UserInputRequest:
        """The request of a draft, with all that it needs.

        Raises:
            ApiProblem: it is not one.
        """
        asked = draft.request(self._seconds)
        asker = asked.requested_by
        if asker is not None and not self._routes.is_account(asker):
            why = f"{asker!r} cannot be an account there; write its id"
            raise invalid(Wrong("/requestedBy", why))
        return asked

    async def opened(
        self, request: web.Request, draft: Draft, asked: UserInputRequest, run: RunRef, key: str
    ) -> _Said:
        """The request as it was opened, decided at once, or asked by somebody who was quicker.

        Raises:
            ApiProblem: somebody was quicker with another request.
        """
        try:
            said = await opened_or_decided(self._backend, self._policy, asked, self._clock, key=key)
        except IdempotencyConflictError:
            # Somebody else was quicker with the same id, perhaps this same call.
            if known := await self._backend.store.get(draft.question_id):
                return await beside(request, partial(_repeated, draft, known, run))
            raise
        if isinstance(said, Joined):
            # Somebody else was quicker with the same key: once more, to see what they asked.
            return await self.known(request, draft, run, key) or await self.opened(
                request, draft, asked, run, key
            )
        # By the store's clock, as whoever repeats the call is told.
        record = await self._backend.store.get(draft.question_id) or Record(asked, said)
        return _Said(record, new=said is None)

    async def withdraw(self, opened: Sequence[UserInputRequest]) -> None:
        """End requests of a batch of which another could not be asked, when the store is there."""
        patience = Patience(_WITHDRAWING_SECONDS, self._backend.inbox.troubles)
        for asked in opened:
            ending = asked.cancelled(at=self._clock(), reason=_NOT_TOGETHER, by=asked.filed_by)
            settle = partial(self._backend.store.settle, asked.question_id, ending)
            try:
                await patience(settle)
            except RequestNotFoundError:
                continue  # it was not asked after all
            except SaysoError as error:
                _log.warning("a request of a batch stays open until it expires: %s", error)

    def withdraw_later(self, opened: Sequence[UserInputRequest]) -> None:
        """The same, while nobody waits for it."""
        self._background.start(self.withdraw(opened))

    def draft(self, body: Mapping[str, Any], run: RunRef, actor: str) -> Draft:
        """A body as it is read now."""
        return Draft(body, run, actor, self._clock())

    def _seconds(self, request: UserInputRequest, wanted: float | None) -> float:
        """How long a request lives: as long as it wants and its route lets it."""
        route = self._routes.find(request)
        most = None if route is None else route.seconds
        seconds = (most or DEFAULT_TIMEOUT_SECONDS) if wanted is None else wanted
        return seconds if most is None else min(seconds, most)


class _Batch:
    """Several requests of one run: all of them are asked, or none."""

    def __init__(
        self, asking: Asking, request: web.Request, run: RunRef, keys: Sequence[str]
    ) -> None:
        self._asking = asking
        self._request = request
        self._run = run
        self._keys = keys

    async def ask(self, bodies: Sequence[Mapping[str, Any]], actor: str) -> list[_Said]:
        """What became of each of them, in order.

        Raises:
            ApiProblem: with something wrong in one of them nothing is asked.
        """
        drafts = await self._each(bodies, lambda body: self._asking.draft(body, self._run, actor))
        _check_ids(drafts)
        known: list[_Said | None] = []
        wrong: list[ApiProblem] = []
        for number, (draft, key) in enumerate(zip(drafts, self._keys, strict=True)):
            try:
                known.append(await self._asking.known(self._request, draft, self._run, key))
            except ApiProblem as problem:
                wrong.append(problem.within(TOGETHER, number))
        if wrong:
            raise all_of(wrong)
        if there := next((one for one in known if one is not None), None):
            # The others belong on the card of those that were asked before.
            self._run = replace(self._run, run_id=there.record.request.run.run_id)
            for draft in drafts:
                draft.join(self._run)
        asked = await self._each(
            list(zip(drafts, known, strict=True)),
            lambda one: one[1].record.request if one[1] else self._asking.complete(one[0]),
        )
        _check_run(asked)
        return await self._open(drafts, known, asked)

    async def _each(self, items: Sequence[_Item], work: Callable[[_Item], _Done]) -> list[_Done]:
        """What comes of the work on each item; all that is wrong with them is told together."""
        return await beside(self._request, partial(_of_each, items, work))

    async def _open(
        self,
        drafts: Sequence[Draft],
        known: Sequence[_Said | None],
        asked: Sequence[UserInputRequest],
    ) -> list[_Said]:
        said: list[_Said] = []
        for number, (draft, before) in enumerate(zip(drafts, known, strict=True)):
            if before is not None:
                said.append(before)
                continue
            try:
                opened = await self._asking.opened(
                    self._request, draft, asked[number], self._run, self._keys[number]
                )
            except ApiProblem as problem:
                await self._asking.withdraw(_new(said))
                raise problem.within(TOGETHER, number) from None
            except BaseException:
                # Who named them repeats the call, and finds those that were asked.
                if not all(key or one.has_id for key, one in zip(self._keys, drafts, strict=True)):
                    self._asking.withdraw_later([*_new(said), asked[number]])
                raise
            said.append(opened)
        return said


def _new(said: Sequence[_Said]) -> list[UserInputRequest]:
    return [one.record.request for one in said if one.new]


def _of_each(items: Sequence[_Item], work: Callable[[_Item], _Done]) -> list[_Done]:
    done: list[_Done] = []
    wrong: list[ApiProblem] = []
    for number, item in enumerate(items):
        try:
            done.append(work(item))
        except ApiProblem as problem:
            wrong.append(problem.within(TOGETHER, number))
    if wrong:
        raise all_of(wrong)
    return done


def _bodies(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    strangers = [
        Wrong(pointer(name), "is not a field of a batch") for name in body.keys() - {TOGETHER}
    ]
    if strangers:
        raise invalid(*sorted(strangers, key=lambda wrong: wrong.pointer))
    bodies = body[TOGETHER]
    if not isinstance(bodies, list) or not 1 <= len(bodies) <= MOST_TOGETHER:
        raise invalid(Wrong(pointer(TOGETHER), f"must be a list of 1 to {MOST_TOGETHER} requests"))
    if wrong := [
        Wrong(pointer(TOGETHER, number), "must be an object")
        for number, one in enumerate(bodies)
        if not isinstance(one, dict)
    ]:
        raise invalid(*wrong)
    return bodies


def _keys(key: str, count: int) -> list[str]:
    """The keys that the requests of a batch are asked under: its own, and their places."""
    keys = [f"{key}/{number}" if key else "" for number in range(1, count + 1)]
    if len(keys[-1]) > LONGEST_KEY:
        most = LONGEST_KEY - len(keys[-1]) + len(key)
        detail = f"{HEADER}: that of a batch has at most {most:,} characters"
        raise ApiProblem(400, "InvalidIdempotencyKey", detail)
    return keys


def _check_ids(drafts: Sequence[Draft]) -> None:
    seen: set[str] = set()
    wrong: list[Wrong] = []
    for number, draft in enumerate(drafts):
        if draft.question_id in seen:
            where = pointer(TOGETHER, number, draft.kind.id_name)
            wrong.append(Wrong(where, "is that of another request of the batch"))
        seen.add(draft.question_id)
    if wrong:
        raise invalid(*wrong)


def _check_run(asked: Sequence[UserInputRequest]) -> None:
    if wrong := [
        Wrong(pointer(TOGETHER, number, "run", "runId"), "must be that of the first request")
        for number, one in enumerate(asked)
        if one.run.run_id != asked[0].run.run_id
    ]:
        raise invalid(*wrong)


def _repeated(draft: Draft, known: Record, run: RunRef) -> _Said:
    same = branch_of(known.request.run) == branch_of(run) and draft.is_repeated_by(known.request)
    if not same:
        detail = "another request has this id; leave the id out or use a new random one"
        where = pointer(draft.kind.id_name)
        raise ApiProblem(409, "DuplicateRequest", detail, errors=(Wrong(where, "is taken"),))
    return _Said(known)
