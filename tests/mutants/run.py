"""``make mutants``: plants each deliberate mistake in a copy of the tree; its tests must fail.

``python -m mutants.run [WORD …]``: only those with one of the words in their topic, name or file.
Before any mistake is planted all the tests must pass. Ends with 1 when a mistake was not noticed,
or when its tests broke instead of failing.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from queue import SimpleQueue

from mutants.mutant import ROOT, Mutant, mutants
from support.valkey_server import Valkey

_SOURCES = ("core", "adapters", "bots", "playground")
_LEFT_OUT = ("build", "site", "sayso.toml")
_INSTALLED = ("clients/typescript/node_modules", ".venv-agents")
_SECONDS = 150
_PASSED, _FAILED = 0, 1
_FAILURE = re.compile(r"^FAILED (\S+)", re.MULTILINE)
# Python knows a changed file by its length and the second it was written in: each gets its own.
_WRITTEN_AT = count(1_000_000_000)


def main(words: Sequence[str]) -> int:
    """Plant the mistakes that the words name; the exit code."""
    chosen = [one for one in mutants() if _is_named(one, words)]
    if not chosen:
        print(f"no mutant is named by {' '.join(words)}", file=sys.stderr)
        return 2
    with _copies() as copies:
        return _judged(chosen, copies)


def _judged(chosen: Sequence[Mutant], copies: SimpleQueue[Copy]) -> int:
    with ThreadPoolExecutor(copies.qsize()) as pool:
        tests = sorted({test.partition("::")[0] for one in chosen for test in one.tests})
        print(f"{len(tests)} files of tests without any mistake …", flush=True)
        for test, problem in zip(tests, pool.map(lambda t: _clean(copies, t), tests), strict=True):
            if problem:
                print(f"{test} does not pass as things are:\n{problem}")
                return 1
        missed = 0
        for one, found in zip(chosen, pool.map(lambda m: _tried(copies, m), chosen), strict=True):
            print(f"{'caught' if found.caught else 'MISSED'}  {one.topic}: {one.name}")
            print(f"        {found.why}", flush=True)
            missed += not found.caught
    print(f"{len(chosen) - missed} of {len(chosen)} mistakes caught")
    return 1 if missed else 0


class Copy:
    """A copy of the tree that mistakes are planted in, one at a time."""

    def __init__(self, folder: Path, redis_url: str) -> None:
        self._folder = folder
        roots = os.pathsep.join(str(folder / source) for source in _SOURCES)
        self._environment = os.environ | {"PYTHONPATH": roots, "SAYSO_TEST_REDIS_URL": redis_url}
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "node_modules")
        # All but what was made here and what is hidden: no list of what tests read is to be kept.
        folder.mkdir()
        kept = (one for one in ROOT.iterdir() if one.name[0] != "." and one.name not in _LEFT_OUT)
        for one in kept:
            if one.is_dir():
                shutil.copytree(one, folder / one.name, ignore=ignored)
            elif one.is_file():
                shutil.copy(one, folder)
        for name in _INSTALLED:
            (folder / name).symlink_to(ROOT / name)

    def tests(self, tests: Sequence[str]) -> tuple[int, str]:
        """Run tests until one fails; pytest's exit code and its last words."""
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
        done = subprocess.run(
            command,
            cwd=self._folder,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        return done.returncode, "\n".join(done.stdout.splitlines()[-25:])

    @contextmanager
    def planted(self, one: Mutant) -> Iterator[None]:
        """The mistake stands in this copy."""
        path = self._folder / one.file
        text = path.read_text()
        self._write(path, one.planted(text))
        try:
            yield
        finally:
            self._write(path, text)

    def _write(self, path: Path, text: str) -> None:
        path.write_text(text)
        moment = next(_WRITTEN_AT)
        os.utime(path, (moment, moment))


def _is_named(one: Mutant, words: Sequence[str]) -> bool:
    said = (one.topic, one.name, one.file)
    return not words or any(word in text for word in words for text in said)


@contextmanager
def _copies() -> Iterator[SimpleQueue[Copy]]:
    """A copy for each processor, with a server of its own: some tests count what arrives there."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="sayso-mutants-"))
        copies: SimpleQueue[Copy] = SimpleQueue()
        for number in range(os.cpu_count() or 1):
            server = Valkey()
            stack.callback(server.close)
            server.start()
            copies.put(Copy(Path(folder) / str(number), server.url))
        yield copies


def _clean(copies: SimpleQueue[Copy], test: str) -> str:
    """Why a file of tests does not pass without a mistake; empty when it does."""
    copy = copies.get()
    try:
        code, said = copy.tests([test])
    finally:
        copies.put(copy)
    return "" if code == _PASSED else said


@dataclass(frozen=True, slots=True)
class _Found:
    """Whether a mistake was caught, and by which test or why not."""

    caught: bool
    why: str


def _tried(copies: SimpleQueue[Copy], one: Mutant) -> _Found:
    copy = copies.get()
    try:
        with copy.planted(one):
            code, said = copy.tests(one.tests)
    except subprocess.TimeoutExpired:
        return _Found(False, f"{one.file}: its tests neither passed nor failed in {_SECONDS} s")
    finally:
        copies.put(copy)
    if code == _FAILED:
        failed = _FAILURE.search(said)
        return _Found(True, failed[1] if failed else said)
    why = "its tests pass all the same" if code == _PASSED else f"its tests broke:\n{said}"
    return _Found(False, f"{one.file}: {why}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
