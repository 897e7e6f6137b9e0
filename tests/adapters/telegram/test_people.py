"""Names as far as this process has heard them."""

from __future__ import annotations

import pytest

from sayso_telegram.conversation_chat import KnownNames


def test_the_name_that_was_heard_last_counts() -> None:
    people = KnownNames()
    people.note(1, "Alice")
    people.note(1, "Alicia")

    assert (people.name(1), people.name(2)) == ("Alicia", "")


@pytest.mark.parametrize("name", [None, "", 7, ["x"]])
def test_what_is_no_name_changes_nothing(name: object) -> None:
    people = KnownNames()
    people.note(1, "Alice")
    people.note(1, name)

    assert people.name(1) == "Alice"


def test_only_the_last_thousand_are_kept() -> None:
    people = KnownNames()
    for number in range(1_001):
        people.note(number, f"user {number}")

    assert (people.name(0), people.name(1_000)) == ("", "user 1000")
