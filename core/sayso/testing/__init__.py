"""For tests of agents and of platform adapters: people played by a script, contracts, builders.

Needs pytest. A contract is a class of tests that the tests of an adapter inherit. The contracts of
the stores are not here, nor is anything that a program needs at work.
"""

# ruff: noqa: E402  the contracts' assertions are explained only if pytest knows of them first
from pathlib import Path

import pytest

for _contract in Path(__file__).parent.glob("*_contract.py"):
    pytest.register_assert_rewrite(f"{__name__}.{_contract.stem}")

from sayso.testing.adapter_contract import AdapterContract, AdapterStage, Shown
from sayso.testing.builders import a_copy, a_request, a_response, a_rule, soon, until
from sayso.testing.caller_contract import CallerContract, CallerStage, Said
from sayso.testing.harness import (
    Filled,
    Prompt,
    Stage,
    StoppedClock,
    play,
)
from sayso.testing.platform_contract import PlatformContract
from sayso.testing.press_recorder import PressRecorder

__all__ = [
    "AdapterContract",
    "AdapterStage",
    "CallerContract",
    "CallerStage",
    "Filled",
    "PlatformContract",
    "PressRecorder",
    "Prompt",
    "Said",
    "Shown",
    "Stage",
    "StoppedClock",
    "a_copy",
    "a_request",
    "a_response",
    "a_rule",
    "play",
    "soon",
    "until",
]
