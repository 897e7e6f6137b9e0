"""Where in its file the text stands that an edit replaces, as far as this process sees the file."""

from __future__ import annotations

import os
import stat

from sayso.calls import ToolCall
from sayso.rules.paths import absolute, has_no_link, inside
from sayso.values.edits import Edit, edits_in

_LARGEST = 512 * 1024
_MOST_EDITS = 20
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


def edited_lines(call: ToolCall) -> tuple[int, ...]:
    """The line of the file at which each edit of the call begins, 0 where that is not clear.

    Empty where there is nothing to say. Only a regular file below the folder that the run works
    in is read, of no more than ``_LARGEST`` bytes and reached by no link, and only if the
    process sees the agent's files. What an edit replaces must be in it exactly once.
    """
    folder = call.folder
    if folder is None or not folder.seen:
        return ()
    edits = edits_in(call.arguments)
    if edits is None or not edits.path or len(edits.changes) > _MOST_EDITS:
        return ()
    path = absolute(call.arguments[edits.path], folder)
    names = None if path is None else inside(folder.root, path)
    if path is None or names is None or not has_no_link(folder.root.rstrip("/"), names):
        return ()
    content = _content(path)
    found = tuple(_line(edit, content) for edit in edits.changes)
    return found if any(found) else ()


def _line(edit: Edit, content: bytes) -> int:
    old = edit.old.encode(errors="surrogatepass")
    at = content.find(old) if old else -1
    if at < 0 or content.find(old, at + 1) >= 0:
        return 0
    return content.count(b"\n", 0, at) + 1


def _content(path: str) -> bytes:
    """What a regular file holds that is not too large; nothing of any other."""
    try:
        opened = os.open(path, _FLAGS)
    except (OSError, ValueError):
        return b""
    try:
        found = os.fstat(opened)
        if not stat.S_ISREG(found.st_mode) or found.st_size > _LARGEST:
            return b""
        return os.read(opened, _LARGEST)
    except OSError:
        return b""
    finally:
        os.close(opened)
