"""The programs on the pages about agents, to be run as they stand there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from e2e.asked import Asked
from e2e.hands import SlackHands
from support.conformance import all_ended
from support.scenes import cards

ROOT = Path(__file__).parents[2]
DENIED = "The call of deploy was denied by a person. It did not run."
ANSWERS = [("Allow", "release 42 is out"), ("Deny", DENIED)]
"""What is pressed, and what each program about a framework prints then."""
_PROGRAM = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def programs(page: str) -> list[str]:
    """The blocks of Python on a page of docs/agents, in order."""
    return _PROGRAM.findall((ROOT / "docs" / "agents" / f"{page}.md").read_text())


def begun(program: str, names: dict[str, object]) -> None:
    """Run a program up to its end; what it defines is among the names."""
    exec(compile(program, "a page of docs/agents", "exec"), names)


async def all_do_as_was_said(
    page: str,
    model: object,
    scene: Asked,
    capsys: pytest.CaptureFixture[str],
    button: str,
    printed: str,
) -> None:
    """Run the programs on a page, one after the other; a person answers each.

    Each deploys release 42, and prints what came of it. The model does so again and again.
    """
    slack = SlackHands(scene.playground)
    names: dict[str, Any] = {"model": model}
    for number, program in enumerate(programs(page), 1):
        begun(program, names)
        if ask := names.pop("ask", None):
            await ask()
        running = scene.ask(names["main"]())
        await slack.press(button)
        await running
        await all_ended(scene)
        assert printed in capsys.readouterr().out.splitlines()[-1]
        assert cards(scene) == number
    names["sayso"].close()
