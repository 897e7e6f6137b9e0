"""The helper: what needs nobody starts quickly, by the same order, for its user alone."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import pytest
from support.hooked import READS, Machine, a_machine, decision, event, until

from sayso import RunRef
from sayso.stores.backend import Backend
from sayso.testing import a_request, a_response
from sayso.testing.builders import a_rule
from sayso_bots.resident.client import ask_helper
from sayso_bots.resident.place import folder_of, identity
from sayso_bots.resident.server import Helper, Say, only_one

# What a start may load of the large packages: nothing.
HEAVY = {"pydantic", "redis", "asyncio", "argparse", "sayso", "aiohttp", "logging", "pathlib"}


async def loaded(machine: Machine, *words: str, text: bytes = b"") -> set[str]:
    """The packages that a command has loaded at its end."""
    code = (
        "import sys; from sayso_bots.cli.main import main\n"
        f"sys.argv = ['sayso', *{words!r}]; code = main()\n"
        "print(*{name.partition('.')[0] for name in sys.modules}, file=sys.stderr)"
    )
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-c", code),
        cwd=machine.folder,
        env=machine.env,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate(text)
    assert b"llow" in out or b"approved" in out
    return set(err.decode().split())


async def test_a_call_that_a_policy_allows_loads_nothing_large(machine: Machine) -> None:
    assert await loaded(machine, "ask", "read") & HEAVY == set()
    assert await loaded(machine, "hook", "claude-code", text=event("read")) & HEAVY == set()


async def test_the_helper_says_what_the_command_itself_would_say(machine: Machine) -> None:
    for words in (("read",), ("rm",), ("read", "--json"), ("read", "--agent", "x")):
        helped = await machine.run("ask", *words)
        alone = await machine.run("ask", *words, SAYSO_HELPER="off")

        assert (helped.code, helped.out) == (alone.code, alone.out)


async def test_a_person_is_asked_by_the_command_itself(machine: Machine) -> None:
    done = await machine.run("ask", "write", "--timeout", "1500ms")

    assert done.code == 3
    assert "sayso: asked as" in done.err


async def test_settings_count_from_the_next_call_on(machine: Machine) -> None:
    before = await machine.run("ask", "read")
    (machine.folder / "sayso.toml").write_text('[[policy]]\ndeny = [{ tool = "read" }]\n')
    after = await machine.run("ask", "read")

    assert (before.code, after.code) == (0, 1)


async def test_settings_that_are_named_relatively_are_those_of_the_folder_of_the_command(
    machine: Machine, tmp_path: Path
) -> None:
    env = {name: value for name, value in machine.env.items() if name != "SAYSO_CONFIG"}
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "sayso.toml").write_text('[[policy]]\ndeny = [{ tool = "read" }]\n')

    words = ("ask", "read", "--config", "sayso.toml")
    there = await Machine(elsewhere, machine.runtime, env).run(*words)
    here = await Machine(machine.folder, machine.runtime, env).run(*words)

    assert (there.code, here.code) == (1, 0)


async def test_always_deny_in_the_store_comes_before_a_policy_that_allows(
    machine: Machine, backend: Backend
) -> None:
    run = RunRef("cli", "s-1")
    before = await machine.run("ask", "read", "--session", "s-1")
    await _remember(backend, run, "deny")
    after = await machine.run("ask", "read", "--session", "s-1")
    hooked = await machine.hook(event("read"), "--agent", "cli")

    assert (before.code, after.code) == (0, 1)
    assert decision(hooked)[0] == "deny"


async def test_always_allow_in_the_store_needs_nobody(machine: Machine, backend: Backend) -> None:
    await _remember(backend, RunRef("cli", "s-1"), "allow", "write")

    done = await machine.run("ask", "write", "--session", "s-1", "--quiet")

    assert (done.code, done.err) == (0, "")


async def _remember(
    backend: Backend, run: RunRef, effect: Literal["allow", "deny"], tool: str = "read"
) -> None:
    """Store what a person chose with Always."""
    request = a_request(run=run)
    await backend.store.open(request, seconds=60, inbox="", book=None)
    response = a_response(request, approved=effect == "allow")
    rule = a_rule(tool, effect=effect)
    await backend.store.settle(request.question_id, response, remember=rule)


async def test_its_folder_is_for_the_user_alone_and_its_name_says_nothing(
    machine: Machine, runtime: Path
) -> None:
    folder = runtime / "sayso"

    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(machine.socket.stat().st_mode) == 0o600
    secret = machine.env["SAYSO_STORE_URL"]
    assert secret not in identity(machine.env)
    environ = Path(f"/proc/{machine.helper()}/environ").read_bytes()
    assert secret.encode() not in environ


@pytest.mark.parametrize("how", ["open to others", "a link"])
def test_a_folder_that_others_could_have_made_is_not_used(
    runtime: Path, tmp_path: Path, how: str
) -> None:
    folder = runtime / "sayso"
    if how == "a link":
        (tmp_path / "theirs").mkdir(mode=0o700)
        folder.symlink_to(tmp_path / "theirs")
    else:
        folder.mkdir()
        folder.chmod(0o750)

    assert folder_of({"XDG_RUNTIME_DIR": str(runtime)}) is None


def test_there_is_none_where_it_is_switched_off(runtime: Path) -> None:
    env = {"XDG_RUNTIME_DIR": str(runtime)}

    assert folder_of(env) == str(runtime / "sayso")
    assert folder_of({**env, "SAYSO_HELPER": "off"}) is None


async def test_another_version_of_the_code_is_never_asked(machine: Machine, tmp_path: Path) -> None:
    package = tmp_path / "newer" / "sayso_slack"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()

    newer = await machine.run("ask", "read", PYTHONPATH=str(package.parent))

    assert newer.code == 0
    await until(lambda: len(list(machine.socket.parent.glob("*.sock"))) == 2)


async def test_a_hook_that_ignores_what_a_project_says_to_python_has_a_helper_that_does(
    machine: Machine, tmp_path: Path
) -> None:
    (tmp_path / "src").mkdir()
    words = (sys.executable, "-I", "-m", "sayso_bots", "ask", "read")
    env = {**machine.env, "PYTHONPATH": str(tmp_path / "src")}
    first = machine.helper()

    process = await asyncio.create_subprocess_exec(*words, env=env, stdout=-3)
    assert await process.wait() == 0
    await until(lambda: len(list(machine.socket.parent.glob("*.sock"))) == 2)

    (lock,) = (
        at for at in machine.socket.parent.glob("*.lock") if int(at.read_text() or 0) != first
    )
    helper = Path("/proc", lock.read_text().strip())
    assert b"\0-I\0" in (helper / "cmdline").read_bytes()
    assert b"PYTHONPATH" not in (helper / "environ").read_bytes()


async def test_a_helper_of_other_code_at_the_same_address_answers_nothing(
    runtime: Path,
) -> None:
    env = {"XDG_RUNTIME_DIR": str(runtime)}
    asked: list[Mapping[str, Any]] = []

    async def answer(said: Mapping[str, Any], _say: Say) -> Mapping[str, Any]:
        asked.append(said)
        return {"code": 0, "out": "approved\n"}

    async def said_by(who: str) -> Mapping[str, Any] | None:
        with only_one(str(folder_of(env)), identity(env)) as at:
            assert at is not None
            serving = asyncio.create_task(Helper(who, answer).serve(at))
            await until(Path(at).exists)
            said = await asyncio.to_thread(ask_helper, ("ask", "x"), env, seconds=5)
            serving.cancel()
            await asyncio.wait({serving})
            return said

    assert await said_by("somebody else") is None
    assert asked == []
    assert await said_by(identity(env)) == {"code": 0, "out": "approved\n"}


async def test_many_commands_at_once_start_one_helper(
    tmp_path: Path, runtime: Path, store_url: str
) -> None:
    machine = a_machine(tmp_path, runtime, READS, SAYSO_STORE_URL=store_url)

    done = await asyncio.gather(*(machine.run("ask", "read") for _ in range(4)))
    await until(machine.listens)

    assert [one.code for one in done] == [0] * 4
    assert len(list(machine.socket.parent.glob("*.sock"))) == 1


async def test_a_helper_that_was_killed_is_started_again(machine: Machine) -> None:
    first = machine.helper()
    os.kill(first, signal.SIGKILL)

    done = await machine.run("ask", "read")
    await until(lambda: machine.listens() and machine.helper() != first)

    assert done.code == 0


async def test_arguments_from_stdin_are_read_by_the_command(machine: Machine) -> None:
    done = await machine.run(
        "ask", "read", "--arguments", "-", "--json", text=json.dumps({"a": 1}).encode()
    )

    assert json.loads(done.out)["arguments"] == {"a": 1}
