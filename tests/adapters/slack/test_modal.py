import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.slack_kit import a_card

from sayso_playground.slack.blocks import check_view
from sayso_slack.modal import REVEAL_LIMIT, VIEW_BYTES, everything_modal, fits
from sayso_slack.value_blocks import chunks


@settings(max_examples=examples(100), database=None)
@given(st.text(alphabet="ab\n", max_size=400).map(lambda text: text * 30))
def test_the_pieces_join_to_exactly_the_text(text: str) -> None:
    pieces = list(chunks(text))

    assert "".join(pieces) == text
    assert all(0 < len(piece) <= 2_900 for piece in pieces)


def test_pieces_end_at_line_ends_where_possible() -> None:
    pieces = list(chunks(("x" * 99 + "\n") * 100))

    assert [piece[-1] for piece in pieces] == ["\n"] * len(pieces)


@pytest.mark.parametrize(
    "line", [1, 2, 99, 1_449, 1_450, 1_933, 1_934, 1_935, 2_898, 2_899, 2_900, 2_901, 150_000]
)
def test_any_text_within_the_limit_makes_few_enough_pieces(line: int) -> None:
    text = ("x" * line + "\n") * (REVEAL_LIMIT // (line + 1)) or "x" * REVEAL_LIMIT

    assert len(list(chunks(text))) <= 99


def test_everything_is_in_the_dialog_and_slack_takes_it() -> None:
    content = "".join(f"line {number}\n" for number in range(5_000))
    view = everything_modal(a_card(description="Why", content=content))

    parts = [part for block in view["blocks"][1:] for part in block["elements"]]
    shown = "".join(
        part["elements"][0]["text"] for part in parts if part["type"] == "rich_text_preformatted"
    )

    assert shown == content
    said, quoted, source, digest = parts[-4:]
    assert said["elements"][0]["text"] == "Reason given by the agent:"
    assert (quoted["type"], quoted["elements"][0]["text"]) == ("rich_text_quote", "Why")
    assert "".join(one["text"] for one in source["elements"]) == "Source shell"
    assert "".join(one["text"] for one in digest["elements"]) == "Digest 0123456789ab"
    assert fits(view)
    assert not check_view(view).errors


def test_a_full_dialog_of_plain_letters_fits() -> None:
    view = everything_modal(a_card(description="", content="x" * REVEAL_LIMIT))

    assert fits(view)
    assert not check_view(view).errors
    assert len(json.dumps(view)) <= VIEW_BYTES


def test_what_is_invisible_is_spelled_out_there_as_well() -> None:
    view = everything_modal(a_card(content="\u202egnp.exe", title="\n"))

    assert "⟨U+202E⟩gnp.exe" in json.dumps(view, ensure_ascii=False)
    assert not check_view(view).errors
