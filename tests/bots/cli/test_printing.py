"""Nothing that was written on a command line acts on the terminal it is printed on."""

from __future__ import annotations

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
    [("ask", "\udcff"), ("ask", "x", "--arg", "a=\udcff"), ("cancel", "\udcff"),
     ("api", "token", "a", "--agent", "\udcff")],
)  # fmt: skip
def test_arguments_that_are_not_utf_8_are_wrong_usage(argv: tuple[str, ...], run: Run) -> None:
    done = run(*argv)  # a byte that is not UTF-8 is such a character in sys.argv

    assert (done.code, done.out) == (2, "")
    assert done.err == "sayso: the command line is not valid UTF-8\n"
