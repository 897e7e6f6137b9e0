"""Answers from code: with the authority, and in the one step, of a press in a chat."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from sayso.actors import is_actor
from sayso.agent.choices import answer_to, chosen
from sayso.always.terms import GrantOptions
from sayso.clock import Clock, utc_now
from sayso.errors import (
    AlreadyResolvedError,
    ConfigError,
    NotApproverError,
    RequestNotFoundError,
)
from sayso.events import Outcome, Resolution, UserInputRequest, UserInputResponse
from sayso.forms.form_values import Inputs
from sayso.questions.large import beside
from sayso.rules.rule import RememberedRule
from sayso.stores.audit import RefusalKind
from sayso.stores.backend import Backend
from sayso.stores.protocols import Record


class Allows(Protocol):
    """What an actor may do about one request, and why no more than that."""

    @property
    def refusal(self) -> RefusalKind:
        """Why the actor may not end it as they want, for the audit."""
        ...

    def allows(self, ending: Resolution) -> bool:
        """Whether the actor may end the request with this."""
        ...


class Authority(Protocol):
    """Says who may answer what, for presses and code alike: ``sayso.worker.Approvers`` is one."""

    async def standing(self, actor: str, request: UserInputRequest) -> Allows:
        """What the actor may do about the request, now."""
        ...


Overruled = Callable[[UserInputRequest, UserInputResponse], Awaitable[UserInputResponse | None]]


class Answering:
    """Answers requests whose records are known, as whoever the ``authority`` lets.

    Without an authority the caller has made sure of who answers, except that
    nobody approves what they asked for. ``overruled`` gives the denial of what
    only the agent denies, where the agent is here.
    """

    def __init__(
        self,
        backend: Backend,
        authority: Authority | None,
        terms: GrantOptions,
        clock: Clock,
        *,
        overruled: Overruled | None = None,
    ) -> None:
        self._overruled = overruled
        self._backend = backend
        self._authority = authority
        self._terms = terms
        self._clock = clock

    async def choose(
        self, record: Record, key: str, *, by: str, reason: str = "", inputs: Inputs | None = None
    ) -> UserInputResponse:
        """Answer by a choice on the request's card."""
        if record.ending is not None:
            raise settled_before(record.ending)
        request, now = record.request, self._clock()
        response, rule = await beside(
            request,
            lambda: chosen(request, key, by=by, at=now, terms=self._terms, inputs=inputs),
        )
        if reason:
            response = response.model_copy(update={"reason": reason})
        await self._admit(request, response, by)
        return await self._settle(request, response, rule)

    async def respond(self, record: Record, response: UserInputResponse) -> UserInputResponse:
        """Answer by a response, which says who gives it."""
        if self._authority is None:
            raise ConfigError(
                "nobody has said who may answer: give Orchestrator.open an authority, "
                "such as sayso.worker.Approvers(routes, {})"
            )
        if response.decided_by is None:
            raise ValueError("the response does not say who gives it: decided_by is missing")
        await self._admit(record.request, response, response.decided_by)
        if record.ending is not None:
            raise settled_before(record.ending)
        request, now = record.request, self._clock()
        built, rule = await beside(
            request, lambda: answer_to(request, response, at=now, terms=self._terms)
        )
        return await self._settle(request, built, rule)

    async def _admit(self, request: UserInputRequest, response: UserInputResponse, by: str) -> None:
        why: RefusalKind = "own_request"
        if self._authority is None:
            asked = (
                not is_actor(asker) or asker.casefold() == by.casefold() for asker in request.askers
            )
            allowed = not any(asked) or response.outcome is not Outcome.APPROVED
        else:
            standing = await self._authority.standing(by, request)
            allowed, why = standing.allows(response), standing.refusal
        if allowed:
            return
        chose = response.chosen or response.outcome.value
        await self._backend.audit.refuse(request.question_id, why, by=by, place="", choice=chose)
        raise NotApproverError(request.question_id, by)

    async def _settle(
        self, request: UserInputRequest, response: UserInputResponse, rule: RememberedRule | None
    ) -> UserInputResponse:
        store, question_id = self._backend.store, request.question_id
        denial = None
        if self._overruled is not None and response.approves_a_call:
            denial = await self._overruled(request, response)
        if denial is None:
            settled = await store.settle(question_id, response, remember=rule)
        else:
            settled = await store.settle(question_id, denial)
        if settled.forbidden or (settled.first and denial is not None):
            raise AlreadyResolvedError.for_denial(question_id, settled.ending.reason)
        if not settled.first:
            raise settled_before(settled.ending)
        return response


class Responder:
    """Answers any request in a store from code, for an application's own page or command.

    It has the authority of a press and takes the same step: whoever is no
    approver is refused, what a rule forbids is recorded as denied, and cards,
    observers and the agent hear of the answer as of any other. ``terms`` say
    what an *always* may store, and for how long.
    """

    def __init__(
        self,
        backend: Backend,
        authority: Authority,
        *,
        terms: GrantOptions | None = None,
        clock: Clock = utc_now,
    ) -> None:
        self._store = backend.store
        self._answering = Answering(backend, authority, terms or GrantOptions(), clock)

    async def respond(self, response: UserInputResponse) -> UserInputResponse:
        """Give an answer, such as ``request.approve(by="chat:alice")``; what was recorded.

        Raises:
            RequestNotFoundError: no such request.
            NotApproverError: ``decided_by`` may not answer it so.
            AlreadyResolvedError: it was answered before, has ended by itself, or a rule denies
                the call and that was recorded.
            StoreUnreachableError: the store does not answer; nothing was decided.
            InvalidInputError: what was filled in does not fit.
            ValueError: no person could have answered so, or the response does not say who did.
        """
        return await self._answering.respond(await self._record(response.question_id), response)

    async def choose(
        self,
        question_id: str,
        key: str,
        *,
        by: str,
        reason: str = "",
        inputs: Inputs | None = None,
    ) -> UserInputResponse:
        """Answer by a choice on the card; ``inputs`` are the values of its form by their names.

        Raises:
            ValueError: the card has no such choice, or the choice needs inputs.
            RequestNotFoundError, NotApproverError, AlreadyResolvedError: as for ``respond``.
            StoreUnreachableError, InvalidInputError: likewise.
        """
        record = await self._record(question_id)
        return await self._answering.choose(record, key, by=by, reason=reason, inputs=inputs)

    async def _record(self, question_id: str) -> Record:
        record = await self._store.get(question_id)
        if record is None:
            raise RequestNotFoundError(question_id)
        return record


def settled_before(ending: Resolution) -> AlreadyResolvedError:
    """The error that a late answer meets."""
    return AlreadyResolvedError(ending.question_id, ending.outcome.value, ending.decided_by)
