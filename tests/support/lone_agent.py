"""An agent behind its door, in a process of its own.

FILE NAME STORE_URL MARK: the door of this name in a file of tests; MARK is made when a tool runs.
"""

from __future__ import annotations

import asyncio
import runpy
import sys
from pathlib import Path

from support.doors import Door, Work, agents_handle, deploy


def main(file: str, name: str, url: str, mark: str) -> None:
    door: Door = runpy.run_path(file)[name]()
    work = Work([[deploy()]], on_run=lambda _: Path(mark).touch())
    with agents_handle(url) as sayso:
        asyncio.run(door.run(sayso, work))


if __name__ == "__main__":
    main(*sys.argv[1:])
