"""The contracts that an implementation of a port is held to."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest
from _pytest.assertion.rewrite import AssertionRewritingHook

from sayso import testing

CONTRACTS = sorted(path.stem for path in Path(str(testing.__file__)).parent.glob("*_contract.py"))


def test_there_are_contracts() -> None:
    assert "adapter_contract" in CONTRACTS
    assert len(CONTRACTS) > 5


@pytest.mark.parametrize("name", CONTRACTS)
def test_what_a_contract_asserts_is_explained_when_it_fails(name: str) -> None:
    module = import_module(f"sayso.testing.{name}")

    assert isinstance(module.__spec__.loader if module.__spec__ else None, AssertionRewritingHook)
