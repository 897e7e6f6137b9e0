"""The promises of the stores: a file a contract, each a class of tests that every store runs."""

from pathlib import Path

import pytest

# The contracts' assertions are explained only if pytest knows of them before they are imported.
for _contract in Path(__file__).parent.glob("*.py"):
    pytest.register_assert_rewrite(f"{__name__}.{_contract.stem}")
