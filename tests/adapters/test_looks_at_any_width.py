"""No text of an agent's takes the look of ours, in either chat, however its lines are wrapped."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.screens import WIDTHS, Line, height, slack_lines, telegram_lines

from sayso.calls import RunRef
from sayso.cards.card import Card, Open
from sayso.cards.truncation import cut_notice
from sayso.questions.permission import PermissionRequestEvent
from sayso.values import Value
from sayso.wording.wording import Wording
from sayso_playground.slack.blocks import check_blocks
from sayso_playground.telegram.text import checked_entities
from sayso_slack.batch_blocks import bundle_message as slack_bundle
from sayso_slack.blocks import card_message
from sayso_slack.limits import LIMITS as SLACK
from sayso_telegram.adapter import LIMITS as TELEGRAM
from sayso_telegram.batch_message import build_batch_message as telegram_bundle
from sayso_telegram.message_text import message

NOW = datetime(2027, 1, 15, 8, tzinfo=UTC)

# Everything that an agent writes here has this in each of its words, and nothing of ours has it.
SIGN = "Zq"

words = st.sampled_from(
    ["Zq", "Zqenvironment:", "Zqdry_run", "Zq·", "Zq" * 30, "⏎Zq", "✅Zq", "Zq界界", "[9Zq", "-Zq"]
)
gaps = st.sampled_from([" ", "  ", "\n", " " * 20, "\n\n\n\n", "\t"])
lies = st.lists(st.tuples(words, gaps), min_size=1, max_size=30).map(
    lambda pairs: "".join(word + gap for word, gap in pairs).strip()
)
names = st.sampled_from(["notes", "environment", "dry_run", "command", "Zq: Zq", "Zq Zq\nZq"])
arguments = st.dictionaries(
    names, st.one_of(lies, st.lists(lies, max_size=3), st.dictionaries(lies, lies, max_size=2)),
    min_size=1, max_size=5,
)  # fmt: skip


def a_request(arguments: dict[str, Any], **changes: Any) -> PermissionRequestEvent:
    return PermissionRequestEvent(
        permission_id="p-1",
        function_name=changes.pop("tool", "deploy"),
        call_id="c-1",
        source_name="deploy-bot",
        run=RunRef(changes.pop("agent", "deploy-bot"), "s-1"),
        arguments=arguments,
        expires_at=NOW + timedelta(minutes=10),
        **changes,
    )


def a_card(request: PermissionRequestEvent, limits: Any, state: Open = Open()) -> Card:  # noqa: B008
    return Card(
        "HANDLEHANDLEHANDLE1234",
        request.card(),
        request.asker,
        request.expires_at,
        limits.content,
        limits.reveal,
        state=state,
        lines=limits.lines,
        columns=limits.columns,
    )


def looks_apart(lines: list[Line]) -> None:
    """Lines that begin with a text of an agent's begin with looks of their own."""
    boxes = {("box", ""), ("pre", "pre")}  # where nothing is ours
    theirs = {line.begins.look for line in lines if SIGN in line.begins.text} | boxes
    begins = (line.begins for line in lines if line.begins.look not in boxes)
    ours = {begin.look for begin in begins if SIGN not in begin.text}

    assert not theirs & ours


def _two(card: Card) -> list[Card]:
    plain = replace(card, state=Open(), handle="ANOTHERHANDLE", number=2, count=2)
    return [replace(card, number=1, count=2), plain]


def all_lines(request: PermissionRequestEvent, state: Open, width: int) -> list[list[Line]]:
    slack, telegram = a_card(request, SLACK, state), a_card(request, TELEGRAM, state)
    posted, sent = card_message(slack), message(telegram)
    both, several = slack_bundle(_two(slack)), telegram_bundle(_two(telegram))
    for blocks in (posted["blocks"], both["blocks"]):
        assert not check_blocks(blocks).errors
    checked_entities(sent.text, [entity.to_dict() for entity in sent.entities])
    return [
        slack_lines(posted, width),
        slack_lines(both, width),
        telegram_lines(sent.text, sent.entities, width),
        telegram_lines(several.text, several.entities, width),
    ]


@settings(max_examples=examples(60), database=None, deadline=None)
@given(arguments, lies, st.sampled_from([Open(), Open(more=True)]))
def test_no_line_of_an_agents_text_begins_with_a_look_of_ours(
    arguments: dict[str, Any], description: str, state: Open
) -> None:
    request = a_request(
        arguments,
        description=description,
        tool="Zq",
        agent="Zq",
    )

    for width in WIDTHS:
        for lines in all_lines(request, state, width):
            looks_apart(lines)


@pytest.mark.parametrize("width", range(300, 500, 20))
@pytest.mark.parametrize(
    "lie", ["Zq", "Zq " * 60, "Zq" * 60, "Zq\nZqRequested by", "✅Zq Zq界界 " * 9]
)
def test_no_line_of_a_tools_words_begins_with_a_look_of_ours(lie: str, width: int) -> None:
    wording = Wording(
        title=lie,
        summary=lie,
        facts=((lie[:40], lie),),
        link="https://Zq.example/" + "Zq" * 60,
    )
    request = a_request({"amount": "Zq"}, tool="Zq", agent="Zq", wording=wording)

    for state in (Open(), Open(more=True)):
        for lines in all_lines(request, state, width):
            looks_apart(lines)


@pytest.mark.parametrize("width", range(300, 500, 10))
def test_a_value_cannot_draw_the_lines_of_other_arguments(width: int) -> None:
    notes = "Zq release 42 of the shop environment: staging-cluster dry_run: true"
    short = "Zqproduction dry_run: Zqtrue environment: Zqtest"
    arguments = {"notes": notes, "environment": short, "dry_run": "Zqno"}
    request = a_request(arguments, tool="Zq", agent="Zq")

    for lines in all_lines(request, Open(), width):
        names = [line for line in lines if line.text.startswith(("environment", "dry_run"))]
        of_ours = [line for line in names if SIGN not in line.begins.text]
        per_card = {line.begins.look for line in of_ours}
        assert per_card in ({("section", "bold")}, {("text", "bold")})
        looks_apart(lines)


MANIFEST = (
    "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: shop\nspec:\n"
    + "".join(f"  # line {number}\n" for number in range(40))
    + "  replicas: 0\n"
)
UNSEEN: dict[str, dict[str, Any]] = {
    "many lines": {"spec": "x\n" * 60 + "; rm -rf /"},
    "a manifest": {"manifest": MANIFEST},
    "a wall of text": {"text": "word " * 810},
    "many arguments": {f"a{number}": "x" for number in range(60)},
    "many items": {"items": list(range(300))},
    "a long line of blanks and letters": {"command": "ls " + "x  " * 300 + "; rm -rf /"},
}


@pytest.mark.parametrize("limits", [SLACK, TELEGRAM], ids=["slack", "telegram"])
@pytest.mark.parametrize("which", UNSEEN)
def test_what_has_no_room_on_the_first_screen_is_not_allowed_before_it_was_opened(
    which: str, limits: Any
) -> None:
    card = a_card(a_request(UNSEEN[which]), limits)

    assert card.is_cut
    assert [choice.key for choice in card.choices] == ["deny", "show"]
    assert cut_notice(card).startswith("Not shown here: ")


@pytest.mark.parametrize(
    "command", ["ls" + "\n" * 301 + "; rm -rf /", "ls" + " " * 900 + "; rm -rf /"]
)
def test_what_blanks_would_push_away_is_on_the_first_screen(command: str) -> None:
    request = a_request({"command": command})

    for lines in all_lines(request, Open(), 390):
        assert any("; rm -rf /" in line.text for line in lines)
        assert any(line.text.startswith(("[300 blank", "ls[900 sp")) for line in lines)


@settings(max_examples=examples(60), database=None, deadline=None)
@given(arguments, lies)
def test_all_that_can_be_allowed_unopened_is_on_one_screen_of_a_phone(
    arguments: dict[str, Any], description: str
) -> None:
    request = a_request(arguments, description=description)
    room = 844 - 2 * 90  # what the apps keep for themselves above and below

    slack, telegram = a_card(request, SLACK), a_card(request, TELEGRAM)
    sent = message(telegram)
    for card, lines in (
        (slack, slack_lines(card_message(slack), 390)),
        (telegram, telegram_lines(sent.text, sent.entities, 390)),
    ):
        assert height(lines) <= room
        if not card.is_cut:
            shown = "".join(line.text for line in lines)
            for value in card.body.values:
                assert "".join(value.text.split()) in "".join(shown.split())


def test_what_is_hidden_is_named_with_its_argument() -> None:
    card = a_card(a_request({"path": "a.txt", "content": "line\n" * 100}), TELEGRAM)

    assert cut_notice(card).startswith("Not shown here: ")
    assert "more lines of content (" in cut_notice(card)
    assert cut_notice(card).endswith(". Press Show all before it can be allowed.")


def test_an_edit_says_so_in_the_language_of_telegram_and_in_a_box_of_slack() -> None:
    request = a_request({"file_path": "a.py", "old_string": "x = 30", "new_string": "x = 300"})
    sent, posted = message(a_card(request, TELEGRAM)), card_message(a_card(request, SLACK))

    (block,) = [entity for entity in sent.entities if entity.type == "pre"]
    assert block.language == "diff"
    assert "-x = 30\n+x = 300" in sent.text
    assert "-x = 30\\n+x = 300" in json.dumps(posted)
    assert "1 added, 1 removed" in sent.text


def test_the_line_of_a_well_known_shell_comes_first_and_is_set_as_such() -> None:
    request = a_request({"description": "List files", "command": "ls -l"}, tool="Bash")
    sent = message(a_card(request, TELEGRAM))

    (block,) = [entity for entity in sent.entities if entity.type == "pre"]
    assert block.language == "shell"
    assert sent.text.index("ls -l") < sent.text.index("List files")


def test_the_whole_page_has_the_texts_of_an_edit_as_they_are() -> None:
    card = a_card(a_request({"path": "a", "old_str": "x \n", "new_str": "▌ Digest"}), TELEGRAM)

    assert "▌ old_str\nx \n" in card.everything
    assert "▌ new_str\n⟨U+258C⟩ Digest" in card.everything
    assert card.everything.endswith(f"▌ Digest\n{card.body.digest}")


def test_a_value_of_ones_own_kind_has_its_name_outside_too() -> None:
    body = a_request({}).card()
    assert body.values == (Value("", "(no arguments)"),)
