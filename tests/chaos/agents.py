"""Agents that ask through every door, and what each of them is told in the end."""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import aiohttp
from chaos.bots import API_TOKEN
from chaos.lag import Lag
from chaos.ledger import REQUEST_LOST, Ledger, Told, session_of

from sayso import Gate, Outcome, RunRef, ToolCall
from sayso.agent.options import GateOptions
from sayso.agent.verdict import CheckResult
from sayso.calls import new_id
from sayso.clock import utc_now
from sayso.digests import arguments_digest
from sayso.errors import RequestUnansweredError, SaysoError
from sayso.events import PermissionRequestEvent, PermissionResponseEvent
from sayso.stores.backend import Backend

AGENT = "chaos-bot"
SHORTEST, LONGEST = 4.0, 8.0
# What an answer may take over HTTP after the question has ended; nobody waits longer.
_HTTP_SECONDS = 1.5
_FORM = {
    "type": "object",
    "properties": {
        "size": {"type": "integer", "minimum": 1, "maximum": 9},
        "colour": {"enum": ["red", "green"]},
    },
    "required": ["size", "colour"],
}

Result = tuple[Outcome, bool]
"""How it ended, and whether no person was needed for that."""


class Agents:
    """One process with two connections to the store, as two processes have them."""

    def __init__(
        self,
        backends: tuple[Backend, Backend],
        store_url: str,
        api: str,
        ledger: Ledger,
        lag: Lag,
        seed: int,
    ) -> None:
        self._here, self._there = backends
        self._store_url, self._api = store_url, api
        self._ledger, self._lag = ledger, lag
        self._dice = random.Random(seed)
        self._http = aiohttp.ClientSession()
        self._doors: list[Callable[[str, float], Awaitable[Result]]] = [
            *[self._checked] * 6,
            *[self._resumed] * 2,
            *[self._together] * 2,
            *[self._repeated] * 2,
            self._emitted,
            *[self._over_http] * 2,
            self._clarified,
            self._text,
            self._continued,
            self._collected,
            self._left,
        ]

    async def close(self) -> None:
        """Ask no more."""
        await self._http.close()

    async def ask(self) -> None:
        """Ask one question through one of the doors; what came of it is in the ledger."""
        door = self._dice.choice(self._doors)
        await self._told(door.__name__.strip("_"), door)

    async def ask_and_die(self) -> None:
        """Ask in a process that is killed; another one resumes the question."""
        await self._told("killed", self._killed)

    async def _told(self, name: str, door: Callable[[str, float], Awaitable[Result]]) -> None:
        marker, timeout = self._ledger.marker(), self._dice.uniform(SHORTEST, LONGEST)
        loop = asyncio.get_running_loop()
        began = loop.time()
        outcome, unasked, error = None, False, ""
        try:
            outcome, unasked = await door(marker, timeout)
        except RequestUnansweredError as ended:
            outcome = Outcome(ended.outcome)
        except (SaysoError, aiohttp.ClientError, TimeoutError) as failed:
            is_lost = getattr(failed, "lost_request_id", "")
            error = REQUEST_LOST if is_lost else type(failed).__name__
        late = loop.time() - began - timeout - self._lag.since(began)
        self._ledger.told.append(Told(marker, name, late, outcome, error, unasked))

    def _gate(self, marker: str, timeout: float, *, elsewhere: bool = False) -> Gate:
        run = RunRef(AGENT, session_of(marker))
        options = GateOptions(run, timeout=timeout, observe=self._ledger.asked)
        return Gate(self._there if elsewhere else self._here, options)

    async def _checked(self, marker: str, timeout: float) -> Result:
        return _said(await self._gate(marker, timeout).check(_call(marker)))

    async def _together(self, marker: str, timeout: float) -> Result:
        gate = self._gate(marker, timeout)
        others = [_call(f"{marker}-{number}") for number in range(2)]
        return _said((await gate.check_batch([_call(marker), *others], together=True))[0])

    async def _repeated(self, marker: str, timeout: float) -> Result:
        """The same call twice: where somebody said Always, nobody is asked the second time."""
        gate = self._gate(marker, timeout / 2)
        first = _said(await gate.check(_call(marker)))
        return _said(await gate.check(_call(marker))) if first[0] is Outcome.APPROVED else first

    async def _resumed(self, marker: str, timeout: float) -> Result:
        loop = asyncio.get_running_loop()
        ends = loop.time() + timeout
        asked = await self._gate(marker, timeout).submit(_call(marker))
        if isinstance(asked, CheckResult):
            return _said(asked)
        other = self._gate(marker, timeout, elsewhere=True)
        return _said(await other.resume(asked, timeout=max(0.1, ends - loop.time())))

    async def _left(self, marker: str, timeout: float) -> Result:
        """The run stops waiting: its question is withdrawn."""
        task = asyncio.ensure_future(self._checked(marker, timeout))
        await asyncio.sleep(self._dice.uniform(0, 1))
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return (Outcome.CANCELLED, True) if task.cancelled() else task.result()

    async def _emitted(self, marker: str, timeout: float) -> Result:
        gate = self._gate(marker, timeout)
        call = _call(marker)
        event = PermissionRequestEvent(
            permission_id=new_id(),
            source_name="middleware",
            function_name=call.name,
            call_id=call.call_id,
            arguments=dict(call.arguments),
            arguments_digest=arguments_digest(call.arguments),
            run=gate.run,
            expires_at=utc_now() + timedelta(seconds=timeout),
        )
        await gate.emit(event)
        answer = await gate.wait_for_response(PermissionResponseEvent, event.permission_id, timeout)
        return answer.outcome, False

    async def _clarified(self, marker: str, timeout: float) -> Result:
        gate = self._gate(marker, timeout)
        return (await gate.clarify(f"Which {marker}?", options=["this", "that"])).outcome, False

    async def _text(self, marker: str, timeout: float) -> Result:
        return (await self._gate(marker, timeout).approve_text(f"Hello {marker}!")).outcome, False

    async def _continued(self, marker: str, timeout: float) -> Result:
        gate = self._gate(marker, timeout)
        return (await gate.may_continue(25, 25, description=marker)).outcome, False

    async def _collected(self, marker: str, timeout: float) -> Result:
        gate = self._gate(marker, timeout)
        return (await gate.collect(_FORM, text=f"What size is {marker}?")).outcome, False

    async def _over_http(self, marker: str, timeout: float) -> Result:
        question_id = new_id()
        branch = f"{self._api}/agents/{AGENT}/sessions/{session_of(marker)}/branches/main"
        body = {
            "type": "PERMISSION_REQUEST",
            "permissionId": question_id,
            "functionName": "deploy",
            "arguments": {"what": marker},
            "timeout": timeout,
        }
        self._ledger.ids[question_id] = marker
        self._ledger.permissions.append(question_id)
        async with asyncio.timeout(timeout + _HTTP_SECONDS):
            said = await self._until_said("POST", f"{branch}/requests", body)
            if said["response"] is not None:
                del self._ledger.ids[question_id]
                return Outcome.APPROVED if said["response"].get(
                    "approved"
                ) else Outcome.DENIED, True
            while said["response"] is None:
                await asyncio.sleep(0.2)
                said = await self._until_said("GET", f"{branch}/requests/{question_id}")
        return _outcome(said["response"]), False

    async def _until_said(self, method: str, url: str, body: Any = None) -> Any:
        """The answer, as soon as there are bots that give one."""
        headers = {"Authorization": f"Bearer {API_TOKEN}"}
        while True:
            try:
                async with self._http.request(method, url, json=body, headers=headers) as reply:
                    if reply.status < 500:
                        reply.raise_for_status()
                        return await reply.json()
            except (aiohttp.ClientConnectionError, aiohttp.ClientPayloadError):
                self._ledger.counts["calls of the API that were repeated"] += 1
            await asyncio.sleep(0.1)

    async def _killed(self, marker: str, timeout: float) -> Result:
        loop = asyncio.get_running_loop()
        ends = loop.time() + timeout
        command = ("-m", "chaos.lone_agent", AGENT, session_of(marker), marker, str(timeout))
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *command,
            env={"SAYSO_STORE_URL": self._store_url, "PYTHONPATH": "tests"},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        assert process.stdout is not None
        question_id = (await process.stdout.readline()).decode().strip()
        if process.returncode is None:
            process.kill()
        await process.wait()
        if not question_id:
            return Outcome.UNDELIVERABLE, True  # the store was away: nobody was asked
        self._ledger.ids[question_id] = marker
        other = self._gate(marker, timeout, elsewhere=True)
        return _said(await other.resume(question_id, timeout=max(0.1, ends - loop.time())))


def _call(marker: str) -> ToolCall:
    return ToolCall("deploy", {"what": marker})


def _said(verdict: CheckResult) -> Result:
    return verdict.outcome, verdict.permission_id is None


def _outcome(response: dict[str, Any]) -> Outcome:
    if response["type"] == "PERMISSION_RESPONSE":
        return Outcome.APPROVED if response["approved"] else Outcome.DENIED
    return Outcome(response["type"].removeprefix("REQUEST_").lower())
