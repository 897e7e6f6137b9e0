"""Reading is a matter of microseconds, however hostile the line."""

from __future__ import annotations

import subprocess
import sys
from time import process_time

import pytest

from sayso.shell.line_matcher import line_prefixes
from sayso.shell.reader import LONGEST, read

HOSTILE = [
    *("a", "'", '"', "\\", "`", "$", "a ", "a|", "''", '"\\"', "[*", "a \\\n", "2>&1", "a&&", "\n"),
    *(
        "'a'\"b\"",
        "s/a/b/;",
        "-a ",
        "../",
        "\"$(cat <<'A'\n",
        "(",
        ")",
        "\\(",
        "é",
        "~a",
        "a=",
        "#",
    ),
]


def seconds(text: str) -> float:
    """The least time that it takes, of a few attempts: others may use the machine too."""
    spent = []
    for _ in range(5):
        began = process_time()
        line = read(text)
        if line is not None:
            line_prefixes(line)
        spent.append(process_time() - began)
    return min(spent)


@pytest.mark.parametrize("piece", HOSTILE)
@pytest.mark.parametrize("before", ["", "sed ", "pytest ", "\"$(cat <<'A'\n", "git log '", 'a "'])
def test_a_hostile_line_takes_milliseconds(before: str, piece: str) -> None:
    longest = (before + piece * LONGEST)[:LONGEST]

    assert seconds(longest) < 0.01
    assert seconds(before + piece * 100_000) < 0.002
    assert seconds(longest[: LONGEST - 1] + "'") < 0.01


def test_to_import_the_package_loads_no_tables() -> None:
    code = "import sys, sayso; print(*(name for name in sys.modules if 'sayso.shell' in name))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ran.stdout.split() == []
