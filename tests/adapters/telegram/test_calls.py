"""How calls reach the Bot API: in time or not at all, through proxies, the token untold."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import subprocess
import sys
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from support.raw_server import Serve, byte_by_byte, never, server
from telegram import Bot, InputFile
from telegram.error import NetworkError, TelegramError, TimedOut
from telegram.request import BaseRequest

from sayso.errors import ConfigError, DeliveryError
from sayso_telegram.client import Client, GuardedRequest, Timeouts
from sayso_telegram.config import TelegramConfig

TOKEN = "4000000000:AAF_a-token-of-a-test-0123456789abcdef"


@asynccontextmanager
async def opened(request: BaseRequest) -> AsyncIterator[BaseRequest]:
    await request.initialize()
    try:
        yield request
    finally:
        await request.shutdown()


@pytest.mark.parametrize(
    ("serve", "timeouts"),
    [
        (never, Timeouts(answer=0.1)),
        (byte_by_byte, Timeouts(0.1, 0.1, 0.1, 0.1, 0.1)),
    ],
)
async def test_every_call_ends_in_time(serve: Serve, timeouts: Timeouts) -> None:
    async with server(serve) as url, opened(GuardedRequest(timeouts)) as request:
        async with asyncio.timeout(10):
            with pytest.raises(TimedOut):
                await request.post(f"{url}/bot{TOKEN}/getMe")


async def test_a_call_waits_for_a_free_connection_and_not_for_ever() -> None:
    arrived = asyncio.Event()

    async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        arrived.set()
        await reader.read()

    request = GuardedRequest(Timeouts(0.1, 0.1), max_connections=1)
    async with server(hold) as url, opened(request), asyncio.timeout(10):
        first = asyncio.create_task(request.post(f"{url}/bot{TOKEN}/getMe"))
        await arrived.wait()
        with pytest.raises(TimedOut) as caught:
            await request.post(f"{url}/bot{TOKEN}/getMe")

        assert not first.done()
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)

    assert TOKEN not in "".join(traceback.format_exception(caught.value))


async def test_of_many_calls_at_once_64_are_under_way_and_all_arrive() -> None:
    under_way: list[int] = [0]
    most = 0
    many = asyncio.Event()

    async def take(request: web.Request) -> web.Response:
        nonlocal most
        await request.read()
        under_way[0] += 1
        most = max(most, under_way[0])
        if most >= 64:
            asyncio.get_running_loop().call_later(0.2, many.set)
        await many.wait()
        under_way[0] -= 1
        return web.json_response({"ok": True, "result": True})

    app = web.Application()
    app.add_routes([web.post("/bot{token}/getMe", take)])
    async with TestServer(app) as there, opened(GuardedRequest()) as request:
        url = str(there.make_url(f"/bot{TOKEN}/getMe"))
        answers = await asyncio.gather(*(request.post(url) for _ in range(200)))

    assert (most, len(answers)) == (64, 200)


async def test_waiting_for_other_calls_counts_into_the_time_of_a_call() -> None:
    arrived = []

    async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        arrived.append(writer)
        await reader.read()

    limits = Timeouts(0.1, 0.1, 0.1, 0.1, answer=0.5)
    async with server(hold) as url, opened(GuardedRequest(limits)) as request:
        async with asyncio.timeout(20):
            calls = (request.post(f"{url}/bot{TOKEN}/getMe") for _ in range(300))
            ends = await asyncio.gather(*calls, return_exceptions=True)

    assert {type(end) for end in ends} == {TimedOut}
    # The first 64, and those that had time left when these gave up: the others make no call.
    assert len(arrived) <= 192


async def garbage(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"SSH-2.0-OpenSSH_9.6\r\n\r\n")


async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.close()


async def half(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")


async def no_json(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nbody-secret")


@pytest.mark.parametrize("serve", [garbage, hang_up, half, no_json, None])
async def test_no_error_and_no_log_holds_the_token(
    serve: Serve | None, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with server(serve or never) as url:
        api = url if serve else "http://127.0.0.1:1"
        client = Client(TelegramConfig(TOKEN, ("secret",), api))
        async with client.opened():
            with pytest.raises(DeliveryError) as caught:
                await client.fetch("getMe")

    assert not caught.value.permanent
    told = "".join(traceback.format_exception(caught.value)) + caplog.text
    assert TOKEN not in told
    assert "body-secret" not in told


async def test_an_address_that_is_none_is_not_quoted_with_the_token_in_it() -> None:
    async with opened(GuardedRequest()) as request:
        client = Client(TelegramConfig(TOKEN, ("secret",)))
        with pytest.raises(DeliveryError) as caught, client.errors():
            await request.post(f"http://[bad/bot{TOKEN}/getMe")

    assert TOKEN not in "".join(traceback.format_exception(caught.value))


async def test_a_closed_client_holds_no_connection_and_makes_no_call() -> None:
    left = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b'HTTP/1.1 200 OK\r\nContent-Length: 24\r\n\r\n{"ok":true,"result":true}'[:-1])
        await reader.read()
        left.set()

    async with server(answer) as url:
        request = GuardedRequest()
        async with opened(request):
            with contextlib.suppress(TelegramError):
                await request.post(f"{url}/bot{TOKEN}/getMe")
            assert not left.is_set()
        async with asyncio.timeout(10):
            await left.wait()

        with pytest.raises(NetworkError, match="not initialized"):
            await request.post(f"{url}/bot{TOKEN}/getMe")


async def test_a_file_of_several_megabytes_goes_out_beside_its_arguments() -> None:
    taken: dict[str, object] = {}

    async def take(request: web.Request) -> web.Response:
        form = await request.post()
        file = form["document"]
        assert isinstance(file, web.FileField)
        taken.update(name=file.filename, size=len(file.file.read()), caption=form["caption"])
        taken["chat"] = form["chat_id"]
        sent = {"message_id": 7, "date": 0, "chat": {"id": -1, "type": "group"}}
        return web.json_response({"ok": True, "result": sent})

    app = web.Application(client_max_size=10_000_000)
    app.add_routes([web.post("/bot{token}/sendDocument", take)])
    async with TestServer(app) as there, opened(GuardedRequest()) as request:
        bot = Bot(TOKEN, base_url=str(there.make_url("/bot")), request=request)
        file = InputFile(b"x" * 4_000_000, filename="complete.txt")
        await bot.send_document(-1, file, caption="näh & so")

    assert taken == {"name": "complete.txt", "size": 4_000_000, "caption": "näh & so", "chat": "-1"}


@asynccontextmanager
async def a_proxy() -> AsyncIterator[tuple[str, list[tuple[str, str]]]]:
    """An HTTP proxy that answers itself; what was asked of it, and with what credentials."""
    asked: list[tuple[str, str]] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = dict(line.split(": ", 1) for line in head[1:] if line)
        asked.append((head[0].split()[1], headers.get("Proxy-Authorization", "")))
        await reader.readexactly(int(headers.get("Content-Length", 0)))
        body = b'{"ok":true,"result":{"id":1}}'
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as listening:
        yield f"127.0.0.1:{listening.sockets[0].getsockname()[1]}", asked


async def test_calls_go_through_the_proxy_of_the_environment_with_its_credentials(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with a_proxy() as (address, asked):
        monkeypatch.setenv("http_proxy", f"http://user:word@{address}")
        client = Client(TelegramConfig(TOKEN, ("secret",), "http://bot-api.example"))
        async with client.opened():
            assert await client.fetch("getMe") == {"id": 1}

    basic = aiohttp.encode_basic_auth("user", "word")
    assert asked == [(f"http://bot-api.example/bot{TOKEN}/getMe", basic)]


@pytest.mark.parametrize(
    ("environment", "url", "is_asked"),
    [
        ({"http_proxy": "http://{}"}, "http://bot-api.example", True),
        ({"all_proxy": "{}"}, "http://bot-api.example", True),
        ({"https_proxy": "http://{}"}, "http://127.0.0.1:1", False),
        ({"all_proxy": "http://{}", "no_proxy": "127.0.0.1"}, "http://127.0.0.1:1", False),
        ({"all_proxy": "http://{}", "no_proxy": ".invalid"}, "http://api.invalid", False),
    ],
)
async def test_calls_go_through_the_proxy_that_the_environment_names_for_their_address(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], url: str, is_asked: bool
) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    async with a_proxy() as (address, asked):
        for name, value in environment.items():
            monkeypatch.setenv(name, value.format(address))
        client = Client(TelegramConfig(TOKEN, ("secret",), url))
        async with client.opened():
            with contextlib.nullcontext() if is_asked else pytest.raises(DeliveryError):
                await client.fetch("getMe")

    assert bool(asked) is is_asked


@pytest.mark.parametrize(
    ("proxy", "words"),
    [
        ("socks5://127.0.0.1:1080", r'install "python-telegram-bot\[socks\]"'),
        ("ftp://user:a-password@127.0.0.1:1", "must be such as http://HOST:PORT"),
        ("http://user:a-password@127.0.0.1:port", "must be such as http://HOST:PORT"),
    ],
)
def test_a_proxy_that_cannot_be_used_is_an_error_of_the_settings(
    monkeypatch: pytest.MonkeyPatch, proxy: str, words: str
) -> None:
    monkeypatch.setenv("all_proxy", proxy)

    with pytest.raises(ConfigError, match=words) as caught:
        Client(TelegramConfig(TOKEN, ("secret",)))

    assert "a-password" not in "".join(traceback.format_exception(caught.value))


def test_certificates_that_cannot_be_read_are_an_error_of_the_settings() -> None:
    made = "from sayso_telegram.client import GuardedRequest; GuardedRequest()"
    environment = os.environ | {"SSL_CERT_FILE": "/nonexistent"}

    run = subprocess.run(  # certificates are read once a process
        [sys.executable, "-c", made], env=environment, capture_output=True, text=True, check=False
    )

    assert "ConfigError: the certificates of SSL_CERT_FILE or SSL_CERT_DIR" in run.stderr


async def test_arguments_arrive_as_they_are_without_those_that_are_none() -> None:
    given: dict[str, Any] = {
        "chat_id": -1,
        "text": "näh & so",
        "is": True,
        "list": [{"type": "bold"}],
    }
    taken: dict[str, object] = {}

    async def take(request: web.Request) -> web.Response:
        taken.update(await request.post())
        return web.json_response({"ok": True, "result": True})

    app = web.Application()
    app.add_routes([web.post("/bot{token}/anything", take)])
    async with TestServer(app) as there:
        client = Client(TelegramConfig(TOKEN, ("secret",), str(there.make_url("")).rstrip("/")))
        async with client.opened():
            assert await client.fetch("anything", **given, nothing=None) is True

    assert taken == {
        "chat_id": "-1",
        "text": "näh & so",
        "is": "true",
        "list": '[{"type": "bold"}]',
    }
