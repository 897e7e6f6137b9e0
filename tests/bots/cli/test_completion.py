"""`sayso completion`: what real shells complete with it."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from support.commands import Run

from sayso_bots.cli.parser import COMMANDS

TYPED = [
    ("sayso che", {"check"}),
    ("sayso re", {"replay", "revoke"}),
    ("sayso webhook s", {"set", "show"}),
    ("sayso api t", {"token"}),
    ("sayso ask --ti", {"--timeout"}),
    ("sayso ask --arg", {"--arg", "--arguments"}),
    ("sayso pending --j", {"--json"}),
    ("sayso completion z", {"zsh"}),
]

_ASK_BASH = """
source "$1"
read -ra COMP_WORDS <<<"$2"
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
COMP_LINE=$2 COMP_POINT=${#2}
_shtab_sayso sayso "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\\n' "${COMPREPLY[@]}"
"""
_ASK_FISH = 'source $argv[1]; complete -C "$argv[2]"'


def needs(shell: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(
        shutil.which(shell) is None, reason=f"{shell} is not here: apt-get install {shell}"
    )


def script(run: Run, shell: str, folder: Path) -> Path:
    done = run("completion", shell)
    assert (done.code, done.err) == (0, "")
    path = folder / f"sayso.{shell}"
    path.write_text(done.out)
    return path


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_advises_nothing_else_than_the_documentation(run: Run, shell: str) -> None:
    done = run("completion", shell)

    assert done.out
    assert "Copy this" not in done.out
    assert "tqdm/shtab" not in done.out
    assert done.out.startswith("#compdef sayso\n") == (shell == "zsh")


def offered(*command: str) -> set[str]:
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=_ENV)
    return {line.split("\t")[0].strip() for line in done.stdout.splitlines() if line.strip()}


_ENV = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "TERM": "dumb"}


@pytest.mark.parametrize(("typed", "wanted"), TYPED)
def test_bash_completes_it(typed: str, wanted: set[str], run: Run, tmp_path: Path) -> None:
    path = script(run, "bash", tmp_path)

    assert offered("bash", "-c", _ASK_BASH, "bash", str(path), typed) == wanted


@needs("fish")
@pytest.mark.parametrize(("typed", "wanted"), TYPED)
def test_fish_completes_it(typed: str, wanted: set[str], run: Run, tmp_path: Path) -> None:
    path = script(run, "fish", tmp_path)

    assert offered("fish", "--no-config", "-c", _ASK_FISH, str(path), typed) == wanted


@needs("zsh")
def test_zsh_completes_it(run: Run, tmp_path: Path) -> None:
    path = script(run, "zsh", tmp_path)
    screen, keyboard = pty.openpty()
    with subprocess.Popen(
        ["zsh", "-f", "-i"], stdin=keyboard, stdout=keyboard, stderr=keyboard, env=_ENV, cwd="/"
    ) as zsh:
        try:
            line = f"autoload -U compinit; compinit -u -D; eval \"$(<{path})\"; echo re''ady\r"
            os.write(screen, line.encode())
            _until(screen, "ready")
            os.write(screen, b"sayso webh\t")
            _until(screen, "ook")
            os.write(screen, b"de\t")
            _until(screen, "lete")
        finally:
            zsh.kill()
    os.close(screen)
    os.close(keyboard)


def _until(screen: int, text: str) -> None:
    """Read what stands on the screen until the text is among it."""
    seen, deadline = "", time.monotonic() + 20
    while text not in seen:
        ready, _, _ = select.select([screen], [], [], max(deadline - time.monotonic(), 0))
        assert ready, f"{text!r} is not in {seen!r}"
        seen += os.read(screen, 4096).decode(errors="replace")


def test_all_commands_are_completed(run: Run, tmp_path: Path) -> None:
    path = script(run, "bash", tmp_path)

    for name in COMMANDS:
        assert name in offered("bash", "-c", _ASK_BASH, "bash", str(path), f"sayso {name}")
