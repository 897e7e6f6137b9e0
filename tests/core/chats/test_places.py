"""Places in their written form."""

from __future__ import annotations

import pytest

from sayso.chats.places import Place


@pytest.mark.parametrize("written", ["chat:ops", "chat:-100/7", "chat:@ops.example", "chat:räume"])
def test_a_place_is_what_is_written(written: str) -> None:
    assert str(Place.parse(written)) == written


@pytest.mark.parametrize(
    "written",
    [
        "chat",
        "chat:",
        "Chat:ops",
        "chat:a b",
        "chat:a/b/c",
        "chat:\x1b[2J",
        "chat:a\x07",
        "chat:a/\x00",
        "chat:a\u202eb",
        "chat:a\u200bb",
        "chat:\x7f",
    ],
)
def test_what_is_not_a_place_or_cannot_be_seen_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match="is not a place") as error:
        Place.parse(written)

    assert str(error.value).isprintable()
