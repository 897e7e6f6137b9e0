"""The contracts that an implementation of a port is held to."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
import store_contracts
from _pytest.assertion.rewrite import AssertionRewritingHook

from sayso import testing


def _modules(package: ModuleType, pattern: str) -> list[str]:
    folder = Path(str(package.__file__)).parent
    return sorted(f"{package.__name__}.{path.stem}" for path in folder.glob(pattern))


CONTRACTS = _modules(testing, "*_contract.py") + _modules(store_contracts, "[a-z]*.py")


def test_there_are_contracts() -> None:
    assert "sayso.testing.adapter_contract" in CONTRACTS
    assert "store_contracts.audit" in CONTRACTS


@pytest.mark.parametrize("name", CONTRACTS)
def test_what_a_contract_asserts_is_explained_when_it_fails(name: str) -> None:
    module = import_module(name)

    assert isinstance(module.__spec__.loader if module.__spec__ else None, AssertionRewritingHook)
