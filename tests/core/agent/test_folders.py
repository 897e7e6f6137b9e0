"""Rules about paths count where the agent's files are seen, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from sayso import ConfigError, Gate, RunRef, ToolCall
from sayso.agent.options import GateOptions
from sayso.calls import Folder
from sayso.events import PermissionRequestEvent
from sayso.stores.backend import Backend
from sayso.testing import Stage

RUN = RunRef("deploy-bot", "s-42")


def edit(root: Path, path: str, text: str = "x") -> ToolCall:
    arguments = {"file_path": str(root / path), "content": text}
    return ToolCall("Write", arguments, folder=Folder(str(root), seen=True))


async def test_edits_below_a_folder_are_asked_once_and_a_link_out_of_it_asks_again(
    tmp_path: Path,
) -> None:
    root = tmp_path / "shop"
    (root / "src").mkdir(parents=True)
    async with Stage(answers={"Write": ["always-2", "deny", "deny", "deny"]}) as stage:
        assert (await stage.gate.check(edit(root, "src/a.py"))).approved
        second = await stage.gate.check(edit(root, "src/deep/b.py", "y"))
        assert second.line == "remembered always allow"

        (root / "src" / "out").symlink_to(tmp_path)
        for path in ("src/out/c.py", "src/.git/hooks/pre-commit", "lib/a.py"):
            assert not (await stage.gate.check(edit(root, path))).approved
    assert len(stage.prompts) == 4


async def test_the_same_call_without_a_folder_is_asked_again(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    (root / "src").mkdir(parents=True)
    async with Stage(answers={"Write": ["always-2", "deny"]}) as stage:
        assert (await stage.gate.check(edit(root, "src/a.py"))).approved
        blind = ToolCall("Write", {"file_path": str(root / "src/b.py"), "content": ""})
        assert not (await stage.gate.check(blind)).approved
    assert "always-2" not in stage.prompts[1].choices


async def test_a_gate_gives_its_folder_to_calls_and_the_card_names_it(
    backend: Backend, tmp_path: Path
) -> None:
    async with Gate.open(backend, run=RUN, folder=str(tmp_path)) as gate:
        await gate.submit(ToolCall("Write", {"file_path": "src/a.py", "content": ""}))

    [record] = await backend.store.list_requests()
    assert isinstance(record.request, PermissionRequestEvent)
    body = record.request.card()
    assert ("Folder", str(tmp_path)) in body.facts
    assert "Always: below src/" in [choice.label for choice in body.more]


async def test_a_request_is_shown_with_its_widths_where_the_files_are_not_seen(
    backend: Backend, tmp_path: Path
) -> None:
    root = tmp_path / "shop"
    (root / "src").mkdir(parents=True)
    async with Gate.open(backend, run=RUN) as gate:
        await gate.submit(edit(root, "src/a.py"))
    # On the machine of the bots something else may stand at that path.
    (root / "src").rmdir()
    (root / "src").symlink_to("/")

    [record] = await backend.store.list_requests()
    assert "Always: below src/" in [choice.label for choice in record.request.card().more]


def test_a_folder_that_is_not_written_from_the_root_is_an_error() -> None:
    with pytest.raises(ConfigError, match="written from /"):
        GateOptions(RUN, folder="src")
