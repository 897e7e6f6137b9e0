"""The doors whose frameworks cannot live beside our tools, each tested where its framework is."""

from __future__ import annotations

import asyncio
import os
import re
import tomllib
from pathlib import Path

import pytest
from support.frameworks import interpreter

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SOURCES = ("core", "adapters", "bots", "playground")
FRAMEWORKS = {
    "crewai": "crewai",
    "durable": "others",
    "google_adk": "others",
    "others": "others",
    "strands": "others",
}
"""The frameworks, each with its environment."""
QUIET = {
    "CREWAI_DISABLE_TELEMETRY": "true",
    "CREWAI_TRACING_ENABLED": "false",
    "OTEL_SDK_DISABLED": "true",
}
"""They tell nobody what they do."""


@pytest.mark.timeout(300)
@pytest.mark.parametrize("environment", sorted(set(FRAMEWORKS.values())))
async def test_doors_keep_their_promises_where_their_frameworks_are(
    environment: str, redis_url: str
) -> None:
    doors = [door for door, where in FRAMEWORKS.items() if where == environment]
    process = await asyncio.create_subprocess_exec(
        *(str(interpreter(environment)), "-m", "pytest", "-q", "--tb=short", "-x"),
        # What frameworks warn of is not ours to mend.
        *(
            "-W",
            "default",
            "--disable-warnings",
            "-p",
            "no:cacheprovider",
            *(str(HERE / "doors" / f"test_{door}.py") for door in doors),
        ),
        cwd=ROOT,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(str(ROOT / source) for source in SOURCES),
            "SAYSO_TEST_REDIS_URL": redis_url,
            "SAYSO_TEST_FRAMEWORK": environment,
            # Or each process of its own would compile the framework anew.
            "PYTHONDONTWRITEBYTECODE": "",
            **QUIET,
        },
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        out, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()

    assert process.returncode == 0, out.decode()[-6000:]
    assert " passed" in out.decode()


def test_types_of_a_door_are_checked_beside_our_tools_or_where_its_framework_is() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]
    (left_out,) = [one for one in settings["exclude"] if "sayso_agents" in one]
    there = re.findall(r"\$\(call mypy_at,(\w+),([\w ]+)\)", (ROOT / "Makefile").read_text())
    checked = {door: environment for environment, doors in there for door in doors.split()}

    found = re.compile(left_out)
    doors = (ROOT / "adapters" / "sayso_agents").glob("*.py")
    beside = {path.stem for path in doors if found.match(f"adapters/sayso_agents/{path.name}")}
    assert beside == checked.keys()
    assert checked == {door: FRAMEWORKS[door] for door in beside}


def test_every_file_of_tests_beside_is_run() -> None:
    files = {path.stem.removeprefix("test_") for path in (HERE / "doors").glob("test_*.py")}

    assert files == set(FRAMEWORKS)
