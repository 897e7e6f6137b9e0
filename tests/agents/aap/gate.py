"""The package's gates themselves, without a framework."""

from __future__ import annotations

from typing import Any

from agentapprovalprotocol import AsyncClient, AsyncGate, Call, Client, Gate, Pending
from common import ARGUMENTS, SAYS, TOOL, Scene, Woken, pay, play, say


def call_of(scene: Scene) -> Call:
    return Call(
        key=f"{scene.thread}:{scene.call_id}",
        tool=TOOL,
        arguments=ARGUMENTS,
        server="bank",
        reasoning=SAYS,
        context={"session_id": scene.thread, "exact": 0.1},
        resume={"framework": "own", "thread_id": scene.thread},
    )


def waiting_in_a_thread(scene: Scene) -> None:
    gate = Gate(Client(*scene.provider))
    with gate.guard(call_of(scene)) as verdict:
        say("told", text=pay(**ARGUMENTS) if verdict else verdict.reason)


async def waiting(scene: Scene) -> None:
    await checked(scene, AsyncGate(AsyncClient(*scene.provider)))


async def checked(scene: Scene, gate: AsyncGate) -> None:
    async with gate.guard(call_of(scene)) as verdict:
        say("told", text=pay(**ARGUMENTS) if verdict else verdict.reason)


async def paused(scene: Scene) -> None:
    woken = Woken(scene, "own")
    async with woken.receiving() as provider:
        gate = AsyncGate(AsyncClient(*provider), mode="async")

        async def resume(handle: Any, request: Any) -> None:
            await checked(scene, gate)

        woken.resumer = resume
        assert isinstance(await gate.check(call_of(scene)), Pending)
        await woken.over()


play(waiting=waiting, waiting_in_a_thread=waiting_in_a_thread, paused=paused)
