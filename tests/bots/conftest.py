"""What the tests of the bots share: a playground, and commands that run."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest
import pytest_asyncio
from support.api_fixtures import bots, world
from support.commands import Done, Run
from support.playing import a_playground

from sayso_bots.cli.main import main
from sayso_playground import Playground

__all__ = ["bots", "playground", "run", "world"]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """Runs a command here, with this environment and this text as its settings file.

    That an operator's command says which file it is, is left out: it is the same one each time.
    """

    def running(*argv: str, env: Mapping[str, str] | None = None, toml: str = "") -> Done:
        config = tmp_path / "sayso.toml"
        config.write_text(toml)
        code = main(argv, {"SAYSO_CONFIG": str(config), **(env or {})})
        captured = capsys.readouterr()
        said = captured.err.removeprefix(f"sayso: settings: {config}\n")
        return Done(code, captured.out, said.replace(f"{tmp_path}/", ""))

    return running


@pytest_asyncio.fixture
async def playground() -> AsyncIterator[Playground]:
    """Both platforms, played."""
    async with a_playground() as playing:
        yield playing
