"""What can wait a moment is begun between presses, one at a time, and never waits for long."""

from __future__ import annotations

import asyncio

from sayso.worker.context import InteractionPriority


async def test_work_begins_when_no_press_is_under_way() -> None:
    calm, begun = InteractionPriority(longest_seconds=30), list[str]()

    async def work() -> None:
        await calm.turn()
        begun.append("work")

    with calm.press():
        with calm.press():
            working = asyncio.create_task(work())
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        begun.append("pressed")
    await working

    assert begun == ["pressed", "work"]


async def test_under_presses_without_end_it_begins_all_the_same() -> None:
    calm = InteractionPriority(longest_seconds=0.01)

    with calm.press():
        async with asyncio.timeout(5):
            for _ in range(3):
                await calm.turn()


async def test_a_press_that_comes_meanwhile_goes_before_what_is_left() -> None:
    calm, begun = InteractionPriority(longest_seconds=30), list[str]()

    async def work(name: str) -> None:
        await calm.turn()
        begun.append(name)
        asyncio.get_running_loop().call_soon(came.set)

    async def press() -> None:
        await came.wait()
        with calm.press():
            await asyncio.sleep(0)
            begun.append("pressed")

    came = asyncio.Event()
    await asyncio.gather(press(), *(work(str(number)) for number in range(4)))

    assert begun.index("pressed") < len(begun) - 1
