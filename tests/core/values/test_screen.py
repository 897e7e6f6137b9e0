"""What a screen holds of values: nothing is left out without being counted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.values import Value
from sayso.values.screen import Room, fit, lines_of, on_screen, rows

texts = st.text(st.sampled_from("ab \n界"), max_size=300)
values = st.lists(st.builds(Value, st.sampled_from(["", "a", "name"]), texts), max_size=12)


@given(values, st.integers(0, 900), st.integers(0, 40))
def test_what_is_not_whole_is_named_and_the_rest_is_as_it_was(
    whole: list[Value], characters: int, lines: int
) -> None:
    room = Room(characters, lines)
    shown = on_screen(whole, room)

    assert shown.is_whole is fit(whole, room)
    if shown.is_whole:
        assert shown.values == tuple(whole)
    assert len(shown.values) + shown.dropped == len(whole)
    cut = sum(one != other for one, other in zip(shown.values, whole, strict=False))
    assert cut == len(shown.hidden)
    for one, other in zip(shown.values, whole, strict=False):
        assert one == other or other.text.startswith(one.text.removesuffix("…").rstrip("\n"))
    assert all(one.characters > 0 and one.lines > 0 for one in shown.hidden)


@pytest.mark.parametrize("count", [300, 3_000])
def test_lines_count_and_not_characters_alone(count: int) -> None:
    shown = on_screen([Value("spec", "a\n" * count + "replicas: 0")], Room(100_000, 20))

    assert not shown.is_whole
    assert sum(lines_of(value, Room(0)) for value in shown.values) <= 20
    (hidden,) = shown.hidden
    assert (hidden.name, hidden.lines >= count - 20) == ("spec", True)


def test_short_values_stay_whole_beside_a_long_one() -> None:
    long = Value("notes", "x\n" * 100)
    shown = on_screen([long, Value("environment", "production")], Room(10_000, 20))

    assert shown.values[1].text == "production"
    assert [one.name for one in shown.hidden] == ["notes"]


def test_more_values_than_there_are_lines_are_counted() -> None:
    shown = on_screen([Value(f"n{n}", "1") for n in range(50)], Room(10_000, 20))

    assert (len(shown.values), shown.dropped) == (20, 30)


def test_a_wide_character_takes_two_columns_and_a_long_line_several_lines() -> None:
    assert rows("界" * 17, 34) == 1
    assert rows("界" * 18, 34) == 2
    assert rows("x" * 69, 34) == 3
    assert rows("", 34) == 1


def test_a_short_wording_is_shown_where_the_whole_has_no_room() -> None:
    change = Value("change", " a\n" * 90 + "-b", "diff", brief="[90 unchanged lines]\n-b")
    shown = on_screen([change], Room(10_000, 20))

    assert shown.values[0].text == "[90 unchanged lines]\n-b"
    assert not shown.is_whole
