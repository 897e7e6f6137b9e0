"""What a button of a form carries."""

from __future__ import annotations

import pytest
from support.dialogues import ID

from sayso.dialogues.buttons import FormButton, form_button_data, read_form_button


def test_the_longest_button_fits_the_64_bytes_of_the_strictest_platform() -> None:
    data = form_button_data(FormButton("x" * 39, 99_999, "suggest", 999))

    assert len(data.encode()) <= 64


@pytest.mark.parametrize(
    "data",
    [
        "",
        "f1:short:1:yes:0",
        f"f1:{ID}:1:decide:0",
        f"f1:{ID}:-1:yes:0",
        f"f1:{ID}:1:yes:1000",
        f"f1:{ID}:1:yes:0\n",
        f"f2:{ID}:1:yes:0",
        f"f1:{ID}:１:yes:0",
        f"p1:{ID}:allow",
    ],
)
def test_other_callback_data_is_no_forms_button(data: str) -> None:
    assert read_form_button(data) is None


def test_a_button_that_could_not_be_read_is_not_made() -> None:
    with pytest.raises(ValueError, match="a handle, a count"):
        form_button_data(FormButton("short", 1, "yes"))
