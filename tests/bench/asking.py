"""What asking costs: registering a question, deciding without one, importing the package."""

from __future__ import annotations

import asyncio
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import NamedTuple

from bench.floor import connect
from redis.asyncio import Redis

from sayso import Gate, PolicyContext, Rule, RulePolicy, RunRef, ToolCall
from sayso.calls import new_id
from sayso.stores.connect import open_store
from sayso.stores.ports import Opened
from sayso.testing import a_request

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
        open_store(f"unix://{redis_path}?namespace=asking") as backend,
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


class Mix(NamedTuple):
    """Patterns by their number, the same as expressions, a value of each, and a stranger."""

    pattern: Callable[[int], str]
    expression: Callable[[int], str]
    value: Callable[[int], str]
    stranger: str


def _ordinary(number: int) -> tuple[str, str, str]:
    kinds = (
        (f"src/p{number}/**/*.ts", rf"src/p{number}/(.*/)?[^/]*\.ts", f"src/p{number}/a/b.ts"),
        (f"git {{status,log*}} --m{number}*", rf"git (status|log.*) --m{number}.*",
         f"git log -p --m{number} x"),
        (f"docs/{number}-*.md", rf"docs/{number}-.*\.md", f"docs/{number}-a.md"),
        (f"npm run *:{number}", rf"npm run .*:{number}", f"npm run test:{number}"),
        (f"*.e{number}", rf".*\.e{number}", f"a/b.e{number}"),
    )  # fmt: skip
    return kinds[number % len(kinds)]


MIXES = {
    "prefixes": Mix(
        lambda n: f"git log --grep=topic-{n:04}*",
        lambda n: rf"git log --grep=topic-{n:04}.*",
        lambda n: f"git log --grep=topic-{n:04} --all",
        "git status --short --branch",
    ),
    "ordinary": Mix(
        lambda n: _ordinary(n)[0],
        lambda n: _ordinary(n)[1],
        lambda n: _ordinary(n)[2],
        "git log -p --oneline src/a.ts",
    ),
    "groups": Mix(
        lambda n: f"@(git|hg) +(a|b{n:04})*",
        lambda n: rf"(git|hg) (a|b{n:04})+.*",
        lambda n: f"git b{n:04}b{n:04} x",
        "git status --short --branch",
    ),
    "folders": Mix(
        lambda n: f"**/f{n}/*.{{py,js}}",
        lambda n: rf"(.*/)?f{n}/.*\.(py|js)",
        lambda n: f"src/f{n}/main.py",
        "src/other/main.py",
    ),
    "sets": Mix(
        lambda n: f"*[a-c]*é{n:04}*",
        lambda n: rf".*[a-c].*é{n:04}.*",
        lambda n: f"xay é{n:04} z",
        "caba é",
    ),
    # Nothing but where a set stands tells every tenth from the others: all of those are tried.
    "alike": Mix(
        lambda n: f"*[a-c]{'?' * (n % 10)}x{n // 10}",
        lambda n: rf".*[a-c]{'.' * (n % 10)}x{n // 10}",
        lambda n: f"zzb{'?' * (n % 10)}x{n // 10}",
        f"{'z' * 20}x0",
    ),
}


def deciding(name: str, count: int) -> dict[str, dict[str, float]]:
    """Microseconds of processor time of a policy with so many patterns that needs nobody.

    Beside a bare function call, and beside as many compiled regular
    expressions tried one after the other. Once for a call that the last rule
    is about, once for one that no rule is about. Each the best of several.
    """
    mix = MIXES[name]
    policy = RulePolicy(
        allow=[Rule("run_command", {"command": mix.pattern(n)}) for n in range(count)]
    )
    compiled = [re.compile(mix.expression(n)) for n in range(count)]
    context = PolicyContext(RunRef("bench", "deciding"))

    def bare(call: ToolCall, context: PolicyContext) -> bool:
        return call.name == "run_command" and context is not None

    rows = {}
    for kind, value in (("last", mix.value(count - 1)), ("none", mix.stranger)):
        call = ToolCall("run_command", {"command": value})

        def expressions(value: str = value) -> bool:
            return any(expression.fullmatch(value) for expression in compiled)

        # They are to be the same patterns.
        assert expressions() is (policy.decide(call, context) != policy.decide(_OTHER, context))
        floor, regular, ours = [], [], []
        for _ in range(ROUNDS):
            floor.append(_timed(partial(bare, call, context)))
            regular.append(_timed(expressions, 20_000 // count))
            ours.append(_timed(partial(policy.decide, call, context), 1_000))
        key = f"deciding_{name}_{count}_{kind}"
        rows[f"{key}_us"] = _best(floor, ours)
        rows[f"{key}_beside_re_us"] = _best(regular, ours)
    return rows


_OTHER = ToolCall("other", {})


def _timed(call: Callable[[], object], count: int = 20_000) -> float:
    started = time.process_time()
    for _ in range(count):
        call()
    return (time.process_time() - started) / count * 1e6


def _best(floor: list[float], ours: list[float]) -> dict[str, float]:
    return {"floor": min(floor), "ours": min(ours), "ratio": min(ours) / min(floor)}


def importing() -> dict[str, float]:
    """Milliseconds to import Sayso, beside pydantic with one model, in fresh interpreters."""
    model = "import pydantic\nclass M(pydantic.BaseModel):\n    a: int\n"
    floor, ours = [], []
    for _ in range(_IMPORTS):
        floor.append(_interpreter(model))
        ours.append(_interpreter("import sayso"))
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
        **deciding_all(),
        "importing_ms": importing(),
    }


def deciding_all() -> dict[str, dict[str, float]]:
    """Every mix with 10 and with 1,000 rules."""
    rows: dict[str, dict[str, float]] = {}
    for name in MIXES:
        for count in (10, 1_000):
            rows |= deciding(name, count)
    return rows


if __name__ == "__main__":
    print(asyncio.run(measure_asking(sys.argv[1])))
