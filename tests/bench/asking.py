"""What asking costs: registering a question, deciding without one, importing the package."""

from __future__ import annotations

import asyncio
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable

from bench.floor import connect
from redis.asyncio import Redis

from assent import Context, Gate, Rule, RulePolicy, RunRef, ToolCall
from assent.calls import new_id
from assent.connect import open_backend
from assent.ports import Opened
from assent.testing import a_request

ROUNDS = 5
_CALLS = 500
_IMPORTS = 11


async def registering(redis_path: str) -> dict[str, dict[str, float]]:
    """Microseconds to register a question (store, outbox and inbox), and to ask it through a gate.

    Beside one bare Lua round trip: over a raw connection, and through redis-py.
    """
    floor = await connect(redis_path)
    script = await floor.call("SCRIPT", "LOAD", "return redis.call('SET', KEYS[1], ARGV[1])")

    async def bare(number: int) -> None:
        await floor.call("EVALSHA", script, 1, f"floor:r:{number}", "x" * 600)

    async with (
        open_backend(f"unix://{redis_path}?namespace=asking") as backend,
        Gate.open(backend, run=RunRef("bench", "asking"), timeout=60) as gate,
    ):
        template = a_request(run=gate.run)

        async def register(number: int) -> None:
            request = template.model_copy(update={"permission_id": f"{new_id()}{number}"})
            future = backend.inbox.expect(request.question_id)
            opened = await backend.store.open(
                request, seconds=60, inbox=backend.inbox.name, book=""
            )
            if isinstance(opened, Opened):
                backend.inbox.due_in(request.question_id, opened.seconds)
            backend.inbox.forget(request.question_id, future)

        async def submit(number: int) -> None:
            await gate.submit(ToolCall("run_command", {"command": f"deploy {number}"}))

        client = Redis(unix_socket_path=redis_path)

        async def library(number: int) -> None:
            await client.evalsha(script.decode(), 1, f"floor:r:{number}", "x" * 600)

        await backend.inbox.listening()
        rows = {
            "registering_us": _row(*await _interleaved(bare, register)),
            "registering_beside_redis_py_us": _row(*await _interleaved(library, register)),
            "asking_us": _row(*await _interleaved(bare, submit)),
        }
        await client.aclose()
        return rows


async def _interleaved(
    floor: Callable[[int], Awaitable[None]], ours: Callable[[int], Awaitable[None]]
) -> tuple[list[float], list[float]]:
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        for side, call in zip(times, (floor, ours), strict=True):
            taken = []
            for number in range(_CALLS):
                started = time.perf_counter()
                await call(number)
                taken.append(time.perf_counter() - started)
            side.append(statistics.median(taken) * 1e6)
    return times


def deciding(count: int) -> dict[str, dict[str, float]]:
    """Microseconds of a policy with so many patterns that needs nobody.

    Beside a bare function call, and beside as many compiled regular
    expressions tried one after the other. The last rule is the one that fits.
    """
    patterns = [f"git log --grep=topic-{n}*" for n in range(count - 1)] + ["git status*"]
    policy = RulePolicy(allow=[Rule("run_command", {"command": text}) for text in patterns])
    compiled = [re.compile(re.escape(text[:-1]) + ".*") for text in patterns]
    command = "git status --short --branch"
    call = ToolCall("run_command", {"command": command})
    context = Context(RunRef("bench", "deciding"))

    def bare(call: ToolCall, context: Context) -> bool:
        return call.name == "run_command" and context is not None

    def expressions() -> bool:
        return any(expression.fullmatch(command) for expression in compiled)

    floor, regular, ours = [], [], []
    for _ in range(ROUNDS):
        floor.append(_timed(lambda: bare(call, context)))
        regular.append(_timed(expressions, 20_000 // count))
        ours.append(_timed(lambda: policy.decide(call, context), 200_000 // count))
    return {
        f"deciding_{count}_rules_us": _row(floor, ours),
        f"deciding_{count}_rules_beside_re_us": _row(regular, ours),
    }


def _timed(call: Callable[[], object], count: int = 20_000) -> float:
    started = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - started) / count * 1e6


def importing() -> dict[str, float]:
    """Milliseconds to import Assent, beside pydantic with one model, in fresh interpreters."""
    model = "import pydantic\nclass M(pydantic.BaseModel):\n    a: int\n"
    floor, ours = [], []
    for _ in range(_IMPORTS):
        floor.append(_interpreter(model))
        ours.append(_interpreter("import assent"))
    return _row(floor, ours)


def _interpreter(code: str) -> float:
    timed = f"import time\nstart = time.perf_counter()\n{code}\nprint(time.perf_counter() - start)"
    done = subprocess.run([sys.executable, "-c", timed], capture_output=True, text=True, check=True)
    return float(done.stdout) * 1e3


def _row(floor: list[float], ours: list[float]) -> dict[str, float]:
    medians = statistics.median(floor), statistics.median(ours)
    return {"floor": medians[0], "ours": medians[1], "ratio": medians[1] / medians[0]}


async def measure_asking(redis_path: str) -> dict[str, dict[str, float]]:
    """All three, each beside its floor."""
    return {
        **await registering(redis_path),
        **deciding(10),
        **deciding(1_000),
        "importing_ms": importing(),
    }


if __name__ == "__main__":
    print(asyncio.run(measure_asking(sys.argv[1])))
