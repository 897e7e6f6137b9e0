"""What a call to Slack or Telegram costs: ``python -m bench.calls [CALLS]``.

Cards are shown, brought up to date and toasts answered through the adapters, 16 at once, against a
server in a process of its own that answers as the platforms do. Beside them stand a bare POST with
aiohttp's client and the rendering alone. CPU of this process, in microseconds a call.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import aiohttp
from support.card_states import ALONE

from sayso.cards.card import Card
from sayso.chats.places import MessageRef, Place
from sayso.clock import utc_now
from sayso.stores.memory.drafts import MemoryDrafts
from sayso_slack import SlackAdapter, SlackConfig
from sayso_slack.card.message import message as slack_message
from sayso_telegram import TelegramAdapter, TelegramConfig
from sayso_telegram.card.keyboard import keyboard
from sayso_telegram.card.message import message

_TOKEN = "4000000000:a-token-that-is-nobodys"
_STAMP = "1700000000.000001"
_AT_ONCE = 16
_ROUNDS = 5
_OPEN, _ENDED = ALONE["open"], ALONE["approved"]


class CannedApi(asyncio.Protocol):
    """Answers each POST with what a platform says of a message, or that it is done."""

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._got = b""

    def data_received(self, data: bytes) -> None:
        self._got += data
        while (at := self._got.find(b"\r\n\r\n")) >= 0:
            head = self._got[:at].lower()
            length = 0
            if (mark := head.find(b"content-length:")) >= 0:
                length = int(head[mark + 15 :].split(b"\r\n", 1)[0])
            if len(self._got) < at + 4 + length:
                return
            self._got = self._got[at + 4 + length :]
            path = head.split(b"\r\n", 1)[0]
            self._transport.write(
                _POSTED if b"chat." in path else _DONE if b"callback" in path else _SENT
            )


def _answer(**said: Any) -> bytes:
    body = json.dumps({"ok": True, **said}).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"Connection: keep-alive\r\n\r\n" + body


def _sent() -> dict[str, Any]:
    """A message as it comes back: with its text, entities and buttons."""
    shown, buttons = message(_OPEN), keyboard(_OPEN)
    assert buttons is not None
    return {
        "message_id": 4711,
        "from": {"id": 4000000000, "is_bot": True, "first_name": "Sayso", "username": "sayso_bot"},
        "chat": {"id": -1001234567890, "title": "Operations", "type": "supergroup"},
        "date": 1772600767,
        "text": shown.text,
        "entities": [entity.to_dict() for entity in shown.entities],
        "reply_markup": buttons.to_dict(),
    }


def _posted() -> dict[str, Any]:
    """The same for Slack."""
    shown = slack_message([_OPEN])
    said = {"type": "message", "ts": _STAMP, "bot_id": "B0SAYSO", "text": shown["text"]}
    return {"channel": "C0OPS", "ts": _STAMP, "message": {**said, "blocks": shown["blocks"]}}


_DONE, _SENT, _POSTED = _answer(result=True), _answer(result=_sent()), _answer(**_posted())


async def _serve() -> None:
    server = await asyncio.get_running_loop().create_server(CannedApi, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


@asynccontextmanager
async def _canned() -> AsyncIterator[str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.calls", "--serve", stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(await process.stdout.readline())}"
    finally:
        process.kill()
        await process.wait()


async def _cost(calls: int, call: Callable[[int], Awaitable[Any]]) -> float:
    """CPU microseconds of a call, the best of several rounds: other work only adds to it."""
    numbers = iter(range(calls * _ROUNDS))

    async def some() -> None:
        for _ in range(calls // _AT_ONCE):
            await call(next(numbers))

    best = float("inf")
    for _ in range(_ROUNDS):
        gc.collect()
        begun = time.process_time()
        await asyncio.gather(*(some() for _ in range(_AT_ONCE)))
        best = min(best, (time.process_time() - begun) / (calls // _AT_ONCE * _AT_ONCE))
    return best * 1e6


def _cards(base: Card) -> Callable[[int], list[Card]]:
    """A new card with each number: nothing that was worked out for one helps another."""
    return lambda number: [replace(base, handle=f"h4ndle-of-a-card-{number:06}")]


async def _of_slack(url: str, calls: int) -> dict[str, float]:
    config = SlackConfig(bot_token="xoxb-bench", signing_secrets=("s" * 32,), api_url=f"{url}/api/")
    place = Place("slack", "C0OPS")
    opened, ended = _cards(_OPEN), _cards(_ENDED)
    async with SlackAdapter(config) as adapter:

        async def rendered(number: int) -> None:
            slack_message(opened(number))

        ref = MessageRef(place, _STAMP)
        return {
            "rendered": await _cost(calls, rendered),
            "show": await _cost(calls, lambda n: adapter.show(opened(n), place)),
            "update": await _cost(calls, lambda n: adapter.update(ref, ended(n))),
        }


async def _of_telegram(url: str, calls: int) -> dict[str, float]:
    config = TelegramConfig(_TOKEN, ("secret",), url, per_chat=None)
    place = Place("telegram", "-1001234567890")
    opened, ended = _cards(_OPEN), _cards(_ENDED)
    async with TelegramAdapter(config, MemoryDrafts(utc_now)) as adapter:

        async def rendered(number: int) -> None:
            [card] = opened(number)
            message(card)
            keyboard(card)

        ref = MessageRef(place, "4711")
        return {
            "rendered": await _cost(calls, rendered),
            "show": await _cost(calls, lambda n: adapter.show(opened(n), place)),
            "update": await _cost(calls, lambda n: adapter.update(ref, ended(n))),
            "toast": await _cost(calls, lambda _: adapter.toast("1", "Allowed.", False)),
        }


async def _bare(url: str, calls: int) -> float:
    body = json.dumps({"text": message(_OPEN).text, "more": "x" * 1_500}).encode()
    async with aiohttp.ClientSession() as session:

        async def bare(_: int) -> None:
            async with session.post(f"{url}/bot{_TOKEN}/sendMessage", data=body) as answer:
                await answer.read()

        return await _cost(calls, bare)


async def measured(calls: int) -> dict[str, float]:
    """Each kind of call and its cost."""
    async with _canned() as url:
        slack, telegram = await _of_slack(url, calls), await _of_telegram(url, calls)
        return {
            "bare": await _bare(url, calls),
            **{f"slack {name}": cost for name, cost in slack.items()},
            **{f"telegram {name}": cost for name, cost in telegram.items()},
        }


def main(arguments: list[str]) -> None:
    """Serve, or measure and print a line a figure."""
    if arguments == ["--serve"]:
        asyncio.run(_serve())
        return
    for name, cost in asyncio.run(measured(int(arguments[0]) if arguments else 800)).items():
        print(f"{name:18} {cost:7.0f} us")


if __name__ == "__main__":
    main(sys.argv[1:])
