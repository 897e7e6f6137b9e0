"""Programs and options that only read and print."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from typing import Any

import pytest
from pydantic import TypeAdapter

from sayso.shell.line import Command
from sayso.shell.prefixes import PrefixTable, prefix_table
from sayso.shell.read_only import is_read_only
from sayso.shell.read_only_table import ReadOnlyTable, read_only_table

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
LOOKS = read_only_table().by_words
PREFIXES = prefix_table().all


@pytest.mark.parametrize("harm", HARM)
def test_an_option_that_does_harm_is_in_no_table(harm: str) -> None:
    for row in (*LOOKS.values(), *PREFIXES.values()):
        assert harm not in [re.sub(r"[=:?*]$", "", one) for one in row.options.split()]


def test_the_tables_hold_every_row() -> None:
    assert len(LOOKS) >= 76
    assert len(PREFIXES) >= 65
    assert len(read_only_table().with_any_arguments) >= 38


@pytest.mark.parametrize(
    "change",
    [
        {"shared": ["git_logs"]},
        {"check": "counts_all"},
        {"most": "few"},
        {"held": "names"},
    ],
)
def test_a_row_of_another_form_is_refused(change: dict[str, Any]) -> None:
    table = tomllib.loads(files("sayso.shell").joinpath("tables/read_only.toml").read_text("utf-8"))
    table["commands"]["git log"] |= change

    with pytest.raises(ValueError):
        TypeAdapter(ReadOnlyTable).validate_python(table)


def test_a_prefix_with_an_unknown_pattern_is_refused() -> None:
    table = tomllib.loads(files("sayso.shell").joinpath("tables/prefixes.toml").read_text("utf-8"))
    table["commands"]["git"]["git push"]["held"] = "branch"

    with pytest.raises(ValueError):
        TypeAdapter(PrefixTable).validate_python(table)


@pytest.mark.parametrize("key", LOOKS)
def test_an_option_that_is_not_in_the_table_ends_it(key: tuple[str, ...]) -> None:
    for more in ("--output=x", "--outp=x", "--no-such-option", "--exec=x"):
        assert not is_read_only(Command(key[0], (*key[1:], more)))
        assert not is_read_only(Command(key[0], (*key[1:], "x", more)))


def test_nothing_both_looks_and_has_a_beginning() -> None:
    programs = {(program,) for program in read_only_table().with_any_arguments}

    assert not LOOKS.keys() & PREFIXES.keys()
    assert not programs & {*LOOKS, *PREFIXES}


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
    assert is_read_only(Command(program, tuple(arguments))) is looks


def test_names_with_stars_are_fine_where_any_words_would_be() -> None:
    def stars(program: str, *arguments: str) -> bool:
        return is_read_only(Command(program, arguments, patterns=True))

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
    assert is_read_only(Command("find", (".", "-name", "*.py", "-exec", *program))) is looks
    assert not is_read_only(Command("find", (".", "-execdir", *program)))
    assert not is_read_only(Command("find", ("*", "-exec", *program), patterns=True))
