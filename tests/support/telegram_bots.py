"""One process of the bots, of which a played Telegram is the only chat."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from aiohttp import web
from aiohttp.test_utils import TestServer
from support.chat_double import working

from sayso.stores.backend import Backend
from sayso.worker.routing import Routes
from sayso.worker.worker import ApprovalWorker, WorkerOptions
from sayso_playground import Playground
from sayso_telegram import TelegramAdapter, TelegramConfig, TelegramListener
from sayso_telegram.notifications import TelegramNotifier

TOKEN = "4000000000:PLAYGROUND-token"
SECRET = "secret"


@dataclass
class Bots:
    """One process of the bots; ``url`` is empty where it polls."""

    desk: ApprovalWorker
    adapter: TelegramAdapter
    url: str = ""


@asynccontextmanager
async def bots(
    playground: Playground,
    backend: Backend,
    routes: Routes,
    *,
    mode: str = "webhook",
    options: WorkerOptions | None = None,
    deliver: bool = True,
) -> AsyncIterator[Bots]:
    """A desk, an adapter and a listener on a backend, at work while the block runs.

    With ``deliver`` a webhook of theirs is the one that Telegram calls from now on.
    """
    config = TelegramConfig(
        TOKEN,
        (SECRET,),
        playground.telegram_api_url,
        # The played platform takes as many messages as there are.
        per_chat=None,
    )
    async with AsyncExitStack() as stack:
        adapter = await stack.enter_async_context(TelegramAdapter(config, backend.key_value))
        callers = [TelegramNotifier(adapter)]
        desk = await stack.enter_async_context(
            working(ApprovalWorker(backend, [adapter], routes, options, callers=callers))
        )
        listener = await stack.enter_async_context(
            TelegramListener(config, adapter, desk, backend.key_value, owner=desk.name)
        )
        url = ""
        if mode == "webhook":
            app = web.Application()
            app.add_routes(listener.routes())
            server = await stack.enter_async_context(TestServer(app))
            url = str(server.make_url("/telegram/webhook"))
            if deliver:
                playground.telegram.deliver_to(url, secret_token=SECRET)
        else:
            await stack.enter_async_context(_polling(listener))
        yield Bots(desk, adapter, url)


@asynccontextmanager
async def _polling(listener: TelegramListener) -> AsyncIterator[None]:
    task = asyncio.create_task(listener.run_polling())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
