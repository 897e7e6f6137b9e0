"""A rule that a person stores for a project counts in that repository, folder and host machine."""

from __future__ import annotations

import json
import socket
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

from support.hooked import Machine, decision, ended, event, until_asked

from sayso.calls import Project
from sayso.clock import utc_now
from sayso.questions.permission import PermissionRequestEvent
from sayso.stores.backend import Backend

ALICE = "slack:U0ALICE"


def in_folder(folder: Path) -> bytes:
    """A call that Claude Code makes in a folder."""
    made = json.loads(event(call_id=f"toolu_{uuid4().hex}", command="npm test"))
    return json.dumps({**made, "cwd": str(folder)}).encode()


def clone(folder: Path, url: str) -> Path:
    """A folder as `git clone` leaves it; without a URL as `git init` does."""
    config = f'[remote "origin"]\n\turl = {url}\n' if url else "[core]\n\tbare = false\n"
    (folder / ".git").mkdir(parents=True, exist_ok=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / ".git" / "config").write_text(config)
    return folder


async def asked(machine: Machine, store: Backend, folder: Path, choice: str) -> str:
    """The project of the request that a call in the folder makes; a person presses the choice."""
    async with machine.started("hook", "claude-code") as process:
        assert process.stdin is not None
        process.stdin.write(in_folder(folder))
        process.stdin.close()
        request = await until_asked(store)
        card = request.card()
        choices = [one for had in (*card.choices, *card.more) for one in (had, *had.longer)]
        chosen, now = next(one for one in choices if one.key == choice), utc_now()
        rule = request.to_remember(chosen, by=ALICE, at=now, until=now + timedelta(days=30))
        answer = request.answer(chosen, by=ALICE, at=now, inputs={})
        if rule is not None:
            answer = answer.keeping(rule)
        await store.store.settle(request.question_id, answer, remember=rule)
        await ended(process)
    assert isinstance(request, PermissionRequestEvent)
    assert all(str(part) in chosen.stores for part in parts(request.run.project) if rule)
    return str(request.run.project)


def parts(project: object) -> tuple[str, ...]:
    """All that a sentence about the project has to say."""
    assert isinstance(project, Project)
    return tuple(filter(None, (project.host, project.folder, project.origin)))


async def test_a_rule_for_a_repository_lets_no_other_one_at_the_same_path_through(
    machine: Machine, store: Backend, tmp_path: Path
) -> None:
    folder = clone(tmp_path / "workspace", "https://ci:s3cret@git.example.com/acme/shop.git")
    project = await asked(machine, store, folder, "always-project")
    same = decision(await machine.hook(in_folder(folder)))
    clone(folder, "https://git.example.com/acme/bank.git")
    other = await asked(machine, store, folder, "deny")

    here = f"{socket.gethostname()}:{folder}"
    assert project == f"{here} (git.example.com/acme/shop)"
    assert other == f"{here} (git.example.com/acme/bank)"
    assert same[0] == "allow"


async def test_a_rule_for_a_folder_without_an_origin_counts_no_more_once_it_has_one(
    machine: Machine, store: Backend, tmp_path: Path
) -> None:
    folder = clone(tmp_path / "workspace", "")
    project = await asked(machine, store, folder, "always-project")
    same = decision(await machine.hook(in_folder(folder)))
    clone(folder, "git@git.example.com:acme/bank.git")
    await asked(machine, store, folder, "deny")

    assert project == f"{socket.gethostname()}:{folder}"
    assert same[0] == "allow"


async def test_a_repository_at_another_path_is_asked_about_though_its_origin_is_the_same(
    machine: Machine, store: Backend, tmp_path: Path
) -> None:
    url = "https://git.example.com/acme/shop.git"
    await asked(machine, store, clone(tmp_path / "one", url), "always-project")

    await asked(machine, store, clone(tmp_path / "two", url), "deny")
