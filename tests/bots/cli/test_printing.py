"""Nothing that was written on a command line acts on the terminal it is printed on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.commands import Run

ACTS = "\x1b[2J\x9b1A\u202e\nsayso: approved"


@pytest.mark.parametrize(
    "argv",
    [
        (ACTS,),
        ("ask", "x", f"--{ACTS}"),
        ("ask", "x", ACTS),
        ("ask", "x", "--arg", ACTS),
        ("ask", "x", "--arg", f"{ACTS}:=1x"),
        ("ask", "x", "--arg", f"{ACTS}:=[x"),
        ("ask", "x", "--arg", f"{ACTS}=1", "--arg", f"{ACTS}=2"),
        ("ask", "x", "--arguments", f'{{"{ACTS}"'),
        ("ask", "x", "--timeout", ACTS),
        ("ask", "x", "--store", ACTS),
        ("ask", "x", "--store", f"redis://{ACTS}:1"),
        ("ask", "x", "--config", ACTS),
        ("show", "x", "--config", ACTS),
        ("check", "--config", ACTS),
        ("serve", "--config", ACTS),
        ("webhook", "set", ACTS),
        ("webhook", "show", "--platform", ACTS),
        ("api", "token", ACTS),
        ("demo", "--port", ACTS),
    ],
    ids=" ".join,
)
def test_escape_sequences_of_an_argument_are_not_printed_raw(
    argv: tuple[str, ...], run: Run
) -> None:
    done = run(*argv)

    assert done.code != 0
    for printed in (done.out, done.err):
        assert not set("\x1b\x9b\u202e") & set(printed)
        assert "sayso: approved" not in printed.splitlines()


@pytest.mark.parametrize("command", ["show", "cancel", "revoke"])
def test_an_id_that_nothing_has_is_not_printed_raw(command: str, run: Run, store_url: str) -> None:
    done = run(command, ACTS, env={"SAYSO_STORE_URL": store_url})

    assert done.code == 1
    assert not set("\x1b\x9b\u202e") & set(done.out + done.err)


@pytest.mark.parametrize(
    "argv",
    [(b"ask", b"\xff"), (b"ask", b"x", b"--arg", b"a=\xff"), (b"cancel", b"\xff"),
     (b"api", b"token", b"a", b"--agent", b"\xff")],
)  # fmt: skip
def test_arguments_that_are_not_utf_8_are_wrong_usage(
    argv: tuple[bytes, ...], tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable.encode(), b"-m", b"sayso_bots", *argv],
        capture_output=True,
        check=False,
        cwd=tmp_path,
    )

    assert done.returncode == 2
    assert done.stderr == b"sayso: the command line is not valid UTF-8\n"
