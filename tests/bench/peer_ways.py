"""Ways to let code wait for a decision that somebody else makes in another process.

What a way needs is imported when it is opened: what people use instead of Sayso is in an
environment of its own, and has nothing of ours.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


class Way:
    """One way. ``went_on`` is called with the name of a decision where the waiting code goes on."""

    def __init__(self, address: str, went_on: Callable[[str], None]) -> None:
        self.address = address
        self.went_on = went_on
        self.stack = contextlib.AsyncExitStack()

    async def open(self) -> None:
        """Be ready to wait and to decide."""

    async def wait(self, name: str) -> None:
        """Wait for the decision of this name, or leave it to whoever decides to go on."""
        raise NotImplementedError

    async def waiting(self, count: int) -> None:
        """Return when so many wait who are not known to yet."""

    async def prepare(self) -> None:
        """Look up what deciding needs."""

    async def decide(self, name: str) -> None:
        """Decide now."""
        raise NotImplementedError


class Gates(Way):
    """Ours: a gate's check, and an answer that is settled in the store."""

    async def open(self) -> None:
        from sayso import Gate, RunRef
        from sayso.stores.connect import open_store

        self._backend = await self.stack.enter_async_context(open_store(self.address))
        gate = Gate.open(self._backend, run=RunRef("bench", "peer"), timeout=3_600)
        self._gate = await self.stack.enter_async_context(gate)
        self._asked: dict[str, Any] = {}

    async def wait(self, name: str) -> None:
        from sayso import ToolCall

        verdict = await self._gate.check(ToolCall("run_command", {"name": name}))
        if verdict.approved:
            self.went_on(name)

    async def waiting(self, count: int) -> None:
        while len(await self._backend.watch.pending()) < count:
            await asyncio.sleep(0.1)

    async def prepare(self) -> None:
        pending = await self._backend.watch.pending()
        requests: list[Any] = [record.request for record in pending]
        self._asked = {request.arguments["name"]: request for request in requests}

    async def decide(self, name: str) -> None:
        from sayso.testing import a_response

        request = self._asked.pop(name)
        await self._backend.store.settle(request.question_id, a_response(request))


class Lists(Way):
    """A list an answer, and a connection for each that waits (redis-py)."""

    async def open(self) -> None:
        from redis.asyncio import Redis

        self._redis = Redis(unix_socket_path=self.address, max_connections=2_000)
        self.stack.push_async_callback(self._redis.aclose)

    async def wait(self, name: str) -> None:
        found: Any = await self._redis.blpop([f"peer:{name}"], timeout=0)
        if json.loads(found[1])["approved"]:
            self.went_on(name)

    async def decide(self, name: str) -> None:
        await self._redis.rpush(f"peer:{name}", json.dumps({"approved": True}))


class Notified(Way):
    """A row an answer, and one connection that listens (PostgreSQL LISTEN/NOTIFY, asyncpg)."""

    async def open(self) -> None:
        asyncpg: Any = import_module("asyncpg")
        self._futures: dict[str, asyncio.Future[None]] = {}
        self._pool = await asyncpg.create_pool(self.address, min_size=4, max_size=16)
        await self._pool.execute(
            "CREATE TABLE IF NOT EXISTS answers (name text PRIMARY KEY, approved bool NOT NULL)"
        )
        self._listener = await asyncpg.connect(self.address)
        await self._listener.add_listener("answers", self._told)

    def _told(self, connection: object, pid: int, channel: str, name: str) -> None:
        del connection, pid, channel
        if (future := self._futures.pop(name, None)) is not None:
            future.set_result(None)

    async def wait(self, name: str) -> None:
        self._futures[name] = asyncio.get_running_loop().create_future()
        await self._futures[name]
        self.went_on(name)

    async def decide(self, name: str) -> None:
        await self._pool.execute(
            "WITH stored AS (INSERT INTO answers VALUES ($1, true) ON CONFLICT DO NOTHING "
            "RETURNING name) SELECT pg_notify('answers', name) FROM stored",
            name,
        )


class Durable(Way):
    """A workflow that receives, and somebody who sends (DBOS on PostgreSQL)."""

    async def open(self) -> None:
        dbos: Any = import_module("dbos")
        config = {"name": "bench", "system_database_url": self.address, "log_level": "ERROR"}
        self._dbos = dbos.DBOS
        self._dbos(config=config)
        self._named = dbos.SetWorkflowID
        self._started = 0

        async def asking(name: str) -> None:
            if await self._dbos.recv_async("answer", timeout_seconds=3_600):
                self.went_on(name)

        self._asking = self._dbos.workflow()(asking)
        self._dbos.launch()
        self._client = dbos.DBOSClient(system_database_url=self.address)

    async def wait(self, name: str) -> None:
        with self._named(name):
            handle = await self._dbos.start_workflow_async(self._asking, name)
        self._started += 1
        await handle.get_result()

    async def waiting(self, count: int) -> None:
        while self._started < count:
            await asyncio.sleep(0.1)
        self._started = 0

    async def decide(self, name: str) -> None:
        await self._client.send_async(name, True, topic="answer")


class Interrupted(Way):
    """A graph that is interrupted, and resumed where it is decided (LangGraph, in Valkey)."""

    async def open(self) -> None:
        graphs: Any = import_module("langgraph.graph")
        types: Any = import_module("langgraph.types")
        savers: Any = import_module("langgraph_checkpoint_aws")

        configs: Any = import_module("langgraph.config")

        def ask(state: Any) -> Mapping[str, Any]:
            del state
            if types.interrupt({"tool": "run_command"}):
                self.went_on(configs.get_config()["configurable"]["thread_id"])
            return {}

        saver = savers.AsyncValkeySaver.from_conn_string(self.address, pool_size=200)
        self._command = types.Command
        graph = graphs.StateGraph(graphs.MessagesState)
        graph.add_node("ask", ask)
        graph.add_edge(graphs.START, "ask")
        graph.add_edge("ask", graphs.END)
        self._graph = graph.compile(checkpointer=await self.stack.enter_async_context(saver))

    async def wait(self, name: str) -> None:
        asked = {"messages": [("user", "deploy")]}
        await self._graph.ainvoke(asked, {"configurable": {"thread_id": name}})

    async def decide(self, name: str) -> None:
        answered = self._command(resume=True)
        await self._graph.ainvoke(answered, {"configurable": {"thread_id": name}})


WAYS: Mapping[str, type[Way]] = {
    "Sayso": Gates,
    "a list each (redis-py)": Lists,
    "PostgreSQL LISTEN/NOTIFY (asyncpg)": Notified,
    "LangGraph interrupt, Valkey": Interrupted,
    "DBOS on PostgreSQL": Durable,
}
GOES_ON_WHERE_DECIDED = ("LangGraph interrupt, Valkey",)
"""There nothing waits: whoever decides runs the rest."""
