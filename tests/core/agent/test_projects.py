"""Projects: what an agent works on is its own claim, and rules can be stored for it."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from store_contracts.rules import remember

from sayso import Gate, Outcome, RunRef, ToolCall, connect
from sayso.agent.place import project_folder, project_of
from sayso.calls import Folder, Project
from sayso.questions.permission import PermissionRequestEvent
from sayso.questions.wire import decode_request, encode
from sayso.rules.rule import literal_rule
from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend
from sayso.testing import a_request, a_rule
from sayso_bots.cli.ask import prepared
from sayso_bots.cli.parser import sayso_parser

CALL = ToolCall("bash", {"command": "make deploy"})
SHOP = RunRef("claude-code", "s-1", project="/src/shop")
LATER = replace(SHOP, session_id="s-2")


@pytest.fixture
async def backend() -> AsyncIterator[Backend]:
    async with memory_backend() as backend:
        yield backend


async def test_an_always_deny_for_a_project_denies_in_every_session_of_it(
    backend: Backend,
) -> None:
    denial = replace(a_rule("bash", effect="deny", scope="project"), rule=literal_rule(CALL))
    await remember(backend, denial, SHOP)

    async with Gate.open(backend, run=LATER) as gate:
        verdict = await gate.check(CALL, timeout=30)
    async with Gate.open(backend, run=replace(LATER, project="/src/other")) as gate:
        other = await gate.check(CALL, timeout=0.3)

    assert (verdict.outcome, verdict.line) == (Outcome.DENIED, "remembered always deny")
    assert other.outcome is Outcome.EXPIRED


async def test_an_always_for_a_project_allows_in_its_next_session(backend: Backend) -> None:
    grant = replace(a_rule("bash", scope="project"), rule=literal_rule(CALL))
    await remember(backend, grant, SHOP)

    async with Gate.open(backend, run=LATER) as gate:
        verdict = await gate.check(CALL, timeout=30)

    assert verdict.approved


async def test_a_gate_reads_session_agent_and_project_in_one_look(backend: Backend) -> None:
    looks = []
    book = backend.rules.book

    async def counted(run: RunRef) -> object:
        looks.append(run)
        return await book(run)

    await remember(backend, a_rule("other", scope="project"), SHOP)
    backend.rules.book = counted  # type: ignore[method-assign,assignment]
    async with Gate.open(backend, run=LATER) as gate:
        await gate.check(CALL, timeout=0.3)

    assert looks == [LATER]


def test_a_project_is_a_claim_that_every_door_can_make(store_url: str) -> None:
    with connect(store_url, agent="a", session="s", project="/src/shop") as handle:
        assert handle.run == RunRef("a", "s", project="/src/shop")

    words = ["ask", "bash", "--store", store_url, "--session", "s"]
    env = {"SAYSO_PROJECT": "/src/shop"}
    assert prepared(sayso_parser().parse_args(words), env).run.project == "/src/shop"
    words += ["--project", "/src/other"]
    assert prepared(sayso_parser().parse_args(words), env).run.project == "/src/other"


def test_a_hook_names_the_root_of_the_project_it_works_in() -> None:
    host = socket.gethostname()
    assert project_of(Folder("/src/shop", "/src/shop/web")) == Project(host, "/src/shop")
    assert project_of(Folder("/")) is None
    assert project_of(Folder("/home/ana")) is None
    assert project_of(None) is None


ORIGINS = {
    "https://ci:s3cret@git.example.com/acme/shop.git": "git.example.com/acme/shop",
    "https://ghp_token@git.example.com/acme/shop": "git.example.com/acme/shop",
    "git@git.example.com:acme/shop.git": "git.example.com/acme/shop",
    "ssh://git@git.example.com:2222/acme/shop": "git.example.com:2222/acme/shop",
    "ssh://git@[2001:db8::1]/acme/shop": "[2001:db8::1]/acme/shop",
    "https://a:b@git.example.com/acme/shop?token=s3cret": "git.example.com/acme/shop",
    "/srv/git/shop.git": "/srv/git/shop.git",
    "../shop with spaces": "../shop with spaces",
    '"https://git.example.com/acme/shop"': "git.example.com/acme/shop",
}


@pytest.mark.parametrize("url", ORIGINS)
def test_the_origin_is_the_whole_address_without_credentials(tmp_path: Path, url: str) -> None:
    git = tmp_path / ".git"
    git.mkdir()
    (git / "config").write_text(f'[remote "origin"]\n\turl = {url}\n')

    project = project_of(project_folder(str(tmp_path)))

    assert project == Project(socket.gethostname(), str(tmp_path), ORIGINS[url])


CONFIGS = {
    "no remote": "[core]\n\tbare = false\n",
    "another remote": '[remote "upstream"]\n\turl = https://git.example.com/x/y\n',
    "a remark": '[remote "origin"]\n\t# url = https://git.example.com/x/y\n',
    "where it pushes": '[remote "origin"]\n\tpushurl = https://git.example.com/x/y\n',
    "a branch of that name": '[branch "origin"]\n\turl = https://git.example.com/x/y\n',
    "a value that looks like it": '[a]\n\tb = [remote "origin"] url = https://x.example/y\n',
}


@pytest.mark.parametrize("config", CONFIGS)
def test_what_names_no_address_of_origin_is_no_origin(tmp_path: Path, config: str) -> None:
    git = tmp_path / ".git"
    git.mkdir()
    (git / "config").write_text(CONFIGS[config])

    project = project_of(project_folder(str(tmp_path)))

    assert project == Project(socket.gethostname(), str(tmp_path))


def test_a_worktree_has_the_origin_of_its_repository_and_a_submodule_its_own(
    tmp_path: Path,
) -> None:
    git, tree, sub = tmp_path / "shop" / ".git", tmp_path / "tree", tmp_path / "shop" / "sub"
    for folder in (git / "worktrees" / "tree", git / "modules" / "sub", tree, sub):
        folder.mkdir(parents=True)
    urls = {git: "https://git.example.com/acme/shop", git / "modules" / "sub": "git@x.example:y/z"}
    for folder, url in urls.items():
        (folder / "config").write_text(
            f'[remote "up"]\n\turl = git@a.example:b/c\n[Remote "origin"] URL = {url}\n'
            f'[remote "origin"]\n\turl = https://later.example/d\n'
        )
    (git / "worktrees" / "tree" / "commondir").write_text("../..\n")
    (tree / ".git").write_text(f"gitdir: {git}/worktrees/tree\n")
    (sub / ".git").write_text("gitdir: ../.git/modules/sub\n")
    host = socket.gethostname()

    found = project_of(project_folder(str(tree))), project_of(project_folder(str(sub)))

    assert found == (
        Project(host, str(tree), "git.example.com/acme/shop"),
        Project(host, str(sub), "x.example/y/z"),
    )


def test_a_card_says_all_that_identifies_a_project_and_that_a_name_is_the_agents() -> None:
    place = Project("ci-7", "/workspace", "git.example.com/acme/shop")
    placed, named = a_request(run=replace(SHOP, project=place)), a_request(run=SHOP)

    assert ("Project", "ci-7 · /workspace · git.example.com/acme/shop") in placed.card().facts
    assert ("Agent's project name", "/src/shop") in named.card().facts
    for request in (placed, named):
        assert decode_request(encode(request)) == request


def test_the_wire_has_no_project_where_there_is_none() -> None:
    without = a_request()
    assert b"project" not in encode(without)
    assert isinstance(decode_request(encode(without)), PermissionRequestEvent)
