"""What a run was measured on, and how busy that was with other things."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bench.cores import all_cores, load_core, measured_core

_ROOT = Path(__file__).parents[2]
_PACKAGES = ("sayso", "aiohttp", "hiredis", "httptools", "pydantic", "redis")


def machine() -> dict[str, Any]:
    """Cores, versions, the event loop and the garbage collector of all sides, and the load."""
    return {
        "at": datetime.now(UTC).isoformat(timespec="minutes"),
        "commit": _commit(),
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": _cpu(),
        "cores": len(all_cores()),
        "core_of_the_load": load_core(),
        "core_under_test": measured_core(),
        # Before anything of ours: more than a tenth of a core means that others use the machine.
        "load_average_before": os.getloadavg()[0],
        "python": sys.version.split()[0],
        "event_loop": "asyncio, all sides",
        "garbage": "frozen after the start, then collected after 10,000 new objects, all sides",
        "versions": {name: version(name) for name in _PACKAGES},
    }


def _commit() -> str:
    command = ["git", "rev-parse", "--short", "HEAD"]
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
