"""Several agents at once: their gates, their events as one stream, their answers."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Literal
from weakref import WeakSet

from sayso.agent.gate import Gate
from sayso.agent.listener import Events, Item, Listener
from sayso.agent.options import GateOptions
from sayso.agent.responding import Answering, Authority
from sayso.agent.timeouts import DEFAULT_PATIENCE_SECONDS, DEFAULT_TIMEOUT_SECONDS, Time, in_seconds
from sayso.always.offers import ALWAYS, ALWAYS_DENY
from sayso.always.terms import GrantOptions
from sayso.calls import RunRef
from sayso.clock import Clock, utc_now
from sayso.errors import (
    ConfigError,
    RequestNotFoundError,
    SubscriptionLostError,
)
from sayso.events import Event, Resolution, UserInputRequest, UserInputResponse
from sayso.forms.form_values import Inputs
from sayso.policy.chain import AdjustablePolicy
from sayso.policy.decision import Policy
from sayso.policy.permissions import Permissions
from sayso.policy.rule_policy import CallIds, RulePolicy
from sayso.questions.permission import ALLOW, DENY, PermissionRequestEvent
from sayso.questions.permission_answer import PermissionResponseEvent
from sayso.rules.rule import Rule
from sayso.stores.backend import Backend
from sayso.stores.branch_log import branch_of
from sayso.stores.connect import open_store
from sayso.stores.protocols import Record

LISTENING_SECONDS = 10.0
_KNOWN_EVENTS = 10_000
_KEYS = {
    (True, "ask"): ALLOW,
    (False, "ask"): DENY,
    (True, "always_allow"): ALWAYS,
    (False, "always_deny"): ALWAYS_DENY,
}

ResolveChoice = Literal["ask", "always_allow", "always_deny"]


@dataclass(slots=True, eq=False)
class _Agent:
    run: RunRef
    policy: AdjustablePolicy
    gate: Gate = field(init=False)
    listener: Listener = field(init=False)


class Orchestrator:
    """The gates of several agents on one backend. Open one with ``Orchestrator.open``.

    Agents are known by the ``agent_id`` of their runs, and one agent may be here
    in several sessions and branches: an id stands for all of them, a run for its
    branch alone. What a person decides in a chat and what ``resolve`` decides
    count alike: the first answer wins.
    """

    def __init__(
        self,
        backend: Backend,
        *,
        terms: GrantOptions | None = None,
        authority: Authority | None = None,
        clock: Clock = utc_now,
    ) -> None:
        self.backend = backend
        self._answering = Answering(
            backend, authority, terms or GrantOptions(), clock, overruled=self._overruled
        )
        self._clock = clock
        self._agents: dict[tuple[str, str, str], _Agent] = {}
        self._streams: WeakSet[Events] = WeakSet()
        self._told: OrderedDict[tuple[str, str], None] = OrderedDict()

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        store: str | Backend,
        *,
        terms: GrantOptions | None = None,
        authority: Authority | None = None,
        clock: Clock = utc_now,
    ) -> AsyncIterator[Orchestrator]:
        """An orchestrator on the store at a URL, or on a backend that is open already.

        ``terms`` say what an *always* of ``resolve`` may store, and for how long;
        ``authority`` says who may answer what.

        Raises:
            ConfigError: the URL is of no known kind.
        """
        async with AsyncExitStack() as stack:
            backend = store
            if isinstance(backend, str):
                backend = await stack.enter_async_context(open_store(backend))
            backend.inbox.home.check()
            orchestrator = cls(backend, terms=terms, authority=authority, clock=clock)
            stack.push_async_callback(orchestrator._finish)
            yield orchestrator

    def add(
        self,
        run: RunRef,
        *,
        policy: Policy | None = None,
        timeout: Time = DEFAULT_TIMEOUT_SECONDS,
        requested_by: str | None = None,
        audit_rules: bool = False,
        patience: Time = DEFAULT_PATIENCE_SECONDS,
    ) -> Gate:
        """The gate of one more agent, or of one in another session; its events are in the stream.

        Raises:
            ConfigError: this agent has been added already on this branch of its session.
        """
        self.backend.inbox.home.check()
        if branch_of(run) in self._agents:
            raise ConfigError(
                f"agent {run.agent_id!r} has been added already on branch {run.branch_id!r} of "
                f"session {run.session_id!r}; use the gate that it has, or remove it first"
            )
        adjustable = AdjustablePolicy(policy or RulePolicy())
        agent = _Agent(run, adjustable)
        tell = partial(self._tell, agent)
        options = GateOptions(
            run,
            adjustable,
            timeout,
            requested_by,
            self._clock,
            tell,
            audit_rules=audit_rules,
            patience=patience,
        )
        agent.gate = Gate(self.backend, options)
        agent.listener = Listener(self.backend.bus, run, tell=tell, lost=self._put)
        self._agents[branch_of(run)] = agent
        return agent.gate

    async def remove(self, agent: str | RunRef) -> None:
        """Take an agent out: the stream has no more events of it, and nothing is answered here.

        What it has asked stays open in the chats, and its gate goes on with
        the rules it has; an agent of the same id can be added again.

        Raises:
            RequestNotFoundError: there is no such agent here.
        """
        self.backend.inbox.home.check()
        for one in self._named(agent):
            del self._agents[branch_of(one.run)]
            await self._end(one)

    async def listening(self, *, timeout: Time = LISTENING_SECONDS) -> None:
        """Wait until events of other processes are heard, for all agents there are now.

        What the gates of this orchestrator ask is in the stream from the start.

        Raises:
            SubscriptionLostError: some are not heard when ``timeout`` is over; trying goes on,
                unless it names an ``agent_id``: then remove that agent and add it again.
        """
        self.backend.inbox.home.check()
        listeners = [agent.listener for agent in self._agents.values()]
        try:
            async with asyncio.timeout(in_seconds(timeout)):
                for listener in listeners:
                    await listener.ready()
        except TimeoutError:
            deaf = [listener for listener in listeners if not listener.is_ready]
            if deaf:
                names = ", ".join(sorted({repr(listener.agent_id) for listener in deaf}))
                raise SubscriptionLostError(
                    f"events of other processes are not heard for {names}: {deaf[0].why_not}; "
                    "still trying"
                ) from None

    def events(self) -> Events:
        """One stream of what all agents ask and how it ends: ``(agent_id, event)``.

        It begins with this call. Two streams each have every event.
        """
        events = Events(self.backend.inbox.home)
        self._streams.add(events)
        for agent in self._agents.values():
            if agent.listener.broken is not None:
                events.put(agent.listener.broken)
        return events

    async def resolve(
        self,
        permission_id: str,
        *,
        approved: bool,
        by: str,
        reason: str = "",
        choice: ResolveChoice = "ask",
    ) -> UserInputResponse:
        """Answer a permission request of one of the agents, as a press in a chat would.

        Where there is no authority, the caller has made sure that ``by`` may decide.

        Raises:
            RequestNotFoundError: no agent here has asked this.
            NotApproverError: ``by`` may not answer it so.
            AlreadyResolvedError: it was answered before, has ended by itself, or a rule denies
                the call and that was recorded.
            StoreUnreachableError: the store does not answer; nothing was decided.
            ValueError: ``choice`` contradicts ``approved``, or may not be stored.
        """
        key = _KEYS.get((approved, choice))
        if key is None:
            raise ValueError(f"approved={approved} and choice={choice!r} contradict each other")
        record = await self._record(permission_id)
        if not isinstance(record.request, PermissionRequestEvent):
            raise RequestNotFoundError(permission_id)
        answer = await self._answering.choose(record, key, by=by, reason=reason)
        return self._told_of(record, answer)

    async def choose(
        self,
        question_id: str,
        key: str,
        *,
        by: str,
        reason: str = "",
        inputs: Inputs | None = None,
    ) -> UserInputResponse:
        """Answer any request of one of the agents by a choice on its card: ``continue-5``.

        ``inputs`` are the values of the choice's form, by the names of its
        fields: ``choose(id, "other", by=…, inputs={"answer": "blue"})``.

        Raises:
            RequestNotFoundError: no agent here has asked this.
            NotApproverError: ``by`` may not answer it so.
            AlreadyResolvedError: it was answered before, has ended by itself, or a rule denies
                the call and that was recorded.
            StoreUnreachableError: the store does not answer; nothing was decided.
            InvalidInputError: some of the inputs do not fit.
            ValueError: the card has no such choice, or the choice needs inputs.
        """
        record = await self._record(question_id)
        answer = await self._answering.choose(record, key, by=by, reason=reason, inputs=inputs)
        return self._told_of(record, answer)

    async def respond(self, response: UserInputResponse) -> UserInputResponse:
        """Give an answer to a request of one of the agents; see ``Responder.respond``.

        Raises:
            ConfigError: there is no authority that says who may answer.
            RequestNotFoundError: no agent here has asked this.
            NotApproverError, AlreadyResolvedError: as for ``Responder.respond``.
            StoreUnreachableError, InvalidInputError, ValueError: likewise.
        """
        record = await self._record(response.question_id)
        return self._told_of(record, await self._answering.respond(record, response))

    def permissions_of(self, agent: str | RunRef) -> Permissions:
        """The rules of the agent as they are now: those it was given, then those on top.

        It was given those of its ``RulePolicy``, also in a ``Chain``; what another policy
        decides by is not known.

        Raises:
            RequestNotFoundError: there is no such agent here.
            ConfigError: it has several sessions here with different rules; name one by its run.
        """
        first, *others = (one.policy.permissions for one in self._named(agent))
        if any(other != first for other in others):
            raise ConfigError(
                f"agent {agent!r} has sessions here with different permissions: "
                "name one of them by its RunRef"
            )
        return first

    def update_permissions(
        self,
        agent: str | RunRef,
        *,
        allow: Sequence[Rule] | None = None,
        allow_once: Sequence[Rule] | None = None,
        deny: Sequence[Rule] | None = None,
        denied_call_ids: CallIds | None = None,
    ) -> None:
        """Replace those of the rules on top that are named; from its next check on they count.

        The rules that its policy was given stay. Questions that are open already stay open:
        what the rules deny by then is denied, whoever approves it.
        In each session a rule of ``allow_once`` allows once.

        Raises:
            RequestNotFoundError: there is no such agent here.
        """
        for one in self._named(agent):
            one.policy.update(
                allow=allow, allow_once=allow_once, deny=deny, denied_call_ids=denied_call_ids
            )

    async def _overruled(
        self, request: UserInputRequest, response: UserInputResponse
    ) -> UserInputResponse | None:
        """The denial by the agent itself, which is here and may have other rules by now."""
        agent = self._asker(request.run)
        match request, response:
            case PermissionRequestEvent(), PermissionResponseEvent() if agent is not None:
                return await agent.gate.overruled(request, response)
        return None

    def _told_of(self, record: Record, answer: UserInputResponse) -> UserInputResponse:
        if (agent := self._asker(record.request.run)) is not None:
            self._tell(agent, answer.observed)
        return answer

    async def _record(self, question_id: str) -> Record:
        record = await self.backend.store.get(question_id)
        if record is None:
            raise RequestNotFoundError(question_id)
        # Another session's request is none of ours, even if somebody has learnt its id.
        if self._asker(record.request.run) is None:
            raise RequestNotFoundError(question_id)
        return record

    def _named(self, agent: str | RunRef) -> list[_Agent]:
        if isinstance(agent, str):
            found = [one for one in self._agents.values() if one.run.agent_id == agent]
        else:
            found = [self._agents[key] for key in (branch_of(agent),) if key in self._agents]
        if not found:
            agent_id = agent if isinstance(agent, str) else agent.agent_id
            known = sorted({one.run.agent_id for one in self._agents.values()})
            raise RequestNotFoundError.for_agent(agent_id, known)
        return found

    def _asker(self, run: RunRef) -> _Agent | None:
        """The agent here that a request of this run is of: on its branch, else in its session."""
        session = (run.agent_id, run.session_id)
        there = (one for key, one in self._agents.items() if key[:2] == session)
        return self._agents.get(branch_of(run)) or next(there, None)

    def _tell(self, agent: _Agent, event: Event) -> None:
        """Tell the streams, unless they have heard it: from the gate, from us, from the bus."""
        if self._agents.get(branch_of(agent.run)) is not agent:
            return
        if (mark := _mark(event)) is not None:
            if mark in self._told:
                return
            self._told[mark] = None
            if len(self._told) > _KNOWN_EVENTS:
                self._told.popitem(last=False)
        self._put((agent.run.agent_id, event))

    def _put(self, item: Item) -> None:
        for stream in self._streams:
            stream.put(item)

    async def _finish(self) -> None:
        for agent in list(self._agents.values()):
            await self._end(agent)
        self._put(None)

    async def _end(self, agent: _Agent) -> None:
        await agent.listener.stop()
        await agent.gate.finish()


def _mark(event: Event) -> tuple[str, str] | None:
    if isinstance(event, UserInputRequest | Resolution):
        return type(event).__name__, event.question_id
    question_id = getattr(event, "permission_id", None)
    return None if question_id is None else (type(event).__name__, question_id)
