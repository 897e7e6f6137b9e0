"""What a button carries is read as it was written, and nothing else is read."""

from __future__ import annotations

import pytest

from sayso.cards.buttons import Button, button_data, is_key, read_button


@pytest.mark.parametrize("button", [Button("h-1", "allow"), Button("h_2", "always", True)])
def test_a_button_is_read_as_it_was_written(button: Button) -> None:
    assert read_button(button_data(button)) == button


@pytest.mark.parametrize("data", ["", "h", "h:", ":allow", "a b:allow", "h:Allow", "h:!", "h:a:b"])
def test_what_is_no_button_of_ours_is_not_read(data: str) -> None:
    assert read_button(data) is None


@pytest.mark.parametrize("handle", ["", "a:b", "a b", "h" * 121])
def test_a_button_that_could_not_be_read_is_not_written(handle: str) -> None:
    with pytest.raises(ValueError, match="without spaces or colons"):
        button_data(Button(handle, "allow"))


@pytest.mark.parametrize(("text", "is_one"), [("allow", True), ("a" * 21, False), ("1st", False)])
def test_a_key_is_a_short_lower_case_word(text: str, is_one: bool) -> None:
    assert is_key(text) is is_one
