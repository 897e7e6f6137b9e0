"""Cards are quiet: ids a level down, times in the reader's own, each place said once."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from support.card_states import ALONE, TOGETHER

from sayso.calls import Folder, Project, RunRef
from sayso.cards.card import Card, Ended, Open
from sayso.cards.origin import details
from sayso.chats.limits import Limits
from sayso.questions.permission import PermissionRequestEvent
from sayso.values import Value
from sayso.where import Where
from sayso_slack.batch_blocks import message as in_slack
from sayso_slack.limits import LIMITS as SLACK
from sayso_telegram.adapter import LIMITS as TELEGRAM
from sayso_telegram.batch_message import build_batch_keyboard, build_batch_message
from sayso_telegram.formatted_text import Formatted
from sayso_telegram.keyboard import keyboard
from sayso_telegram.message_text import message

STATES = {name: (card,) for name, card in ALONE.items()} | TOGETHER
UTC_TIME = re.compile(r"[0-9]{2}:[0-9]{2}(?::[0-9]{2})? UTC")
TO_THE_SECOND = re.compile(r"[0-9]{2}:[0-9]{2}:[0-9]{2}")
IDS = ("0123456789ab", "s-42", "planner")
A_LEVEL_DOWN = ("open-with-more", "three-with-more")
NOW = datetime(2027, 1, 15, 8, tzinfo=UTC)

each_state = pytest.mark.parametrize("state", STATES)


def in_telegram(cards: Sequence[Card]) -> Formatted:
    return message(cards[0]) if len(cards) == 1 else build_batch_message(cards)


def strings(value: Any) -> Iterator[str]:
    """Every string in blocks that a person reads: of a time what their client makes of it."""
    if isinstance(value, dict):
        for key, one in value.items():
            if key not in ("fallback", "value", "block_id", "action_id"):
                yield from strings(one)
    elif isinstance(value, list):
        for one in value:
            yield from strings(one)
    elif isinstance(value, str):
        yield re.sub(r"<!date\^[0-9]+\^([^|>]*)\|[^>]*>", r"\1", value)


def without_rules(card: Card) -> Card:
    """The card without what Always would store: that says which arguments it means."""
    choices = tuple(replace(one, stores="") for one in card.body.choices)
    state = replace(card.state, stored="") if isinstance(card.state, Ended) else card.state
    if isinstance(state, Open):
        state = replace(state, confirming=None)
    return replace(card, body=replace(card.body, choices=choices), state=state)


@each_state
def test_digests_and_ids_are_a_level_down(state: str) -> None:
    cards = [without_rules(card) for card in STATES[state]]
    slack = in_slack(cards)
    is_opened = state in A_LEVEL_DOWN

    for one in IDS:
        assert is_opened or one not in slack["text"]
        assert (one in " ".join(strings(slack["blocks"]))) is is_opened
        assert (one in in_telegram(cards).text) is is_opened


@each_state
def test_nobody_reads_utc_where_their_client_knows_their_own_time(state: str) -> None:
    cards = STATES[state]

    assert not any(map(UTC_TIME.search, strings(in_slack(cards)["blocks"])))
    for part in in_telegram(cards).parts:
        assert part.at is not None or not UTC_TIME.search(part.text)
    for text in (in_slack(cards)["text"], in_telegram(cards).text):
        assert not TO_THE_SECOND.search(text)


@pytest.mark.parametrize("state", ["open", "cut", "three-open"])
def test_a_notification_says_in_how_long_it_expires(state: str) -> None:
    cards = [replace(card, waits="10 minutes") for card in STATES[state]]
    text = in_slack(cards)["text"]

    assert "Expires in 10 minutes" in text
    assert "UTC" not in text


@each_state
def test_nothing_is_in_a_menu_without_a_label(state: str) -> None:
    """What leads to more choices is one button that says so."""
    cards = STATES[state]
    blocks = in_slack(cards)["blocks"]
    elements = [one for block in blocks if block["type"] == "actions" for one in block["elements"]]
    markup = keyboard(cards[0]) if len(cards) == 1 else build_batch_keyboard(cards)
    rows = markup.inline_keyboard if markup is not None else ()

    assert {element["type"] for element in elements} <= {"button"}
    for card in cards:
        mine = [one for one in elements if one["value"] == card.handle]
        assert sum(one["action_id"] == "sayso:more" for one in mine) <= 1
    assert all(button.text.strip() for row in rows for button in row)


def in_chat(card: Card, limits: Limits) -> str:
    """All that is on the card in Slack, or in Telegram."""
    if limits is TELEGRAM:
        return message(card).text
    return json.dumps(in_slack([card])["blocks"], ensure_ascii=False)


def a_hook_asks(**changes: Any) -> PermissionRequestEvent:
    """As the hook of a coding agent does, in a folder of a project."""
    root = "/home/ana/shop"
    return PermissionRequestEvent(
        permission_id="p-1",
        function_name="Bash",
        call_id="c-1",
        source_name="claude-code",
        run=RunRef("claude-code", "s-1", project=Project("box", root, "acme/shop")),
        folder=Folder(root, f"{root}/api", seen=True),
        where=Where("box", f"{root}/api", "acme/shop", "main", root),
        description="Claude Code, permission mode default",
        arguments={"command": "make"},
        expires_at=NOW + timedelta(minutes=10),
        **changes,
    )


def test_a_hooks_card_names_the_folder_once() -> None:
    request = a_hook_asks()
    body = replace(request.card(), details=details(request))
    for limits in (SLACK, TELEGRAM):
        card = Card("h" * 23, body, request.asker, NOW, limits.content, limits.reveal)
        text = in_chat(card, limits)

        assert text.count("/shop") == 2, "the project, and the name of the repository"
        assert "box · /home/ana/shop · acme/shop" in text
        assert "api · main" in text


def test_a_folder_that_is_not_the_projects_is_said_as_well() -> None:
    request = a_hook_asks().model_copy(update={"folder": Folder("/srv/other")})

    assert ("Folder", "/srv/other") in request.card().facts


def test_the_ended_card_says_until_when_a_rule_holds_in_the_readers_own_time() -> None:
    ended = Ended("approved", NOW, by="slack:U0ALICE", stored="bash", until=NOW + timedelta(days=1))
    card = replace(ALONE["open"], state=ended)

    [date] = [
        one
        for block in in_slack([card])["blocks"] if block["type"] == "rich_text"
        for part in block["elements"]
        for one in part["elements"] if one["type"] == "date"
    ]  # fmt: skip
    assert date["timestamp"] == int(ended.until.timestamp()) if ended.until else False
    assert ended.until in [part.at for part in message(card).parts]


BLANKS = {
    "300 blank lines": "echo ok" + "\n" * 300 + "; rm -rf /",
    "900 spaces": "echo ok" + " " * 900 + "; rm -rf /",
}


@pytest.mark.parametrize("blanks", BLANKS)
def test_allow_stands_below_folded_blanks_only_where_all_that_follows_is_on_the_screen(
    blanks: str,
) -> None:
    """What is folded is named, and what it pushed away is seen: else Allow waits for Show all."""
    folded = a_hook_asks().model_copy(update={"arguments": {"command": BLANKS[blanks]}})
    longer = {"command": BLANKS[blanks] + "".join(f"\nstep {n}" for n in range(60))}
    pushed = a_hook_asks().model_copy(update={"arguments": longer})

    for limits in (SLACK, TELEGRAM):
        for request, is_seen in ((folded, True), (pushed, False)):
            card = Card(
                "h" * 23, request.card(), request.asker, NOW, limits.content, limits.reveal,
                lines=limits.lines, columns=limits.columns,
            )  # fmt: skip
            text = in_chat(card, limits)
            offered = [choice.key for choice in card.choices]
            assert ("allow" in offered) is is_seen
            assert ("step 59" in text or "; rm -rf /" in text) if is_seen else "step 59" not in text
            assert "[299 blank lines]" in text or "[900 spaces]" in text


def test_allow_is_never_offered_where_a_part_of_a_value_is_not_on_the_screen() -> None:
    """Whatever is folded and however it is wrapped: what is allowed is seen, or was opened."""
    for blank in ("\n" * 2, " " * 40, "\t" * 10, "\n \n"):
        text = "".join(f"{number}{blank}" for number in range(200)) + "rm -rf /"
        for limits in (SLACK, TELEGRAM):
            body = replace(ALONE["open"].body, values=(Value("command", text, "shell"),))
            card = Card(
                "h" * 23, body, "a", NOW, limits.content, limits.reveal,
                lines=limits.lines, columns=limits.columns, state=Open(),
            )  # fmt: skip
            assert card.is_cut
            assert all(choice.key != "allow" for choice in card.choices)
