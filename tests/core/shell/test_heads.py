"""Two lines do the same where they differ only in who looks at what the last command prints."""

from __future__ import annotations

import pytest

from sayso.shell.line_matcher import output_head
from sayso.shell.reader import read


def held(text: str) -> str | None:
    """What a line has to have the same, in one text; None where only the whole line would do."""
    line = read(text)
    found = None if line is None else output_head(line)
    return None if found is None else " ".join(map("_".join, found))


@pytest.mark.parametrize(
    ("one", "others"),
    [
        (
            "extract --help | head -30",
            [
                *("extract --help", "extract --help 2>&1 | grep -A 5 'X Y:'", "extract '--help'"),
                *("extract --help >/dev/null 2>&1", "extract --help | sort | tail -3"),
            ],
        ),
        ("cd /tmp && extract", ["cd /tmp && extract 2>/dev/null | wc -l", "(cd /tmp && extract)"]),
        ("python -c 'print(1)'", ['python -c "print(1)" | cat']),
        (". .venv/bin/activate && tool", [". .venv/bin/activate && tool | tail -n 5"]),
        ("make | grep -q OK && deploy", ["make | grep -q OK && deploy | tail"]),
        ("rm -rf build; ./configure", ["rm -rf build\n./configure 2>&1 | head"]),
    ],
)
def test_what_looks_after_the_last_command_does_not_matter(one: str, others: list[str]) -> None:
    assert held(one) is not None
    for other in others:
        assert held(other) == held(one), other


@pytest.mark.parametrize(
    ("one", "others"),
    [
        (
            "extract --help | head",
            [
                *("extract", "extract --help x", "extract '--help '", "cd a && extract --help"),
                *("extract --help; rm x", "rm x; extract --help", "extract --help | sh"),
                *("extract --help | tee x", "echo y | extract --help", "extract --help < x"),
                *(
                    "extract --help > x",
                    "extract --help &",
                    "extract --help; ls",
                    "./extract --help",
                ),
                *("./extract --help", "extract --help </dev/null"),
                *("env extract --help", "extract --help | xargs rm"),
            ],
        ),
        ("make | grep -q OK && deploy", ["make | head && deploy", "make && deploy", "deploy"]),
        ("test -f x && drop x", ["drop x", "test -f y && drop x", "test -f x || drop x"]),
        ("cd /tmp && extract", ["extract", "cd /tmp; extract", "cd /var && extract"]),
        ("a && b", ["a || b", "a; b", "b && a", "a | b", "a"]),
        ("rm 'a*'", ["rm a*", "rm 'a*' b"]),
        ("x 'a b'", ["x a b", "x a  b", "x 'a' 'b'", "x 'a b' ''"]),
    ],
)
def test_whatever_else_differs_is_another_line(one: str, others: list[str]) -> None:
    assert held(one) is not None
    for other in others:
        assert held(other) != held(one), other


@pytest.mark.parametrize(
    "text",
    [
        *(
            "rm *.log",
            "rm 'x*' y* | head",
            "a *.c && b",
            "a < x",
            "a </dev/null",
            "ls",
            "ls | head",
        ),
        *("x | sh", "cat x | python -", "a; ls", "a && git status", "a 2>&1 | grep -q x && b"),
        *("cd a", "cd a | head", "export PATH=x | cat", "alias ls=rm", "source x | head"),
        *(". x", "exec x", "eval x | cat", "set -e; a", "export A=b && a", "source x.sh && a"),
        *("cd ../x && a", "pushd x; a", "printf -v PATH x | cat", "a 2>/dev/null; b", "a $(b)"),
    ],
)
def test_where_more_than_looking_could_differ_only_the_whole_line_would_do(text: str) -> None:
    assert held(text) is None
