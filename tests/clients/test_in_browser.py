"""The client in a browser, as it is built: no Node, and no bundler between."""

from __future__ import annotations

import os

import pytest
from aiohttp import web
from support.api_world import API, CI, ROUTE, TOKENS, world_on
from support.browser import NO_CHROMIUM, browser, chromium
from support.live import is_live
from support.playing import a_playground
from support.typescript import Project

from sayso.stores.memory import memory_backend
from sayso_bots.server.webserver import answering, bind_port, url_of

if chromium() is None and not os.environ.get("CI"):
    pytest.skip(NO_CHROMIUM, allow_module_level=True)

ASK = """async ({ url, token, session }) => {
  const { Sayso } = await import("/dist/index.js");
  const sayso = new Sayso({ url, token, agent: "deploy-bot", session });
  const stopping = new AbortController();
  window.stop = () => stopping.abort(new Error("closed"));
  const call = (command) => ({ name: "run_command", arguments: { command } });
  const first = await sayso.check(call("ls page"));
  const { signal } = stopping;
  const second = await sayso.check(call("ls more"), { signal }).catch((error) => error.message);
  return [first.allowed, first.decidedBy, second];
}"""
REFUSED = """async () => {
  const { Sayso } = await import("/dist/index.js");
  const { toolApproval } = await import("/dist/ai.js");
  const sayso = new Sayso({ url: "http://x", token: "t", agent: "a", session: "s" });
  try { toolApproval(sayso, import.meta); } catch (error) { return error.message; }
}"""


async def page_of(_: web.Request) -> web.Response:
    return web.Response(text="<!doctype html><title>a page</title>", content_type="text/html")


async def test_a_page_asks_and_withdraws(project: Project) -> None:
    dist = project.folder / "node_modules" / "sayso-client" / "dist"

    async def file_of(request: web.Request) -> web.FileResponse:
        return web.FileResponse(dist / request.match_info["name"])

    with bind_port("127.0.0.1", 0) as sockets:
        toml = ROUTE + API.replace("https://dashboard.example.com", url_of(sockets)) + TOKENS
        async with (
            answering(sockets, [web.get("/", page_of), web.get("/dist/{name}", file_of)]),
            a_playground() as playground,
            memory_backend() as backend,
            world_on(playground, backend, toml) as world,
            browser() as opened,
        ):
            page = await opened.new_page()
            await page.goto(url_of(sockets))
            told = {"url": world.url, "token": CI, "session": world.session_id}
            await page.evaluate(f"(told) => {{ window.said = ({ASK})(told); }}", told)
            await playground.slack.press(await world.card("ls page"), "Allow", by="alice")
            card = await world.card("ls more")
            await page.evaluate("window.stop()")
            said = await page.evaluate("window.said")
            closed = await playground.slack.message_where(
                lambda message: message.ts == card.ts and not is_live(message.buttons)
            )
            refused = await page.evaluate(REFUSED.replace("import.meta", "{ url: location.href }"))

    assert said == [True, "slack:U0ALICE", "closed"]
    assert "cancelled" in closed.all_text.lower()
    assert "only Node" in refused
