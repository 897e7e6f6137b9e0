"""`sayso serve` in a process of its own, what it logs and takes, and whether it still works."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
from fuzz.mutations import CANARY
from fuzz.targets import Call, Surroundings
from support.commands import WEBHOOK_SECRET, deliver_to, env_of
from support.playing import a_playground
from support.valkey_server import Valkey
from yarl import URL

from sayso_bots.config.api_tokens import hash_token
from sayso_playground import Playground

ASKER, REVIEWER = f"sayso_{'asker':x<43}", f"sayso_{'reviewer':x<43}"
BRANCH = "/agents/deploy-bot/sessions/s-42/branches/main"
_CALM = "/agents/calm-bot/sessions/s-42/branches/main"
ANSWER_SECONDS, LOOP_SECONDS, GROWN_BYTES = 12.0, 1.0, 400 * 2**20
_SETTINGS = f"""
[people.alice]
slack = "U0ALICE"
telegram = 4242

# Where the last presses are made: no queue of cards is in front of theirs.
[[route]]
agent = "calm-bot"
to = ["slack:U0ALICE", "telegram:4242"]
approvers = ["alice"]

[[route]]
to = ["slack:C0OPS", "telegram:-1001234567890"]
approvers = ["alice", "api:reviewer"]

[limits]
open_per_agent = "off"
open_per_token = "off"

[api]
per_second = 10000

[[api.token]]
name = "asker"
sha256 = "{hash_token(ASKER)}"
agents = ["*"]

[[api.token]]
name = "reviewer"
sha256 = "{hash_token(REVIEWER)}"
agents = ["*"]
answers_own = true
"""
_WAYS = (
    {"type": "PERMISSION_REQUEST", "functionName": "ls", "arguments": {"path": "/srv/way"}},
    {"type": "CLARIFICATION_REQUEST", "question": "Which way?", "options": ["left", "right"]},
    {
        "type": "STRUCTURED_INPUT_REQUEST",
        "text": "What way?",
        "jsonSchema": {"type": "object", "properties": {"a": {"type": "string"}}},
    },
)


@dataclass
class World:
    """The bots under test."""

    url: str
    process: asyncio.subprocess.Process
    log: Path
    playground: Playground
    session: aiohttp.ClientSession
    secrets: dict[str, str]
    trying: str = ""
    slowest: float = 0.0
    slowest_at: str = ""
    figures: dict[str, int] = field(default_factory=dict)
    _read: int = 0
    _description: object = None

    async def known(self) -> Surroundings:
        """What a caller may know now; there are always some open questions."""
        if self._description is None:
            async with self.session.get("/openapi.json") as described:
                self._description = await described.json()
        headers = {"Authorization": f"Bearer {ASKER}"}
        questions = []
        for body in _WAYS:
            async with self.session.post(f"{BRANCH}/requests", json=body, headers=headers) as asked:
                request = (await asked.json())["request"]
            ids = [request.get(name) for name in ("permissionId", "requestId")]
            questions += [each for each in ids if each]
        return Surroundings(
            self.playground.config.slack_signing_secret,
            (ASKER, REVIEWER),
            self._description,
            self._buttons(),
            self._data(),
            questions,
        )

    def _buttons(self) -> list[str]:
        shown = json.dumps([message.blocks for message in self.playground.slack.messages()[-5:]])
        return sorted(set(re.findall(r'"value": "([A-Za-z0-9_-]{16,200})"', shown)))

    def _data(self) -> list[str]:
        messages = self.playground.telegram.messages()[-5:]
        return [data for message in messages for data in _datas(message)]

    async def answer(self, call: Call) -> str:
        """Make the call; a problem, empty when there is none."""
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                status, told = await (self._raw(call) if call.raw else self._sent(call))
        except TimeoutError:
            return f"no answer within {ANSWER_SECONDS:g} s"
        except (aiohttp.ClientError, ValueError, OSError) as error:
            # The client could not send it, or the server closed: whether it lives is seen later.
            status, told = 0, type(error).__name__
        self.figures[str(status)] = self.figures.get(str(status), 0) + 1
        if status >= 500:
            return f"answered {status}: {told[:300]!r}"
        return self._leak(told, "the answer")

    async def _sent(self, call: Call) -> tuple[int, str]:
        url = URL(f"{self.url}{call.path}", encoded=True)
        async with self.session.request(
            call.method, url, headers=call.headers, data=call.body or None, allow_redirects=False
        ) as answer:
            if answer.content_type == "text/event-stream":
                return answer.status, ""  # it has no end
            return answer.status, await answer.text(errors="replace")

    async def _raw(self, call: Call) -> tuple[int, str]:
        reader, writer = await asyncio.open_connection(
            urlsplit(self.url).hostname, urlsplit(self.url).port
        )
        try:
            writer.write(call.raw)
            # Half a call has no answer for ten seconds: nobody waits for it here.
            with suppress(TimeoutError):
                async with asyncio.timeout(0.3):
                    told = (await reader.read(65_536)).decode("utf-8", "replace")
                    found = re.match(r"HTTP/1\.[01] (\d{3})", told)
                    return int(found[1]) if found else 0, told
            return 0, ""
        finally:
            writer.transport.abort()

    def logged(self) -> str:
        """What is wrong with what was logged since the last look; empty when nothing is."""
        with self.log.open("rb") as log:
            log.seek(self._read)
            text = log.read().decode("utf-8", "replace")
            self._read = log.tell()
        self.figures["lines of the log"] = self.figures.get("lines of the log", 0) + text.count(
            "\n"
        )
        if "Traceback" in text or " ERROR " in text:
            at = text.find("Traceback") if "Traceback" in text else text.find(" ERROR ")
            return f"the log has a failure: …{text[max(0, at - 200) : at + 3_000]}"
        if CANARY in text:
            return f"the log quotes a body: {text[max(0, text.find(CANARY) - 200) :][:400]!r}"
        return self._leak(text, "the log")

    def _leak(self, text: str, where: str) -> str:
        for name, secret in self.secrets.items():
            if secret in text:
                return f"{where} holds {name}"
        return ""

    def resident(self) -> int:
        """The memory of the process in bytes."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def _worked(self) -> float:
        """The processor time that the process has used, in seconds."""
        with suppress(FileNotFoundError):
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        return 0.0

    async def watched(self) -> None:
        """Look again and again how much work keeps the loop from answering.

        It is counted in processor time: on a busy machine everybody waits.
        """
        while True:
            since = self._worked()
            with suppress(aiohttp.ClientError, TimeoutError):
                async with self.session.get("/healthz") as answer:
                    await answer.read()
            if (took := self._worked() - since) > self.slowest:
                self.slowest, self.slowest_at = took, self.trying
            await asyncio.sleep(0.05)

    async def works(self) -> str:
        """Whether an approver still decides, on both platforms; a problem, empty when they do."""
        try:
            return await self._pressed("slack") or await self._pressed("telegram")
        except (TimeoutError, aiohttp.ClientError, KeyError) as error:
            return f"a press does not work any more: {type(error).__name__}: {error}"

    async def _pressed(self, platform: str) -> str:
        mark = f"after-{platform}-{time.monotonic_ns()}"
        # A tool of its own: the fuzzer may have had the others remembered.
        body = {"type": "PERMISSION_REQUEST", "functionName": mark, "arguments": {"mark": mark}}
        headers = {"Authorization": f"Bearer {ASKER}"}
        async with self.session.post(f"{_CALM}/requests", json=body, headers=headers) as asked:
            question = (await asked.json())["request"]["permissionId"]
        if platform == "slack":
            card = await self.playground.slack.message_where(lambda m: mark in m.all_text)
            await self.playground.slack.press(card, "Allow", by="alice")
        else:
            shown = await self.playground.telegram.message_where(lambda m: mark in m.text)
            await self.playground.telegram.press(shown, "Allow", by="alice")
        async with self.session.get(f"{_CALM}/requests/{question}", headers=headers) as found:
            response = (await found.json())["response"]
        fine = response is not None and response["approved"] is True
        return "" if fine else f"a press on {platform} decided nothing: {response}"


def _datas(message: object) -> list[str]:
    return re.findall(r"[a-z]\d:[A-Za-z0-9_:!-]{16,60}", repr(message))


@asynccontextmanager
async def a_world(folder: Path) -> AsyncIterator[World]:
    """Bots on a Redis of their own, with both platforms played."""
    config, log = folder / "sayso.toml", folder / "log"
    config.write_text(_SETTINGS)
    server = Valkey()
    server.start()
    try:
        async with a_playground() as playground:
            env = env_of(playground, SAYSO_STORE_URL=server.url)
            async with _serving(config, env, log) as process:
                url = await _address(process, log)
                deliver_to(playground, url)
                async with aiohttp.ClientSession(url) as session:
                    secrets = _secrets(playground, server)
                    yield World(url, process, log, playground, session, secrets)
    finally:
        server.close()


def _secrets(playground: Playground, server: Valkey) -> dict[str, str]:
    return {
        "the signing secret": playground.config.slack_signing_secret,
        "Slack's bot token": playground.config.slack_bot_token,
        "Telegram's bot token": playground.config.telegram_bot_token,
        "the webhook's secret": WEBHOOK_SECRET,
        "the asker's token": ASKER,
        "the reviewer's token": REVIEWER,
        "the password of Redis": server.password,
    }


@asynccontextmanager
async def _serving(
    config: Path, env: dict[str, str], log: Path
) -> AsyncIterator[asyncio.subprocess.Process]:
    with log.open("wb") as written:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "sayso_bots", "serve", "--config", str(config)),
            env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", "USER": "fuzz", **env},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=written,
            stderr=written,
        )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _address(process: asyncio.subprocess.Process, log: Path) -> str:
    async with asyncio.timeout(30):
        while process.returncode is None:
            if found := re.search(r"sayso serves on (\S+)", log.read_text()):
                return found[1]
            await asyncio.sleep(0.05)
    raise RuntimeError(log.read_text())
