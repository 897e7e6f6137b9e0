"""Tests in several processes: each is run once, and whatever goes wrong in one of them is told."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CONFTEST = """
import atexit
import os
from pathlib import Path
import pytest
from support.side_by_side import SideBySide

def pytest_configure(config):
    config.pluginmanager.register(SideBySide(2))

@pytest.fixture(scope="session")
def put_away():
    atexit.register((Path(__file__).parent / f"at-exit-{os.getpid()}").touch)
    yield
    (Path(__file__).parent / f"put-away-{os.getpid()}").touch()

@pytest.fixture(scope="module")
def shared():
    with (Path(__file__).parent / "made").open("a") as file:
        file.write("x")
"""
PASSING = """
import os
import pytest

@pytest.mark.parametrize("number", range(20))
def test_it(number, tmp_path, shared, put_away):
    with open(__file__ + ".ran", "a") as file:
        file.write(f"{number} {os.getpid()} {tmp_path}\\n")
"""


def run_of(folder: Path, files: Mapping[str, str], *options: str) -> tuple[int, str]:
    (folder / "conftest.py").write_text(CONFTEST)
    for name, text in files.items():
        (folder / f"test_{name}.py").write_text(text)
    done = subprocess.run(
        (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rA", *options, "."),
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(HERE), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )
    return done.returncode, done.stdout + done.stderr


def test_every_test_is_run_once_and_a_file_in_one_process(tmp_path: Path) -> None:
    names = "abcdef"

    code, out = run_of(tmp_path, dict.fromkeys(names, PASSING))

    assert (code, "120 passed" in out) == (0, True), out
    lines = {
        name: [line.split() for line in (tmp_path / f"test_{name}.py.ran").read_text().splitlines()]
        for name in names
    }
    assert all([line[0] for line in ran] == [*map(str, range(20))] for ran in lines.values())
    assert {len({line[1] for line in ran}) for ran in lines.values()} == {1}
    processes = {ran[0][1] for ran in lines.values()}
    assert len({line[2] for ran in lines.values() for line in ran}) == 120
    assert (tmp_path / "made").read_text() == "x" * len(names)
    for end in ("put-away", "at-exit"):
        ended = {path.name for path in tmp_path.glob(f"{end}-*")}
        assert ended == {f"{end}-{process}" for process in processes}


def test_what_fails_in_a_process_is_told_with_what_it_printed(tmp_path: Path) -> None:
    failing = "import warnings\ndef test_it():\n    print('look ' 'here')\n    assert 1 == 2"
    warning = "import warnings\ndef test_it():\n    warnings.warn('be ' 'careful')"

    code, out = run_of(tmp_path, {"a": PASSING, "b": failing, "c": warning})

    assert code == 1, out
    assert "FAILED test_b.py::test_it - assert 1 == 2" in out
    assert "look here" in out
    assert "UserWarning: be careful" in out
    assert "1 failed, 21 passed, 1 warning" in out


def test_a_test_that_hangs_is_told_with_the_place_where_it_did(tmp_path: Path) -> None:
    hanging = "import threading\ndef test_it():\n    threading.Event().wait()"
    options = ("-p", "pytest_timeout", "--timeout", "0.1", "--timeout-method", "signal")

    code, out = run_of(tmp_path, {"a": hanging, "b": PASSING}, *options)

    assert code == 1, out
    assert "FAILED test_a.py::test_it - Failed: Timeout" in out
    assert "threading.Event().wait()" in out


@pytest.mark.parametrize("ending", ["os._exit(0)", "os.kill(os.getpid(), 9)"])
def test_a_process_that_ends_before_its_time_is_a_failure(tmp_path: Path, ending: str) -> None:
    dying = f"import os\ndef test_one():\n    {ending}\ndef test_two():\n    pass"

    code, out = run_of(tmp_path, {"a": dying, "b": PASSING})

    assert code == 1, out
    assert "FAILED test_a.py::test_one - The process that ran this test ended" in out
    assert "1 failed, 20 passed" in out


def test_nothing_passes_where_all_processes_have_ended(tmp_path: Path) -> None:
    dying = "import os\ndef test_one():\n    os._exit(3)"

    code, out = run_of(tmp_path, dict.fromkeys("abc", dying))

    assert code == 1, out
    assert "before all tests were run" in out


def test_what_fails_while_shared_things_are_put_away_is_a_failure(tmp_path: Path) -> None:
    failing = (
        "import pytest\n@pytest.fixture(scope='session')\ndef it():\n    yield\n    assert 0\n"
    )

    code, out = run_of(tmp_path, {"a": failing + "def test_it(it):\n    pass", "b": PASSING})

    assert code == 1, out
    assert "21 passed, 1 error" in out


def test_at_the_first_failure_one_can_stop_and_shared_things_are_put_away(tmp_path: Path) -> None:
    failing = "def test_it(put_away):\n    assert False"

    code, out = run_of(tmp_path, {"a": failing, "b": PASSING, "c": PASSING}, "-x")

    assert code == 1, out
    assert "stopping after 1 failures" in out
    assert list(tmp_path.glob("put-away-*"))
