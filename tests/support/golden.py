"""Golden files: what is shown, to the letter.

``SAYSO_TEST_WRITE_GOLDEN=1`` writes them again; the difference is what a reviewer reads.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


def check_golden(path: Path, value: Any) -> None:
    """See that the file says exactly this, or write it where that is wanted."""
    written = json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    if os.environ.get("SAYSO_TEST_WRITE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(written)
    assert path.read_text() == written


def see_that_all_are_used(folder: Path, names: set[str]) -> None:
    """No file is left over from a state that there is no more."""
    assert {path.stem for path in folder.glob("*.json")} == names
