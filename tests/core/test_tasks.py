"""Work in the background: held, awaited in the end, and heard of when it fails."""

from __future__ import annotations

import asyncio
import logging

import pytest

from sayso.tasks import Background, outcomes, together


class Work:
    """Work that ends when the test lets it, and knows how it ended."""

    def __init__(self, error: Exception | None = None) -> None:
        self.may_end = asyncio.Event()
        self.ended = ""
        self._error = error

    async def __call__(self) -> str:
        try:
            await self.may_end.wait()
        except asyncio.CancelledError:
            self.ended = "cancelled"
            raise
        if self._error is not None:
            raise self._error
        self.ended = "done"
        return "its result"


async def _turns() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_what_was_started_runs_beside_and_is_counted_until_it_is_done() -> None:
    background = Background("work")
    work = Work()

    task = background.start(work())
    assert len(background) == 1
    work.may_end.set()

    assert await task == "its result"
    assert len(background) == 0


async def test_finishing_waits_for_what_is_started_meanwhile_too() -> None:
    background = Background("work")
    first, second = Work(), Work()

    async def begets() -> None:
        await first()
        background.start(second())

    background.start(begets())
    finishing = asyncio.create_task(background.finish())
    first.may_end.set()
    await _turns()
    assert not finishing.done()
    second.may_end.set()
    await finishing

    assert (first.ended, second.ended) == ("done", "done")


async def test_what_takes_longer_than_the_patience_is_cancelled_and_said(
    caplog: pytest.LogCaptureFixture,
) -> None:
    background = Background("slow work", patience=0.01)
    work = Work()
    background.start(work())

    await background.finish()

    assert work.ended == "cancelled"
    assert caplog.messages == ["slow work: 1 took too long and were cancelled"]


async def test_nothing_goes_on_when_finishing_is_cancelled() -> None:
    background = Background("work")
    work = Work()
    background.start(work())
    finishing = asyncio.create_task(background.finish())
    await _turns()

    finishing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await finishing

    assert (work.ended, len(background)) == ("cancelled", 0)


async def test_what_cancels_everything_waits_until_it_is_done(
    caplog: pytest.LogCaptureFixture,
) -> None:
    background = Background("work")
    works = [Work(), Work()]
    for work in works:
        background.start(work())
    await _turns()

    await background.cancel()

    assert [work.ended for work in works] == ["cancelled", "cancelled"]
    assert caplog.messages == []


async def test_an_error_is_logged_with_its_traceback_and_without_secrets(
    caplog: pytest.LogCaptureFixture,
) -> None:
    background = Background("an errand")
    token = "xoxb-" + "1234567890" * 3
    work = Work(ValueError(f"no answer from https://example.org/{token}"))
    background.start(work())

    work.may_end.set()
    await background.finish()

    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert record.getMessage().startswith("an errand failed: Traceback")
    assert "ValueError: no answer from https://example.org/[redacted" in record.getMessage()
    assert token not in caplog.text


async def test_an_expected_error_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    background = Background("work", expected=(LookupError,))
    work = Work(KeyError("closed"))
    background.start(work())

    work.may_end.set()
    await background.finish()

    assert caplog.messages == []


async def test_whoever_wants_the_errors_gets_them_instead_of_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    errors: list[BaseException] = []
    error = ValueError("broken")
    background = Background("work", failed=errors.append)
    work = Work(error)
    background.start(work())

    work.may_end.set()
    await background.finish()

    assert errors == [error]
    assert caplog.messages == []


async def test_what_goes_on_during_a_block_is_over_after_it() -> None:
    background = Background("work")
    work = Work()

    async with background.during(work()):
        await _turns()
        assert work.ended == ""

    assert (work.ended, len(background)) == ("cancelled", 0)


async def test_what_a_task_starts_as_it_is_cancelled_does_not_outlive_the_end() -> None:
    background = Background("work", patience=0)
    child = Work()

    async def parent() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            background.start(child())

    background.start(parent())
    await _turns()
    await background.finish()

    assert len(background) == 0
    assert child.ended in ("", "cancelled")  # begun and cancelled, or never begun


async def test_work_done_together_has_its_results_in_its_order() -> None:
    began: list[int] = []

    async def one(number: int) -> int:
        began.append(number)
        await asyncio.sleep(0)
        assert began == [1, 2]
        return number

    async def alone() -> asyncio.Task[object] | None:
        return asyncio.current_task()

    assert await together(one(number) for number in (1, 2)) == [1, 2]
    assert await together([alone()]) == [asyncio.current_task()]
    assert await together([]) == []


@pytest.mark.parametrize("count", [1, 2])
async def test_what_fails_is_an_outcome_and_a_cancellation_is_none(count: int) -> None:
    async def fails(number: int) -> int:
        raise ValueError(number)

    async def waits(number: int) -> int:
        await asyncio.Event().wait()
        return number

    found = await outcomes(map(fails, range(count)))
    assert [str(one) for one in found] == [str(number) for number in range(count)]

    waiting = asyncio.create_task(outcomes(map(waits, range(count))))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
