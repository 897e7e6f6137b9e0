from typing import Any

import pytest
from playground.listener import a_button, a_modal, some_blocks

from sayso_playground.slack.blocks import characters, check_blocks, check_view


def plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text}


def section(text: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def confirm(**fields: Any) -> dict[str, Any]:
    words = {"title": "Sure?", "text": "It stays.", "confirm": "Yes", "deny": "No", **fields}
    return {name: plain(text) for name, text in words.items()}


def rich(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"type": "rich_text", "elements": list(parts)}


def leaf(kind: str, *leaves: dict[str, Any]) -> dict[str, Any]:
    return {"type": kind, "elements": list(leaves)}


TEXT = {"type": "text", "text": "rm -rf", "style": {"code": True}}

ACCEPTED = {
    "a section of 3000 characters": [section("x" * 3000)],
    "a header of 150": [{"type": "header", "text": plain("x" * 150)}],
    "a button with 2000 characters of value": some_blocks(a_button(value="x" * 2000)),
    "a button of 75": some_blocks(a_button("x" * 75)),
    "both styles": some_blocks(a_button(style="primary"), a_button("No", style="danger")),
    "a confirm dialog": some_blocks(a_button(confirm=confirm(title="x" * 100, text="x" * 300))),
    "rich text": [rich(leaf("rich_text_section", TEXT), leaf("rich_text_preformatted", TEXT))],
    "50 blocks": [{"type": "divider"}] * 50,
    "a list": [
        rich({**leaf("rich_text_list", leaf("rich_text_section", TEXT)), "style": "bullet"})
    ],
}

REFUSED = {
    "51 blocks": ([{"type": "divider"}] * 51, "no more than 50 items"),
    "3001 characters": ([section("x" * 3001)], "less than 3001"),
    "no characters": ([section("")], "more than 0 characters"),
    "a section of nothing": ([{"type": "section"}], "missing required field: text"),
    "mrkdwn on a button": (
        some_blocks(a_button(text={"type": "mrkdwn", "text": "x"})),
        "unsupported type: mrkdwn",
    ),
    "a long button": (some_blocks(a_button("x" * 76)), "less than 76"),
    "a long value": (some_blocks(a_button(value="x" * 2001)), "less than 2001"),
    "a long action_id": (some_blocks(a_button(action_id="x" * 256)), "less than 256"),
    "a long block_id": ([{"type": "divider", "block_id": "x" * 256}], "less than 256"),
    "an unknown style": (some_blocks(a_button(style="success")), "valid enum value"),
    "an action_id twice": (some_blocks(a_button(), a_button()), "action_id already exists"),
    "a block_id twice": ([{"type": "divider", "block_id": "b"}] * 2, "block_id already exists"),
    "26 buttons": (some_blocks(*[a_button(str(n)) for n in range(26)]), "no more than 25"),
    "no buttons": ([{"type": "actions", "elements": []}], "no less than 1"),
    "a long header": ([{"type": "header", "text": plain("x" * 151)}], "less than 151"),
    "11 fields": ([{"type": "section", "fields": [plain("x")] * 11}], "no more than 10"),
    "a long field": ([{"type": "section", "fields": [plain("x" * 2001)]}], "less than 2001"),
    "11 context elements": (
        [{"type": "context", "elements": [plain("x")] * 11}],
        "no more than 10",
    ),
    "a long title": (some_blocks(a_button(confirm=confirm(title="x" * 101))), "less than 101"),
    "a long question": (some_blocks(a_button(confirm=confirm(text="x" * 301))), "less than 301"),
    "a long yes": (some_blocks(a_button(confirm=confirm(confirm="x" * 31))), "less than 31"),
    "a long no": (some_blocks(a_button(confirm=confirm(deny="x" * 31))), "less than 31"),
    "an unknown block": ([{"type": "fancy"}], "unsupported type: fancy"),
    "an unknown field": ([{"type": "divider", "text": "x"}], "invalid additional property: text"),
    "empty rich text": ([rich(leaf("rich_text_section", {**TEXT, "text": ""}))], "more than 0"),
    "rich text in no section": ([rich(TEXT)], "unsupported type: text"),
    "a mention in preformatted text": (
        [rich(leaf("rich_text_preformatted", {"type": "user", "user_id": "U1"}))],
        "unsupported type: user",
    ),
    "a block that is no object": (["divider"], "unsupported type"),
}


@pytest.mark.parametrize("blocks", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_what_slack_takes_is_taken(blocks: list[Any]) -> None:
    assert check_blocks(blocks).messages == []


@pytest.mark.parametrize(("blocks", "complaint"), REFUSED.values(), ids=REFUSED.keys())
def test_what_slack_refuses_is_refused(blocks: list[Any], complaint: str) -> None:
    messages = check_blocks(blocks).messages

    assert any(complaint in message for message in messages), messages


def test_a_complaint_points_at_its_place() -> None:
    (message,) = check_blocks(some_blocks(a_button("x" * 76))).messages

    assert message.endswith("[json-pointer:/blocks/1/elements/0/text/text]")
    assert message.startswith("[ERROR] ")


def test_all_text_of_all_blocks_is_counted() -> None:
    blocks = [section("four"), rich(leaf("rich_text_section", TEXT)), *some_blocks(a_button("Go"))]

    assert characters(blocks) == len("four" + "rm -rf" + "May I?" + "Go")


@pytest.mark.parametrize(
    ("view", "complaint"),
    [
        (a_modal(title=plain("x" * 25)), "less than 25"),
        (a_modal(private_metadata="x" * 3001), "less than 3001"),
        (a_modal(callback_id="x" * 256), "less than 256"),
        (a_modal(type="home"), "unsupported type: home"),
        ({k: v for k, v in a_modal().items() if k != "submit"}, "missing required field: submit"),
        ({k: v for k, v in a_modal().items() if k != "title"}, "missing required field: title"),
    ],
)
def test_a_modal_that_breaks_a_rule_is_refused(view: dict[str, Any], complaint: str) -> None:
    assert any(complaint in message for message in check_view(view).messages)


def test_a_modal_within_the_rules_is_taken() -> None:
    assert check_view(a_modal()).messages == []
