"""The provider alone, on a store in memory whose clock is moved by hand."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import aiohttp
from support.aap_world import PROVISIONER, SECRET, AapWorld

from sayso.chats.places import Place
from sayso.desk.routes import Route, Routes
from sayso.policy.server_policy import ServerPolicy
from sayso.questions.permission import PermissionRequestEvent
from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend
from sayso.testing import StoppedClock
from sayso_bots.aap.errors import AapError
from sayso_bots.aap.instances import Delivery, Instance
from sayso_bots.aap.provider import Provider
from sayso_bots.server.webserver import answering, taken_port, url_of
from sayso_bots.settings.aap import AapLimits, AapSettings, Provisioner
from sayso_bots.settings.tokens import token_hash
from sayso_playground import Playground

ROUTES = Routes([Route((Place.parse("slack:C0OPS"),), approvers=("slack:U0ALICE",))])
MANY = AapLimits(per_second=10_000, requests_per_second=10_000, provisioner_per_second=10_000)


@dataclass
class NotedNotifier:
    """Takes every delivery, and notes what it was told."""

    ended_ids: list[str] = field(default_factory=list)
    checks: list[dict[str, Any]] = field(default_factory=list)
    refuses: AapError | None = None
    replaced_ids: list[str] = field(default_factory=list)
    breaks_on: str = ""

    async def checked(
        self, given: dict[str, Any], *, instance_id: str, since: datetime
    ) -> Delivery:
        """The delivery, unless it is to be refused."""
        self.checks.append(given)
        if self.refuses is not None:
            raise self.refuses
        return Delivery(given["type"], given["url"], given["registration_id"], "", since)

    async def ended(self, instance: Instance, request_id: str, at: datetime) -> None:
        """Note it, or break."""
        if request_id == self.breaks_on:
            raise KeyError(request_id)
        self.ended_ids.append(request_id)

    async def replaced(self, instance: Instance) -> None:
        """Note it."""
        self.replaced_ids.append(instance.id)


@dataclass
class AapRoom(AapWorld):
    """The provider, its clock, and a client."""

    clock: StoppedClock = field(default_factory=StoppedClock)
    provider: Provider | None = None
    notifier: NotedNotifier = field(default_factory=NotedNotifier)

    async def settled(self, request_id: str, *, approved: bool = True) -> str:
        """Let somebody answer; how the request has ended."""
        record = await self.backend.store.get(request_id)
        assert record is not None
        asked = record.request
        assert isinstance(asked, PermissionRequestEvent)
        give = asked.approve if approved else asked.deny
        answer = give(by="slack:U0ALICE", at=self.clock())
        return (await self.backend.store.settle(request_id, answer)).ending.outcome.value

    async def afterwards(self) -> None:
        """Do what follows on decisions, as far as it is due."""
        assert self.provider is not None
        await self.provider.afterwards.once()


def settings(limits: AapLimits = MANY, agents: str = "", **more: Any) -> AapSettings:
    """The provider's settings, with one provisioner."""
    provisioners = (Provisioner("fleet", token_hash(PROVISIONER), agents),)
    return AapSettings(SECRET.encode(), provisioners, limits=limits, **more)


@asynccontextmanager
async def aap_room(
    given: AapSettings | None = None,
    *,
    policy: ServerPolicy | None = None,
    backend: Backend | None = None,
    clock: StoppedClock | None = None,
    routes: Routes = ROUTES,
) -> AsyncIterator[AapRoom]:
    """The provider while the block runs, with an instance that a client speaks for."""
    clock = clock or StoppedClock(datetime(2026, 11, 22, 12, tzinfo=UTC))
    notifier = NotedNotifier()
    async with memory_backend(clock=clock) as own:
        used = backend or own
        provider = Provider(
            given or settings(),
            used,
            routes,
            policy or ServerPolicy(),
            notifier=notifier,
            clock=clock,
        )
        with taken_port("127.0.0.1", 0) as sockets:
            async with answering(sockets, provider.routes()), aiohttp.ClientSession() as session:
                room = AapRoom(
                    url_of(sockets),
                    Playground(),
                    session,
                    used,
                    clock=clock,
                    provider=provider,
                    notifier=notifier,
                )
                made = await room.provision()
                room.token = made["credential"]["token"]
                room.instance_id = made["instance"]["id"]
                yield room
                provider.end()


MINUTE = timedelta(minutes=1)


def a_delivery(**more: Any) -> dict[str, Any]:
    """A delivery as a provisioner writes it."""
    return {
        "type": "webhook",
        "url": "https://receiver.example.com/aap",
        "registration_id": str(uuid4()),
        "signing_secret": "whsec_" + "A" * 43 + "=",
        **more,
    }
