"""The difference of an edit names the line of the file, where the agent's place sees the file."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sayso import Gate, RunRef, ToolCall
from sayso.agent.edited import edited_lines
from sayso.calls import Folder
from sayso.questions.permission import PermissionRequestEvent
from sayso.questions.wire import decode, encode

LINES = "".join(f"line {number}\n" for number in range(1, 101))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "shop"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "limits.py").write_text(LINES)
    return folder


def an_edit(root: Path, **changes: Any) -> ToolCall:
    arguments = {
        "file_path": f"{root}/src/limits.py",
        "old_string": "line 41\nline 42",
        "new_string": "line 41\nline 41b\nline 42",
        **changes,
    }
    return ToolCall("Edit", arguments, folder=Folder(str(root), seen=True))


async def the_card(root: Path, call: ToolCall, **gate: Any) -> PermissionRequestEvent:
    run = RunRef("bot", "s")
    async with Gate.open("memory://", run=run, **gate) as opened:
        permission_id = await opened.submit(call)
        assert isinstance(permission_id, str)
        record = await opened.backend.store.get(permission_id)
    assert record is not None
    assert isinstance(record.request, PermissionRequestEvent)
    return record.request


def diff(request: PermissionRequestEvent) -> list[str]:
    return next(v.text for v in request.card().values if v.kind == "diff").split("\n")


async def test_the_hunk_of_an_edit_names_the_line_of_the_file(root: Path) -> None:
    call = ToolCall("Edit", an_edit(root).arguments)

    request = await the_card(root, call, folder=str(root))

    assert diff(request) == ["@@ -41,2 +41,3 @@", " line 41", "+line 41b", " line 42"]
    assert decode(encode(request)) == request


async def test_without_a_folder_that_is_seen_there_is_no_line(root: Path) -> None:
    call = ToolCall("Edit", an_edit(root).arguments)

    request = await the_card(root, call, folder=Folder(str(root)))

    assert diff(request)[0] == " line 41"
    assert b"editedLines" not in encode(request)


def test_what_stands_there_twice_or_not_at_all_has_no_line(root: Path) -> None:
    assert edited_lines(an_edit(root)) == (41,)
    assert edited_lines(an_edit(root, old_string="line 4")) == ()
    assert edited_lines(an_edit(root, old_string="no such line")) == ()
    assert edited_lines(an_edit(root, old_string="")) == ()


def test_each_edit_of_a_list_has_its_own_line(root: Path) -> None:
    edits = [
        {"old_string": "line 90\n", "new_string": ""},
        {"old_string": "line 1", "new_string": "x"},  # also in line 10
        {"old_string": "line 3\n", "new_string": "line 3\n\n"},
    ]
    call = ToolCall(
        "MultiEdit",
        {"file_path": "src/limits.py", "edits": edits},
        folder=Folder(str(root), seen=True),
    )

    assert edited_lines(call) == (90, 0, 3)


@pytest.mark.parametrize(
    "path", ["../outside.py", "/etc/passwd", "src/../../outside.py", "src", "src/none.py", ""]
)
def test_no_other_file_is_read(root: Path, path: str) -> None:
    (root.parent / "outside.py").write_text(LINES)

    assert edited_lines(an_edit(root, file_path=path, old_string="root")) == ()
    assert edited_lines(an_edit(root, file_path=path)) == ()


def test_links_pipes_and_large_files_are_not_read(root: Path) -> None:
    (root.parent / "outside.py").write_text(LINES)
    (root / "link.py").symlink_to(root.parent / "outside.py")
    (root / "folder").symlink_to(root.parent)
    os.link(root.parent / "outside.py", root / "second.py")
    os.mkfifo(root / "pipe.py")
    (root / "large.py").write_text(LINES + "x" * 600_000)

    for path in ("link.py", "folder/outside.py", "second.py", "pipe.py", "large.py"):
        assert edited_lines(an_edit(root, file_path=f"{root}/{path}")) == (), path


def test_the_longest_file_that_is_read_takes_few_milliseconds(root: Path) -> None:
    (root / "long.py").write_text("a line of code\n" * 34_000 + "line 41\nline 42")
    call = an_edit(root, file_path=f"{root}/long.py")

    taken = []
    for _ in range(5):
        began = time.perf_counter()
        assert edited_lines(call) == (34_001,)
        taken.append(time.perf_counter() - began)

    assert min(taken) < 0.01


def test_no_line_of_a_difference_looks_like_its_heading(root: Path) -> None:
    call = an_edit(root, old_string="line 41", new_string="@@ -1,1 +1,1 @@\nline 41")
    request = PermissionRequestEvent(
        permission_id="p",
        source_name="bot",
        run=RunRef("bot", "s"),
        expires_at=datetime(2026, 1, 1, tzinfo=UTC),
        function_name="Edit",
        call_id="c",
        arguments=dict(call.arguments),
        edited_lines=(41,),
    )

    assert [line for line in diff(request) if line.startswith("@@")] == ["@@ -41,1 +41,2 @@"]
