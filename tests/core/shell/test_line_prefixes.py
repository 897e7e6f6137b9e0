"""The prefixes that a line needs to run without a question: none where it only reads."""

from __future__ import annotations

import pytest

from sayso.shell.line_matcher import equivalent_prefixes, line_prefixes
from sayso.shell.reader import read


def needed(text: str, root: str = "") -> list[str] | None:
    """The prefixes of a line, each with blanks between its words; None where none would do."""
    line = read(text)
    found = None if line is None else line_prefixes(line, root)
    return None if found is None else [" ".join(words) for words in found]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("git status && ls -la | head -5", []),
        ("git add a b && git commit -m 'x; y'", ["git add", "git commit"]),
        ("git commit -am x && git commit -qm y", ["git commit"]),
        ("git push -u origin feature/x", ["git push origin feature/x"]),
        ("npm test", ["npm test"]),
        ("npm run lint:fix", ["npm run lint:fix"]),
        ("npm test -- --watch src/a.test.ts", ["npm test -- --watch src/a.test.ts"]),
        ("uv run pytest -xvs tests/a.py::test_b[1] 2>&1 | tail -20", None),
        ("uv run pytest -xvs 'tests/a.py::test_b[1]' 2>&1 | tail -20", ["uv run pytest"]),
        ("python -m pytest tests", ["python -m pytest"]),
        (".venv/bin/pytest -q", [".venv/bin/pytest"]),
        ("./node_modules/.bin/tsc --noEmit", ["./node_modules/.bin/tsc --noEmit"]),
        ("ruff check src -q --fix", ["ruff check --fix"]),
        ("black --diff --check src", ["black --check --diff"]),
        ("git switch -c a && git switch b", ["git switch -c", "git switch b"]),
        ("cd a && make x | head; ls", ["cd a && make x"]),
        ("make -j4 lint test", ["make lint test"]),
        ("make -j 4 test", ["make 4 test"]),
        ("cargo clippy --all -- -D warnings", ["cargo clippy -- -D warnings"]),
        ("go test ./... -run 'TestA|B' -v", ["go test"]),
        ("kubectl get pods -n web -o wide", ["kubectl get pods -n web -o wide"]),
        ("docker logs --tail 50 web", ["docker logs web"]),
        ("mkdir -p a/b", ["mkdir"]),
        ("cd web && npm test", ["cd web && npm test"]),
        ("cd web && ls", ["cd web"]),
        (
            "cd /srv/app && git add . && npm test",
            ["cd /srv/app && git add .", "cd /srv/app && npm test"],
        ),
        ("(. .venv/bin/activate && pytest)", ["source .venv/bin/activate && pytest"]),
        (
            "cd a && source .venv/bin/activate && mypy",
            ["cd a && source .venv/bin/activate && mypy"],
        ),
    ],
)
def test_a_line_needs_the_beginnings_of_what_does_more_than_look(
    text: str, words: list[str] | None
) -> None:
    assert needed(text) == words


@pytest.mark.parametrize(
    "text",
    [
        *(
            "rm -rf x",
            "sudo ls",
            "env ls",
            "xargs ls",
            "python -c 1",
            "python -m http.server",
            "node a.js",
        ),
        *(
            "npx tsc",
            "uvx ruff",
            "uv run --with x pytest",
            "uv run python a.py",
            "sh -c ls",
            "nohup ls",
        ),
        *(
            "cd ..",
            "cd a/../../b",
            "cd -",
            "cd",
            "cd a; ls",
            "cd a || ls",
            "cd a | ls",
            "cd a && cd b",
            "cd a && ls; make x",
            "cd a && ls || make x",
        ),
        *("ls && cd a", "cd a b", "source a.sh", "source ../bin/activate", ". ./bin/activate x"),
        *(
            "echo x | npm test",
            "cat x | git commit -m y",
            "pytest < x",
            "git commit",
            "git commit -F x",
        ),
        *(
            "pytest /tmp/x",
            "pytest ../x",
            "pytest @x",
            "pytest .git/x",
            "mkdir /etc/x",
            "ruff check /x",
        ),
        *(
            "make SHELL=x",
            "make -f x",
            "make ../x=y",
            "git push origin +main",
            "git push https://x/y",
        ),
        *("git push ext::sh", "./pytest", "/tmp/pytest", "x/.venv/bin/pytest", "git add *"),
    ],
)
def test_what_may_not_be_known_by_its_beginning_has_none(text: str) -> None:
    assert needed(text) is None


def test_absolute_paths_are_fine_below_the_folder_alone() -> None:
    assert needed("pytest /srv/app/tests", "/srv/app") == ["pytest"]
    assert needed("cd /srv/app && pytest /srv/app/tests") == ["cd /srv/app && pytest"]
    for path in ("/srv/apple/x", "/srv/app/../x", "/srv/app", "/srv/app/.git/x", "/srv/app//x"):
        assert needed(f"pytest {path}", "/srv/app") is None


@pytest.mark.parametrize(
    "text",
    [
        *(
            "git add x",
            "npm run a:b -- -x",
            "cargo test -p a -- --nocapture",
            "uv run ruff check --fix",
        ),
        *(
            "cd a/b && make -k x",
            "source .venv/bin/activate && cd a && pytest -k 'x or y'",
            "cd /a && ls",
        ),
    ],
)
def test_a_beginning_is_a_line_with_itself_as_its_beginning(text: str) -> None:
    words = needed(text)

    assert words is not None
    assert needed(words[0]) == words


def test_a_tool_for_python_is_alike_alone_in_the_environment_and_by_uv() -> None:
    ways = {
        ("pytest",),
        ("uv", "run", "pytest"),
        ("source", ".venv/bin/activate", "&&", "pytest"),
    }

    assert all({*equivalent_prefixes((one,))} == ways for one in ways)


def test_what_writes_is_alike_to_what_checks_and_never_the_other_way_round() -> None:
    assert ("ruff", "check") in equivalent_prefixes((("ruff", "check", "--fix"),))
    assert ("ruff", "check", "--fix") not in equivalent_prefixes((("ruff", "check"),))
    assert ("ruff", "format") not in equivalent_prefixes((("ruff", "format", "--check"),))


@pytest.mark.parametrize(
    "needed",
    [
        *(("git", "commit"), ("npm", "test"), ("uv", "sync"), ("cd", "web", "&&", "pytest")),
        ("source", "other/bin/activate", "&&", "pytest"),
    ],
)
def test_nothing_else_is_alike(needed: tuple[str, ...]) -> None:
    assert equivalent_prefixes((needed,)) == (needed,)
    assert equivalent_prefixes((needed, ("pytest",))) == (needed, ("pytest",))
