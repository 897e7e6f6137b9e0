"""Both sides of what Telegram is told about coming again."""

from __future__ import annotations

import pytest

from sayso_telegram.listener import _retry_after
from sayso_telegram.updates_handler import HandledUpdate


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        (None, "2"),
        (0.0, "2"),
        (2.0, "2"),
        (2.1, "3"),
        (59.5, "60"),
        (60.0, "60"),
        (60.5, "60"),
        (1e9, "60"),
    ],
)
def test_telegram_comes_again_after_two_seconds_at_the_earliest_and_sixty_at_the_latest(
    wanted: float | None, told: str
) -> None:
    assert _retry_after(HandledUpdate(stored=False, retry_after=wanted)) == {"Retry-After": told}
