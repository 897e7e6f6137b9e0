"""Files of other programs, replaced in one step."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path


def replace_file(at: Path, written: bytes, *, like: Path | None = None) -> None:
    """Put a text in the file's place in one step; a link stays one, and leads to the new file.

    Who may read it is left as it was, or as with the file that it is ``like``.
    """
    target = Path(os.path.realpath(at))
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        mode = (like or target).stat().st_mode & 0o777
    except FileNotFoundError:
        mode = 0o644
    number, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(number, "wb") as file:
            file.write(written)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(mode)
        Path(name).replace(target)
    except BaseException:
        with suppress(FileNotFoundError):
            Path(name).unlink()
        raise
