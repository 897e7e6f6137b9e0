"""What the documents show is true: code runs, settings load, commands, targets and files exist."""

from __future__ import annotations

import ast
import asyncio
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.parsers import load_parsers

import sayso
from sayso import events
from sayso.agent import responding
from sayso.agent.tools import wrap
from sayso.clock import utc_now
from sayso.questions.permission import PermissionRequestEvent
from sayso.rules import rule
from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend
from sayso.testing.builders import PATIENCE_SECONDS

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
STORE = '"redis://127.0.0.1:6379/0"'
# Where the names of the glossary are.
HOMES = (sayso, events, responding, wrap, rule)
SECRETS = {
    "SLACK_BOT_TOKEN": "xoxb-of-a-test",
    "SLACK_APP_TOKEN": "xapp-of-a-test",
    "TELEGRAM_BOT_TOKEN": "123456:of-a-test",
}


@dataclass(frozen=True, slots=True)
class _Block:
    """A fenced block: its language, its text, and what a comment above says to do with it."""

    document: Path
    line: int
    language: str
    text: str
    run: str = ""

    def __str__(self) -> str:
        return f"{self.document.relative_to(ROOT)}:{self.line}"


_FENCE = re.compile(
    r"(?:^<!-- run: (?P<run>\w+) -->\n)?"
    r"^(?P<indent> *)```(?P<language>\w+)\n(?P<text>.*?)^ *```$",
    re.MULTILINE | re.DOTALL,
)


def _blocks(language: str) -> Iterator[_Block]:
    for document in DOCUMENTS:
        content = document.read_text()
        for found in _FENCE.finditer(content):
            if found["language"] == language:
                text = re.sub(f"^{found['indent']}", "", found["text"], flags=re.MULTILINE)
                line = content.count("\n", 0, found.start("text"))
                yield _Block(document, line, language, text, found["run"] or "")


PYTHON = list(_blocks("python"))
TOML = list(_blocks("toml"))


def test_the_readme_shows_code_and_settings() -> None:
    assert any(block.run for block in PYTHON)
    assert TOML


@pytest.mark.parametrize("block", PYTHON, ids=str)
def test_code_compiles(block: _Block) -> None:
    compile(block.text, str(block), "exec")


@pytest.mark.parametrize("block", [block for block in PYTHON if block.run], ids=str)
@pytest.mark.parametrize("answer", ["approved", "denied"])
async def test_code_runs(block: _Block, answer: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert STORE in block.text
    assert block.text.endswith("asyncio.run(main())\n")
    text = block.text.replace(STORE, "STORE").removesuffix("asyncio.run(main())\n")

    async with memory_backend() as backend:
        names: dict[str, object] = {"STORE": backend, "__name__": "readme"}
        exec(compile(text, str(block), "exec"), names)
        main = names["main"]
        assert asyncio.iscoroutinefunction(main)
        async with asyncio.timeout(PATIENCE_SECONDS), asyncio.TaskGroup() as tasks:
            tasks.create_task(main())
            tasks.create_task(_answer(backend, answer))

    printed = capsys.readouterr().out
    assert ("was denied" in printed) is (answer == "denied"), printed


async def _answer(backend: Backend, answer: str) -> None:
    """Answer the first question that is asked."""
    async with backend.outbox.jobs("test") as jobs:
        job = await anext(jobs)
        record = await backend.store.get(job.question_id)
        assert record is not None
        request = record.request
        assert isinstance(request, PermissionRequestEvent)
        say = request.approve if answer == "approved" else request.deny
        await backend.store.settle(job.question_id, say(by="slack:U0ALICE", at=utc_now()))


@pytest.mark.parametrize("block", TOML, ids=str)
def test_settings_load(block: _Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sayso_bots.config.settings import read_settings

    monkeypatch.syspath_prepend(str(ROOT / "examples" / "terminal_adapter"))
    (tmp_path / "sayso.toml").write_text(block.text)
    written = tomllib.loads(block.text)
    secrets = {
        name: value
        for name, value in SECRETS.items()
        if name.removeprefix("SAYSO_").partition("_")[0].lower() in written
    }

    settings = read_settings(str(tmp_path / "sayso.toml"), secrets)

    assert settings.warnings == ()


_COMMAND = re.compile(r"(?:^ {4,}|`)sayso ([a-z]+(?:-[a-z]+)*(?: [a-z][a-z-]*)?)", re.MULTILINE)


def _commands() -> set[str]:
    """All commands that the documents show, of one or two words."""
    found: set[str] = set()
    for document in DOCUMENTS:
        text = document.read_text()
        for command in _COMMAND.findall(text):
            two = command.startswith(("webhook ", "api ", "hook ", "mcp "))
            found.add(command if two else command.partition(" ")[0])
    return found


def test_commands_exist_and_none_is_forgotten() -> None:
    shown, known = _commands(), set(load_parsers())

    assert shown <= known
    assert known - shown <= {"webhook", "api", "hook"}


def test_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    known = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    shown = {
        target
        for document in DOCUMENTS
        for target in re.findall(r"(?:^ {4,}|`)make ([a-z]+)", document.read_text(), re.MULTILINE)
    }

    assert {"demo", "test", "check"} <= shown <= known


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    targets = re.findall(r"\]\(([^)\s]+)\)", document.read_text())
    local = [target.partition("#") for target in targets if "://" not in target]

    for path, _, anchor in local:
        target = document.parent / path if path else document
        assert target.exists(), f"{document.name} links to {path}, which does not exist"
        if anchor:
            headings = re.findall(r"^#+ (.+)$", target.read_text(), re.MULTILINE)
            anchors = [re.sub(r"[^\w -]", "", text.lower()).replace(" ", "-") for text in headings]
            assert anchor in anchors, f"{document.name}: {path} has no heading #{anchor}"


@pytest.mark.parametrize(
    "page", sorted((ROOT / "docs" / "agents").glob("*.md")), ids=lambda page: page.stem
)
def test_each_page_about_an_agent_says_at_its_top_what_its_first_example_does(page: Path) -> None:
    _title, _introduction, block, _rest = page.read_text().split("\n\n", 3)

    assert [line.split(" | ")[0] for line in block.splitlines()] == [
        "| the first example alone",
        "|---|---|",
        "| asks about",
        "| *Always* counts for",
        "| without accounts",
        "| in tests",
    ]
    assert "`make demo" in block
    assert "](../policies/testing.md)" in block


def test_the_setup_names_the_variable_by_which_agents_find_the_store() -> None:
    assert "export SAYSO_STORE_URL=" in (ROOT / "docs" / "setup.md").read_text()


def test_files_named_in_the_architecture_exist() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text()
    roots = ("core", "adapters", "bots", "playground")
    files = [path for root in roots for path in (ROOT / root).rglob("*.*")]
    known = [f"/{path.relative_to(ROOT).as_posix()}" for path in files]

    named = set(re.findall(r"`([\w/]+\.(?:py|lua))`", text))
    assert [name for name in named if not any(one.endswith(f"/{name}") for one in known)] == []


def _defined_in(path: Path) -> set[str]:
    """Return the functions, classes, members, constants or keys that a file defines."""
    text = path.read_text()
    if path.suffix == ".lua":
        return set(re.findall(r"^(?:local )?function (\w+)\(", text, re.MULTILINE))
    if path.suffix == ".toml":
        return set(_keys(tomllib.loads(text)))

    def names(body: list[ast.stmt], before: str = "") -> Iterator[str]:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield before + node.name
            elif isinstance(node, ast.AnnAssign | ast.Assign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                yield from (before + one.id for one in targets if isinstance(one, ast.Name))
            if isinstance(node, ast.ClassDef):
                yield from names(node.body, f"{node.name}.")

    return set(names(ast.parse(text).body))


def _keys(table: dict[str, Any], before: str = "") -> Iterator[str]:
    for key, value in table.items():
        yield before + key
        if isinstance(value, dict):
            yield from _keys(value, f"{before}{key}.")


def test_each_thing_to_change_is_in_the_file_that_the_architecture_names() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text()
    section = text.partition("## Where to change what")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")][1:]
    rows = [re.fullmatch(r"\| [^|]+ \| `([^`|]+)` in `([\w./-]+)` \|", line) for line in lines]

    assert len(rows) >= 34
    assert [line for line, row in zip(lines, rows, strict=True) if row is None] == []
    assert [row[0] for row in rows if row and row[1] not in _defined_in(ROOT / row[2])] == []


def test_the_glossary_leads_from_the_words_of_others_to_names_that_exist() -> None:
    page = (ROOT / "docs" / "compatibility.md").read_text().partition("\n## Words\n")[2]
    rows = [line.strip("|").split("|") for line in page.splitlines() if line.startswith("| ")][1:]
    in_settings = {"approvers", "self_approval", "allow", "deny"}

    assert len(rows) >= 16
    for _, here in rows:
        names = set(re.findall(r"`([A-Za-z]\w*(?:\.\w+)?)`", here)) - in_settings
        assert names or "`[[route]]`" in here, here
        for name in names:
            owner, _, attribute = name.partition(".")
            found = next(getattr(home, owner) for home in HOMES if hasattr(home, owner))
            known = {*dir(found), *getattr(found, "__dataclass_fields__", ())}
            assert not attribute or attribute in known, name


def test_decisions_are_numbered_and_listed() -> None:
    decisions = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    listed = (ROOT / "docs" / "architecture.md").read_text()

    numbers = [int(path.name[:4]) for path in decisions]
    assert len(set(numbers)) == len(numbers)
    for number, path in zip(numbers, decisions, strict=True):
        assert path.read_text().startswith(f"# {number}. ")
        assert path.name in listed


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    reasons = (ROOT / "docs" / "dependencies.md").read_text()
    groups = [
        project["project"]["dependencies"],
        *project["project"]["optional-dependencies"].values(),
        *project["dependency-groups"].values(),
    ]
    names = {
        re.split(r"[^\w-]", text)[0] for group in groups for text in group if isinstance(text, str)
    } - {project["project"]["name"]}

    rows = "\n".join(line.split("|")[1] for line in reasons.splitlines() if line.startswith("| "))
    assert [name for name in sorted(names) if name not in rows] == []


def test_for_each_way_to_ask_a_test_is_named_that_nothing_runs_where_anything_fails() -> None:
    page = (ROOT / "docs" / "compatibility.md").read_text()
    section = page.partition("## Where anything fails")[2].partition("\n## ")[0]
    pages = {path.name for path in (ROOT / "docs" / "agents").glob("*.md")} - {"README.md"}
    rows = [line for line in section.splitlines() if "`test_" in line]

    assert set(re.findall(r"agents/([\w-]+\.md)", "".join(rows))) == pages


def test_every_test_named_for_a_feature_exists() -> None:
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "docs" / "compatibility.md").read_text()))
    sources = [*(ROOT / "tests").rglob("*.py"), *(ROOT / "core/sayso/testing").rglob("*.py")]
    written = {
        name for source in sources for name in re.findall(r"def (test_\w+)\(", source.read_text())
    }

    assert len(named) > 50
    assert named - written == set()


def test_every_attack_on_the_page_about_security_names_tests_that_exist() -> None:
    page = (ROOT / "docs" / "security.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith("| ") and "shown by" not in line]
    named = re.findall(r"`([\w/]+\.py)::(test_\w+)`", page)
    sections = page.split("\n## ")[1:]

    assert len(named) > 50
    assert [row for row in rows if "::test_" not in row] == []
    assert [text for text in sections if "\nNot promised: " not in text] == []
    assert [f"{path}::{name}" for path, name in named if not _has_test(path, name)] == []


def _has_test(path: str, name: str) -> bool:
    source = ROOT / path if path.startswith("core/sayso/") else ROOT / "tests" / path
    return source.is_file() and f"def {name}(" in source.read_text()
