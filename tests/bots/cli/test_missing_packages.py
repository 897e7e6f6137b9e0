"""What a command loads, and what it says of a package that is not installed."""

from __future__ import annotations

import subprocess
import sys

import pytest


def test_asking_loads_no_chat_library() -> None:
    code = (
        "import sys; from sayso_bots.cli.main import main; "
        "main(['ask', 'x', '--store', 'redis://127.0.0.1:1', '--timeout', '0.1s'], {}); "
        "print([name for name in ('aiohttp', 'slack_sdk', 'slack_bolt', 'telegram', "
        "'sayso_playground') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd="/"
    )

    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("argv", "missing", "line"),
    [
        (
            "['serve']",
            "aiohttp",
            "`sayso serve` needs aiohttp: install Sayso with its extra `bots`",
        ),
    ],
)
def test_a_package_that_is_not_installed_is_named_with_its_extra(
    argv: str, missing: str, line: str
) -> None:
    code = (
        f"import sys; sys.modules[{missing!r}] = None; "
        f"from sayso_bots.cli.main import main; sys.exit(main({argv}, {{}}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd="/"
    )

    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith(f"sayso: {line}")
    assert done.stderr.endswith(", from where you got it\n")


def test_a_missing_client_for_redis_is_a_command_to_type() -> None:
    code = (
        "import sys; sys.modules['redis'] = None; from sayso_bots.cli.main import main; "
        "sys.exit(main(['pending', '--store', 'redis://127.0.0.1:1'], {}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd="/"
    )

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "sayso: redis:// needs the client for Redis: install Sayso with its extra `redis`, "
        "from where you got it\n"
    )
