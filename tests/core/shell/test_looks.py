"""What only looks: which programs, and with which options."""

from __future__ import annotations

import re

import pytest

from sayso.shell.git import GIT_LOOKS
from sayso.shell.line import Command
from sayso.shell.lookers import GH_LOOKS, LOOKERS
from sayso.shell.looks import LOOKING, READING, WHATEVER, only_looks
from sayso.shell.openings import OPENINGS

# Options that write, run or send, or load what does, in whatever program they are.
HARM = re.findall(
    r"\S+",
    """
    --output-directory --ext-diff --textconv --open-files-in-pager --show-signature --exec
    --exec-path --upload-pack --receive-pack --pre --hostname-bin --search-zip --pager
    --compress-program --temporary-directory --in-place --to-command --paginate --web --config
    --config-file --plugin --rootdir --override-ini --basetemp --junitxml --pdb --script-shell
    --prefix --preload --manifest-path --target-dir --eval --makefile --force-with-lease --delete
    --mirror --amend --no-verify --edit --kubeconfig --server --host -exec -execdir -ok -okdir
    -delete -fprint -fprintf -fls -toolexec -vettool -overlay -modfile -chdir --outDir --rulesdir
    --parser --install-types
    """,
)
LOOKS = {**LOOKERS, **GIT_LOOKS, **GH_LOOKS}


@pytest.mark.parametrize("harm", HARM)
def test_an_option_that_does_harm_is_in_no_table(harm: str) -> None:
    looks = [one.written for one in LOOKS.values()]
    for written in (*looks, *(one.written for one in OPENINGS.values())):
        assert harm not in [re.sub(r"[=:?*]$", "", one) for one in written.split()]


@pytest.mark.parametrize("key", LOOKS)
def test_an_option_that_is_not_in_the_table_ends_it(key: tuple[str, ...]) -> None:
    for more in ("--output=x", "--outp=x", "--no-such-option", "--exec=x"):
        assert not only_looks(Command(key[0], (*key[1:], more)))
        assert not only_looks(Command(key[0], (*key[1:], "x", more)))


def test_nothing_both_looks_and_has_a_beginning() -> None:
    assert not LOOKS.keys() & OPENINGS.keys()
    assert not {(program,) for program in WHATEVER} & {*LOOKERS, *OPENINGS}
    assert {*LOOKING, *READING} <= WHATEVER


@pytest.mark.parametrize(
    ("program", "arguments", "looks"),
    [
        ("grep", ["-rn", "x", "src"], True),
        ("grep", ["-rnA5", "x", "src"], True),
        ("sort", ["-rk2", "x"], True),
        ("sort", ["-rox"], False),
        ("uniq", ["-c", "x"], True),
        ("uniq", ["x", "-c"], False),
        ("date", ["+%s"], True),
        ("date", ["1201"], False),
        ("command", ["-v", "x"], True),
        ("command", ["x", "-v"], False),
        ("sed", ["-n", "1,5p"], True),
        ("sed", ["-n", "1,5w x"], False),
        ("sed", ["s/a/b/g;p"], True),
        ("sed", ["s/a/b/ge"], False),
        ("awk", ["-F:", "{print $1}", "x"], True),
        ("awk", ["{print $1}", "x=y"], False),
        ("git", ["branch", "-a"], True),
        ("git", ["branch", "x"], False),
        ("git", ["branch", "--list", "x"], True),
        ("git", ["--no-pager", "log"], True),
        ("git", ["-c", "a=b", "log"], False),
        ("git", ["log", "--format=%G?"], False),
        ("git", ["config", "--get", "x"], True),
        ("git", ["config", "x", "y"], False),
        ("gh", ["pr", "view", "1", "-R", "a/b"], True),
        ("gh", ["pr", "view", "1", "-R", "a.b/c/d"], False),
        ("node", ["--version"], True),
        ("npm", ["--version"], False),
    ],
)
def test_what_looks_is_told_from_what_does_more(
    program: str, arguments: list[str], looks: bool
) -> None:
    assert only_looks(Command(program, tuple(arguments))) is looks


def test_names_with_stars_are_fine_where_any_words_would_be() -> None:
    def stars(program: str, *arguments: str) -> bool:
        return only_looks(Command(program, arguments, patterns=True))

    assert stars("ls", "*.py")
    assert stars("grep", "x", "src/*.py")
    assert not stars("grep", "x", "*.py")
    assert not stars("uniq", "a*")
    assert not stars("sed", "p", "a*")


@pytest.mark.parametrize(
    ("program", "looks"),
    [
        (["grep", "-n", "x", "{}", ";"], True),
        (["wc", "-l", "{}", "+"], True),
        (["cat", "{}", ";", "-print"], True),
        (["rm", "{}", ";"], False),
        (["cat", "{}", ";", "-delete"], False),
        (["cat", "{}", "+", "-exec", "cat", "{}", "+"], False),
        (["sort", "{}", "+", "-o", "out", ";"], False),
        (["echo", "{}", ";", "rm", "x", ";"], False),
        (["cat", "{}"], False),
        (["{}", ";"], False),
        ([";"], False),
        (["cat", "x{}", ";"], False),
        (["grep", "-f", "{}", "x", ";"], False),
        (["uniq", "{}", "+"], False),
        (["uniq", "{}", "{}", ";"], False),
        (["sed", "-n", "{}", ";"], False),
        (["hostname", "{}", ";"], False),
        (["find", "{}", "-delete", ";"], False),
        (["fd", "{}", "-x", "rm", ";"], False),
    ],
)
def test_find_looks_where_what_it_runs_looks_whatever_is_found(
    program: list[str], looks: bool
) -> None:
    assert only_looks(Command("find", (".", "-name", "*.py", "-exec", *program))) is looks
    assert not only_looks(Command("find", (".", "-execdir", *program)))
    assert not only_looks(Command("find", ("*", "-exec", *program), patterns=True))
