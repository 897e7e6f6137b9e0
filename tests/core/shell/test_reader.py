"""Command lines are taken apart as shells take them apart, or not at all."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples

from sayso.shell.line import Command, Line
from sayso.shell.reader import LONGEST, MOST_PARTS, read


def words(text: str) -> list[list[str]]:
    """The commands of a line that is understood, as words."""
    line = read(text)
    assert line is not None, text
    return [[part.program, *part.arguments] for part in line.parts]


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("git status --short", [["git", "status", "--short"]]),
        ("  ls  -la \n", [["ls", "-la"]]),
        ("ls 'a b' \"c d\" e\\ f", [["ls", "a b", "c d", "e f"]]),
        ('grep -n "def it" \'a\'"b"c', [["grep", "-n", "def it", "abc"]]),
        ('echo "a\\"b\\\\c\\d"', [["echo", 'a"b\\c\\d']]),
        ("echo '' \"\"", [["echo", "", ""]]),
        ('grep "x$" a', [["grep", "x$", "a"]]),
        ("git show HEAD~1 HEAD^", [["git", "show", "HEAD~1", "HEAD^"]]),
        (
            "find . \\( -name a \\) \\! -type d",
            [["find", ".", "(", "-name", "a", ")", "!", "-type", "d"]],
        ),
        ("a && b || c; d | e", [["a"], ["b"], ["c"], ["d"], ["e"]]),
        ("a\nb;\n\nc &&\n d |\n e\n", [["a"], ["b"], ["c"], ["d"], ["e"]]),
        ("ls \\\n  -la", [["ls", "-la"]]),
        ("(cd web && npm test)", [["cd", "web"], ["npm", "test"]]),
        ("find . -exec cat {} \\;", [["find", ".", "-exec", "cat", "{}", ";"]]),
        ("echo 'ein Größe; — 日本'", [["echo", "ein Größe; — 日本"]]),
    ],
)
def test_plain_lines_are_understood(text: str, commands: list[list[str]]) -> None:
    assert words(text) == commands


def test_what_joins_the_commands_is_told() -> None:
    line = read("a && b || c | d\ne; f;")

    assert line is not None
    assert line.joins == ("&&", "||", "|", ";", ";")


def test_redirections_that_write_nothing_are_understood() -> None:
    line = read("a >/dev/null 2>&1 | b 2> /dev/null < notes.txt && c >&2 </dev/null")

    assert line is not None
    assert [part.redirects for part in line.parts] == [
        (">/dev/null", "2>&1"),
        ("2>/dev/null", "<notes.txt"),
        (">&2", "</dev/null"),
    ]
    assert [part.reads_file for part in line.parts] == [False, True, False]


def test_names_of_files_with_stars_are_said_to_be_such() -> None:
    assert read("ls *.py 'a*' && ls") == Line(
        (Command("ls", ("*.py", "a*"), patterns=True), Command("ls")), ("&&",)
    )
    assert read("ls '*.py'") == Line((Command("ls", ("*.py",)),))


MESSAGE = "git commit -m \"$(cat <<'EOF'\n{}\nEOF\n)\""


@pytest.mark.parametrize(
    "text",
    ["one line", 'it\'s\n\n- `a` (b)\n- "c" $HOME $(d)', "a (b)\nc", "", "EOFX\n EOF", "x\n\n"],
)
def test_a_message_in_a_here_document_is_data(text: str) -> None:
    assert words(MESSAGE.format(text)) == [["git", "commit", "-m", text.rstrip("\n")]]
    assert words(MESSAGE.format(text) + " && git status")[1] == ["git", "status"]


@pytest.mark.parametrize(
    "text",
    [
        MESSAGE.format("a\nEOF\n)\"; rm -rf x; echo \"$(cat <<'EOF'\nb"),
        MESSAGE.format("a\nEOF\nrm -rf x"),
        MESSAGE.format("a").replace("'EOF'", "EOF"),
        MESSAGE.format("a").replace("'EOF'", "-'EOF'"),
        MESSAGE.format("a").replace("\nEOF\n)", "\nEOF)"),
        MESSAGE.format("a").replace("cat", "tac"),
        MESSAGE.format("a").replace("cat", "cat x"),
        MESSAGE.format("a").replace("\n)", "\nrm -rf x)"),
        MESSAGE.format("a") + "x; rm -rf x",
        MESSAGE.format("a")[:-1],
        MESSAGE.format("a").replace('"', ""),
    ],
)
def test_any_other_here_document_is_not_understood(text: str) -> None:
    assert read(text) is None or not any("rm" in command for command in words(text))
    assert read(text) is None


@pytest.mark.parametrize(
    ("body", "after"),
    [
        (')"; rm -rf x; echo "', ""),
        ("don't (it's) `rm -rf x`", ""),
        ("it's ) $(rm -rf x)", ""),
        ("a", " && echo ')\"; rm -rf x #'"),
        ("don't", " && echo 'x)\"; rm -rf x; \"'"),
        ("\\(a) `rm -rf x`", ""),
        ("${ a\n(b}c) `rm -rf x`", ""),
    ],
)
def test_a_message_that_the_bash_of_macos_reads_in_another_way_is_not_understood(
    body: str, after: str
) -> None:
    assert read(MESSAGE.format(body) + after) is None


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "\n", ";", "&&", "a &&", "a |", "| a", "a ;; b", "a; ; b", "a\n&& b", "&& a"),
        *("a & b", "a &", "a |& b", "a &&& b", "a ||| b", "a >x", "a > x", "a >> x", "a 2>x"),
        *("a >|/dev/null", "a &>/dev/null", "a >/dev/nullx", "a >/dev/null/../x", "a 3>&1"),
        *(
            "a 2>&12",
            "a <<x",
            "a <<<x",
            "a <(b)",
            "a >(b)",
            "a < /dev/tcp/h/80",
            "a <../dev/tcp/h/1",
        ),
        *("a $b", "a ${b}", "a $(b)", "a `b`", 'a "$b"', 'a "$(b)"', 'a "`b`"', "a $'b'", 'a $"b"'),
        *("a $((1))", "a $[1]", "a {b,c}", "a {1..3}", "a ~", "a ~/b", "a b=~/c", "a b:~c"),
        *(
            "a !b",
            'a "b!c"',
            "!a",
            "! a",
            "a # b",
            "a b#c",
            "a 'b''c'",
            "#a",
            "a=b",
            "a=b c",
            "PATH=x a",
            "a+=b c",
            "a[1]=b",
        ),
        *("if a", "while a", "for a", "{ a", "[[ a", "[ a", "time a", "coproc a", "function a"),
        *("a() b", "a () { b; }", "(a", "a)", "((a))", "(a) (b)", "(a) && (b)", "()", "( )"),
        *("'a' b", '"a" b', "\\a b", "a*b c", "~/a", "=a", "a =b", "a ^b", "-a"),
        *(
            "a 'b",
            'a "b',
            "a b\\",
            "a\\\nb",
            "a\u00a0b",
            "a \u2003b",
            "a\u2028b",
            "a é",
            "a\rb",
            "a \r\nb",
        ),
        *(
            "a\0b",
            "a 'b\0c'",
            "a \x1b[31m",
            "a '\x7f'",
            "a '\x85'",
            "a '\ud800'",
            'a "é\\""',
            "a \vb",
        ),
        *("a'b'>x", 'a "b">x', "a b>x", "a 2>&1x", "<x a", "2>&1 a", "a @(b)", "a +(b)", "%1"),
    ],
)
def test_the_rest_is_not_understood(text: str) -> None:
    assert read(text) is None


def test_a_long_line_is_not_looked_at() -> None:
    assert read("echo " + "a" * (LONGEST - 5)) is not None
    assert read("echo " + "a" * (LONGEST - 4)) is None
    assert read(";".join(["a"] * MOST_PARTS)) is not None
    assert read(";".join(["a"] * (MOST_PARTS + 1))) is None


SHELLS = [shell for shell in ("bash", "dash", "zsh") if shutil.which(shell)]
FRAGMENTS = [
    *("p", "q", "r", " ", " ", " ", "  ", "\n", "\\\n", " \\\n", "\t", ";", "&&", "||", "|", "&"),
    *(
        "'",
        '"',
        "\\",
        "a",
        "b.c",
        "-x",
        "--long=y",
        "=",
        "~",
        "#",
        "^",
        "%",
        "@",
        ":",
        "+",
        ",",
        "/",
    ),
    *("$", "`", "!", "*", "?", "[", "]", "{", "}", "(", ")", "<", ">", "2>&1", ">/dev/null", "é"),
    *("'a b'", '"c d"', "'$x'", '"\\$x"', '"x$"', "\\;", "\\ ", "\\'", '\\"', "''", '""', "1", "2"),
    *(
        " < notes.txt",
        " 2> /dev/null",
        "HEAD~1",
        '"it\'s"',
        "'say \"x\"'",
        "\u00a0",
        "\r",
        "if",
        "=",
    ),
    "\"$(cat <<'EOF'\n",
    '\nEOF\n)"',
    "EOF",
]
PARTS = [
    *("p", "q", "a b", "'a;b'", '"c|d"', "\\&", "2>&1", "<notes.txt", "x*", "&&", "||", "|", ";"),
    *("{}", "\\;", "+"),
    *("\n", "a=b", "''\"\"", "\"$(cat <<'EOF'\nit's ($x)\nEOF\n)\"", "\\\n", '"a\\b"', "é", "~1"),
]
LIKELY = st.lists(st.sampled_from(PARTS), max_size=9).map(lambda found: "p " + " ".join(found))
LINES = st.lists(st.sampled_from(FRAGMENTS), max_size=14).map("".join) | LIKELY


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("status", [0, 1])
@settings(max_examples=examples(100), deadline=None)
@given(text=LINES)
def test_whatever_is_understood_runs_as_it_was_understood(
    folder: Path, shell: str, status: int, text: str
) -> None:
    line = read(text)

    if line is not None:
        for part in line.parts:
            if part.program not in ("p", "q", "r"):
                return
        assert ran(folder, shell, text, status) == sorted(runs(line, status))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("shell")
    (made / "notes.txt").touch()
    return made


RECORDER = """
record() {{ printf '%s\\0' "$#" "$@" >&3; return {status}; }}
p() {{ record p "$@"; }}
q() {{ record q "$@"; }}
r() {{ record r "$@"; }}
cat() {{ while IFS= read -r one; do printf '%s\\n' "$one"; done; }}
set -o noglob
{line}
"""


def ran(folder: Path, shell: str, text: str, status: int) -> list[list[str]]:
    """What a shell runs for the line, where each program writes down how it was called."""
    record = folder / "record"
    record.write_bytes(b"")
    script = f"exec 3>>{record}\n" + RECORDER.format(status=status, line=text)
    subprocess.run(
        [shutil.which(shell) or shell, "-c", script],
        cwd=folder, env=ALONE, check=False,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    fields = iter(record.read_text().split("\0"))
    return sorted(
        [next(fields) for _ in range(int(count))] for count in iter(lambda: next(fields), "")
    )


ALONE = {"PATH": "/nowhere", "LC_ALL": "C.UTF-8"}


def runs(line: Line, status: int) -> Iterator[list[str]]:
    """What runs of a line where each command ends with this status."""
    last = 0
    goes = True
    for at, part in enumerate(line.parts):
        join = line.joins[at - 1] if at else ";"
        if join != "|":
            goes = join == ";" or (join == "&&") == (last == 0)
        if goes:
            last = status
            yield [part.program, *part.arguments]
