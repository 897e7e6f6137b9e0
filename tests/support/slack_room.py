"""A room whose cards stand in a played Slack."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Self

from support.clock import Clock
from support.room import OPS, Room
from support.slack_kit import a_config, served

from sayso.stores.backend import Backend
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker, WorkerOptions
from sayso_playground import Playground
from sayso_slack import SlackAdapter, SlackListener
from sayso_slack.notifications import SlackCaller

PEOPLE = {"alice": frozenset({"slack:U0ALICE"}), "bob": frozenset({"slack:U0BOB"})}


@dataclass(frozen=True)
class Slack:
    """Slack as the fixtures have it: played, spoken to, and at a time of its own."""

    playground: Playground
    adapter: SlackAdapter
    clock: Clock


@dataclass
class SlackRoom(Room):
    """An agent, a desk, and a Slack whose presses reach it."""

    playground: Playground

    @classmethod
    @asynccontextmanager
    async def in_slack(
        cls,
        slack: Slack,
        backend: Backend,
        approvers: Sequence[str] = ("alice",),
        options: WorkerOptions | None = None,
        **more: Any,
    ) -> AsyncIterator[Self]:
        """The room while the block runs; ``more`` is what a subclass has besides."""
        routes = Routes([Route((OPS,), approvers=tuple(approvers))], PEOPLE)
        desk = ApprovalWorker(
            backend, [slack.adapter], routes, options, callers=[SlackCaller(slack.adapter)]
        )
        async with (
            cls.open(backend, desk, playground=slack.playground, **more) as room,
            SlackListener(a_config(), slack.adapter, desk, clock=slack.clock) as listener,
            served(listener) as url,
        ):
            slack.playground.slack.deliver_to(url)
            yield room
