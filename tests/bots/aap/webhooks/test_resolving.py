"""Names to addresses."""

from __future__ import annotations

import pytest

from sayso_bots.aap.webhooks.resolving import resolved


async def test_a_name_is_looked_up_and_an_address_is_itself_each_once() -> None:
    assert await resolved("127.0.0.1", 443) == ["127.0.0.1"]
    assert await resolved("::1", 443) == ["::1"]
    assert "127.0.0.1" in await resolved("localhost", 443)


@pytest.mark.parametrize("name", ["nobody.invalid", "a" * 300, ".a", "\x00"])
async def test_a_name_that_leads_nowhere_is_an_error_of_the_system(name: str) -> None:
    with pytest.raises(OSError):
        await resolved(name, 443)
