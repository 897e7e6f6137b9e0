"""An EventSource in a browser, as docs/http-api.md shows it."""

from __future__ import annotations

import os

import aiohttp
import pytest
from aiohttp import web
from bots.api.test_docs import example  # noqa: TID251
from support.api_world import API, ROUTE, TOKENS, world_on
from support.browser import NO_CHROMIUM, browser, chromium
from support.playing import a_playground

from sayso.stores.memory import memory_backend
from sayso_bots.server.webserver import answering, bind_port, url_of

if chromium() is None and not os.environ.get("CI"):
    pytest.skip(NO_CHROMIUM, allow_module_level=True)


async def page_of(_: web.Request) -> web.Response:
    return web.Response(text="<!doctype html><title>a page</title>", content_type="text/html")


def documented_script() -> str:
    """The example of the documents; it says whether the stream was opened."""
    return (
        "({branch, ticket}) => { window.seen = []; window.restarts = 0;"
        "const lastEventId = ''; const restart = () => { window.restarts += 1; };"
        "const show = (event) => window.seen.push(event);"
        f"{example('js')}; window.events = events;"
        "return new Promise((done) => { events.onopen = () => done(true); "
        "const told = events.onerror; "
        "events.onerror = () => { told(); done(false); }; }); }"
    )


async def test_a_page_of_a_configured_origin_follows_a_branch_with_a_ticket() -> None:
    with bind_port("127.0.0.1", 0) as sockets, bind_port("127.0.0.1", 0) as others:
        toml = ROUTE + API.replace("https://dashboard.example.com", url_of(sockets)) + TOKENS
        async with (
            answering(sockets, [web.get("/", page_of)]),
            answering(others, [web.get("/", page_of)]),
            a_playground() as playground,
            memory_backend() as backend,
            world_on(playground, backend, toml) as world,
            browser() as opened,
        ):
            made = await world.call("POST", f"{world.branch}/events/tickets")
            address = f"{world.url}{world.branch}"
            script = documented_script()
            page = await opened.new_page()
            await page.goto(url_of(sockets))
            started = await page.evaluate(
                script, {"branch": address, "ticket": made.json["ticket"]}
            )
            request = await world.asked()
            await world.respond(request["permissionId"])
            await page.wait_for_function("window.seen.length === 2")
            seen = await page.evaluate("window.seen")
            refused = await page.evaluate(script, {"branch": address, "ticket": "no-such-ticket"})
            restarts = await page.evaluate("window.restarts")
            stranger = await opened.new_page()
            await stranger.goto(url_of(others))
            strange = await stranger.evaluate(
                script, {"branch": address, "ticket": made.json["ticket"]}
            )

    assert started is True
    assert [event["type"] for event in seen] == ["PERMISSION_REQUEST", "PERMISSION_RESPONSE"]
    assert seen[0] == request
    assert (refused, restarts) == (False, 1)
    assert strange is False


class Proxy:
    """A proxy that stays while the bots behind it are restarted."""

    def __init__(self, url: str) -> None:
        self.url = url

    async def pass_on(self, request: web.Request) -> web.StreamResponse:
        if request.path == "/":
            return await page_of(request)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        headers = {
            name: value for name, value in request.headers.items() if name == "Last-Event-ID"
        }
        try:
            async with (
                aiohttp.ClientSession() as session,
                session.get(self.url + str(request.rel_url), headers=headers) as real,
            ):
                await response.prepare(request)
                async for part in real.content.iter_any():
                    await response.write(part)
        except aiohttp.ClientError:
            # Nobody serves just now: the connection ends without an answer.
            assert request.transport is not None
            request.transport.abort()
        return response


async def test_a_browser_that_lost_its_connection_goes_on_after_the_last_event() -> None:
    with bind_port("127.0.0.1", 0) as sockets:
        async with a_playground() as playground, memory_backend() as backend, browser() as opened:
            async with world_on(playground, backend, ROUTE + API + TOKENS) as first:
                made = await first.call("POST", f"{first.branch}/events/tickets")
                path = f"{first.branch}/events?lastEventId=0&ticket={made.json['ticket']}"
                proxy = Proxy(first.url)
                serving = answering(sockets, [web.get("/{rest:.*}", proxy.pass_on)])
                await serving.__aenter__()
                page = await opened.new_page()
                await page.goto(url_of(sockets))
                await page.evaluate(
                    "(path) => { window.seen = []; const events = new EventSource(path);"
                    "events.addEventListener('PERMISSION_REQUEST',"
                    "(event) => window.seen.push(JSON.parse(event.data).callId)); }",
                    path,
                )
                await first.asked(callId="one")
                await page.wait_for_function("window.seen.length === 1")
            async with world_on(playground, backend, ROUTE + API + TOKENS) as second:
                # While the browser waits to come back.
                await second.asked(callId="two")
                proxy.url = second.url
                await page.wait_for_function("window.seen.length === 2")
                await second.asked(callId="three")
                await page.wait_for_function("window.seen.length === 3")
                seen = await page.evaluate("window.seen")
                await page.close()
            await serving.__aexit__(None, None, None)

    assert seen == ["one", "two", "three"]
