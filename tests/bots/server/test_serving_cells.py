"""The bots and the commands on a store that is made of cells, one of which goes and comes back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from support.cells import Servers, in_cell, remember_in, servers
from support.commands import ROUTES, Done, Run, deliver_to, env_of
from support.playing import a_playground

import sayso
from sayso import ToolCall
from sayso.stores.connect import open_store
from sayso.testing import a_request, a_rule, until
from sayso_bots.server.server import Serving, serving
from sayso_bots.settings.settings import settings_of
from sayso_bots.settings.source import source_of
from sayso_playground import Playground, SlackMessage


@pytest.fixture
def both() -> Iterator[Servers]:
    with servers() as made:
        yield made


class World:
    """Bots at work on two cells, and commands on the same store."""

    def __init__(self, run: Run, both: Servers, playground: Playground, working: Serving) -> None:
        self.playground, self.working, self.both = playground, working, both
        self._run = run

    async def command(self, *argv: str) -> Done:
        env = {"SAYSO_STORE_URL": self.both.address}
        return await asyncio.to_thread(self._run, *argv, env=env)

    async def ready(self, query: str = "") -> tuple[int, Any]:
        url = f"{self.working.url}/readyz{query}"
        async with aiohttp.ClientSession() as http, http.get(url) as answer:
            return answer.status, await answer.json()


@asynccontextmanager
async def world(run: Run, both: Servers) -> AsyncIterator[World]:
    async with a_playground() as playground:
        env = env_of(playground, SAYSO_STORE_URL=both.address)
        async with serving(settings_of(source_of(ROUTES, env))) as working:
            deliver_to(playground, working.url)
            yield World(run, both, playground, working)


async def sessions(both: Servers) -> list[str]:
    """A session of each cell."""
    async with open_store(both.address) as backend:
        return [in_cell(backend, name).session_id for name in ("00", "01")]


def _shows(text: str) -> Callable[[SlackMessage], bool]:
    return lambda message: text in message.all_text


async def test_every_command_works_on_all_cells(run: Run, both: Servers) -> None:
    where = await sessions(both)
    async with world(run, both) as here:
        for number, session in enumerate(where):
            text = f"deploy {number}"
            argv = ("--agent", "deploy-bot", "--session", session, "--timeout", "30s")
            asking = asyncio.create_task(
                here.command("ask", "bash", "--quiet", "--arg", f"command={text}", *argv)
            )
            card = await here.playground.slack.message_where(_shows(text))
            [waiting] = json.loads((await here.command("pending", "--json")).out)
            assert waiting["request"]["run"]["sessionId"] == session
            shown = await here.command("show", waiting["requestId"][:8])
            assert (shown.code, text in shown.out) == (0, True)
            await here.playground.slack.press(card, "Allow", by="alice")
            done = await asking
            assert (done.code, done.out) == (0, "approved by slack:U0ALICE\n"), done.err

        told = json.loads((await here.command("audit", "--json")).out)
        assert [one["sessionId"] for one in told if one["kind"] == "approved"] == where
        assert (await here.command("pending")).code == 0


async def test_rules_and_withdrawals_reach_the_cell_that_they_are_in(
    run: Run, both: Servers
) -> None:
    rule = a_rule("deploy", scope="agent")
    async with open_store(both.address) as backend:
        await remember_in(backend, in_cell(backend, "01"), rule)
        requests = [a_request(run=in_cell(backend, name)) for name in ("00", "01")]
        for request in requests:
            await backend.store.open(request, seconds=60, inbox="", book=None)

    async with world(run, both) as here:
        [listed] = json.loads((await here.command("rules", "--json")).out)
        assert listed["id"] == rule.rule_id
        assert (await here.command("revoke", rule.rule_id)).code == 0
        assert json.loads((await here.command("rules", "--json")).out) == []
        for request in requests:
            assert (await here.command("cancel", request.question_id)).code == 0
        assert json.loads((await here.command("pending", "--json")).out) == []
        assert (await here.command("show", "nobody-at-all")).code != 0


async def test_a_cell_that_goes_is_named_everywhere_and_the_other_goes_on(
    run: Run, both: Servers
) -> None:
    here_session, there_session = await sessions(both)
    async with world(run, both) as here:
        assert await here.ready() == (200, {"ready": True, "problems": {}, "degraded": []})
        both.kill(1)

        async def is_told() -> bool:
            status, body = await here.ready()
            return status == 200 and body["degraded"] == ["store 01"]

        await asyncio.wait_for(until(is_told), 20)
        assert (await here.ready("?strict=1"))[0] == 503
        pending = await here.command("pending", "--json")
        assert (pending.code, pending.out) == (0, "[]\n")
        assert "cell 01 is missing here" in pending.err

        async with sayso.connect(both.address, agent="deploy-bot", patience=0.5) as handle:
            call = ToolCall("bash", {"command": "deploy here"})
            check = asyncio.create_task(handle.check(call, run=here_session))
            card = await here.playground.slack.message_where(_shows("deploy here"))
            await here.playground.slack.press(card, "Allow", by="alice")
            assert (await check).approved
            lost = await here.command(
                "ask", "bash", "--agent", "deploy-bot", "--session", there_session,
                "--timeout", "2s", "--arg", "command=deploy there",
            )  # fmt: skip
            assert lost.code == 4, lost.err
            await both.start(1)
            call = ToolCall("bash", {"command": "deploy there"})
            check = asyncio.create_task(handle.check(call, run=there_session))
            card = await here.playground.slack.message_where(_shows("deploy there"))
            await here.playground.slack.press(card, "Deny", by="alice")
            assert not (await check).approved


async def test_bots_start_while_a_cell_is_away_and_say_which(run: Run, both: Servers) -> None:
    async with world(run, both):
        pass
    both.kill(1)

    async with world(run, both) as here:
        found = [one for one in here.working.findings if one.subject == "store"]
        status, body = await here.ready()

    assert any(one.level == "warning" and "cell 01" in one.text for one in found)
    assert (status, body["degraded"]) == (200, ["store 01"])


async def test_check_looks_at_each_cell(run: Run, both: Servers) -> None:
    async with a_playground() as playground:
        env = env_of(playground, SAYSO_STORE_URL=both.address)
        well = await asyncio.to_thread(run, "check", env=env, toml=ROUTES)
        both.kill(1)
        ill = await asyncio.to_thread(run, "check", env=env, toml=ROUTES)

    said = [line for line in well.out.splitlines() if " store " in line]
    assert "all answer" in said[0]
    assert not [line for line in said if line.startswith("failed")]
    assert ill.code == 1
    assert any(line.startswith("failed") and "cell 01" in line for line in ill.out.splitlines())


# What is asked or looked at with another list: a command each, which ends at once.
COMMANDS = (
    ("serve",),
    ("ask", "bash", "--agent", "deploy-bot", "--timeout", "60s"),
    ("explain", "bash", "--agent", "deploy-bot", "--session", "s-1"),
    ("pending",),
    ("show", "q-1"),
    ("cancel", "q-1"),
    ("rules",),
    ("revoke", "r-1"),
    ("audit",),
)


async def test_another_list_of_cells_is_refused_at_every_start(run: Run, both: Servers) -> None:
    one, other = both.address.split()
    more = f"{both.address} {other.replace('cell=01', 'cell=02')}&namespace=new"
    lists = {
        both.servers[0].url: "this store is one of the cells 00 01, and no others are listed here",
        one: "belongs to the cells 00 01, and the cells listed here are 00: let all processes",
        more: "belongs to the cells 00 01, and the cells listed here are 00 01 02: let all",
        both.address.replace("cell=00", "cell=02"): "belongs to the cells 00 01, and the cells",
        both.swapped: "what is listed as cell",
    }
    async with open_store(both.address) as backend:
        for name in ("00", "01"):
            await backend.rules.book(in_cell(backend, name))

    settings = f'[store]\ngive_up_after = "1s"\n{ROUTES}'
    async with a_playground() as playground:
        for address, said in lists.items():
            env = env_of(playground, SAYSO_STORE_URL=address)
            checked = await asyncio.to_thread(run, "check", env=env, toml=settings)
            assert (checked.code, said in checked.out) == (1, True), checked.out
            for argv in COMMANDS:
                done = await asyncio.to_thread(run, *argv, env=env, toml=settings)
                assert (done.code, done.out) == (2, ""), (argv, done)
                assert said in done.err, (argv, done.err)
                assert len(done.err.splitlines()) == 1, (argv, done.err)
                assert not any(one.password in done.err for one in both.servers)
