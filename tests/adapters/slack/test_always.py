"""Always in Slack: a dialog for the narrow rule, a second step a level down for wider ones."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
from support.slack_kit import ALLOW, ALWAYS, a_card, a_press, an_action
from support.slack_room import Slack, SlackRoom

from sayso import Outcome, RunRef, ToolCall
from sayso.always.terms import GrantOptions
from sayso.cards.card import Choice, Open
from sayso.digests import short_digest
from sayso.rules.rule import Rule, Scope
from sayso.stores.memory import memory_backend
from sayso.worker.worker import WorkerOptions
from sayso_playground import SlackMessage
from sayso_playground.slack.blocks import check_blocks
from sayso_slack.blocks import card_message
from sayso_slack.interactions import parse_press

RUN = RunRef("deploy-bot", "s-1")
SCOPES: frozenset[Scope] = frozenset({"session", "project", "agent", "tool-window"})
SHOP = RunRef("deploy-bot", "s-1", project="/src/shop")
LATER = RunRef("deploy-bot", "s-2", project="/src/shop")
STATUS = ToolCall("bash", {"command": "git status"})
RESET = ToolCall("bash", {"command": "git reset"})
MENU = "sayso:more"


@dataclass
class Room(SlackRoom):
    """A card in Slack that offers the call, its program and its tool."""

    async def show_the_card(self) -> None:
        wider = (Rule("bash", {"command": "git *"}), Rule("bash"))
        self.request = await self.offer(STATUS, *wider)
        self.card = await self.playground.slack.message_where(lambda m: bool(m.buttons))

    async def shown(self, words: str) -> SlackMessage:
        return await self.playground.slack.message_where(lambda m: words in m.all_text)

    async def choose(self, option: str, by: str = "alice") -> SlackMessage:
        """Press a button a level down; the card at its second step."""
        await self.playground.slack.press(await self.opened(by), option, by=by)
        return await self.shown("Really?")

    async def opened(self, by: str = "alice") -> SlackMessage:
        """The card a level down."""
        await self.playground.slack.press(self.card, "More…", by=by)
        return await self.playground.slack.message_where(lambda m: "Back" in m.buttons)


@pytest.fixture
async def room(slack: Slack) -> AsyncIterator[Room]:
    options = WorkerOptions(terms=GrantOptions(scopes=SCOPES))
    async with (
        memory_backend() as backend,
        Room.in_slack(slack, backend, options=options) as room,
    ):
        await room.show_the_card()
        yield room


def elements(message: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = message["blocks"][-1]["elements"]
    return found


async def test_always_stores_the_literal_call_after_its_dialog(room: Room) -> None:
    dialog = next(e for e in room.card.blocks[-1]["elements"] if e["action_id"] == "sayso:always")

    await room.playground.slack.press(room.card, "Always", by="alice")

    digest = short_digest(room.request.arguments_digest)
    assert dialog["confirm"]["text"]["text"] == (
        "This will be remembered: bash with exactly these arguments: "
        f'command is "git status" (digest {digest}) in session s-1, for 1 day.'
    )
    ended = await room.shown("Remembered")
    assert ", until " in ended.all_text
    assert await room.unanswered(STATUS) is Outcome.APPROVED
    assert await room.unanswered(RESET) is Outcome.EXPIRED


async def test_a_wider_always_is_named_in_the_second_step_before_it_is_stored(room: Room) -> None:
    sure = await room.choose("Always: git *")

    assert (
        'bash with command matching "git *" and any other arguments in session s-1' in sure.all_text
    )
    assert "also allows another one after it" in sure.all_text
    assert list(sure.buttons) == ["Yes, Always: git *", "Back"]
    assert await room.backend.rules.all() == []
    dialog = sure.blocks[-1]["elements"][0]["confirm"]["text"]["text"]
    assert '"git *"' in dialog
    assert "⚠" in dialog
    await room.playground.slack.press(sure, "Yes, Always: git *", by="alice")
    await room.shown("Approved by alice")
    assert await room.unanswered(RESET) is Outcome.APPROVED
    assert await room.unanswered(ToolCall("bash", {"command": "ls"})) is Outcome.EXPIRED


async def test_how_long_is_asked_on_the_card_where_the_agent_names_a_project(room: Room) -> None:
    await room.offer(STATUS, run=SHOP)
    card = await room.shown("/src/shop")

    await room.playground.slack.press(card, "Always", by="alice")
    sure = await room.shown("Really?")

    assert "that name their project /src/shop, for 1 day or 30 days" in sure.all_text
    assert list(sure.buttons) == [
        "This session, 1 day",
        "This project, 1 day",
        "This project, 30 days",
        "Back",
    ]
    assert all("confirm" not in element for element in sure.blocks[-1]["elements"])
    await room.playground.slack.press(sure, "This project, 30 days", by="alice")
    ended = await room.shown("Approved by alice")
    assert "that name their project /src/shop, until " in ended.all_text
    assert await room.unanswered(STATUS, LATER) is Outcome.APPROVED

    await room.playground.slack.press(ended, "Revoke", by="alice")
    await room.shown("revoked by alice")
    assert await room.unanswered(STATUS, LATER) is Outcome.EXPIRED


async def test_always_deny_is_one_level_down(room: Room) -> None:
    sure = await room.choose("Always deny")
    await room.playground.slack.press(sure, "Yes, Always deny", by="alice")

    ended = await room.shown("Denied by alice")
    assert "never bash with exactly these arguments" in ended.all_text
    assert await room.unanswered(STATUS) is Outcome.DENIED


async def test_a_window_says_for_how_many_minutes(room: Room) -> None:
    sure = await room.choose("Whole tool for 15 minutes")

    assert "bash with any arguments in session s-1, for 15 minutes" in sure.all_text
    assert "every call of this tool" in sure.all_text


async def test_back_returns_to_the_first_buttons(room: Room) -> None:
    sure = await room.choose("Always: git *")

    await room.playground.slack.press(sure, "Back", by="alice")

    await room.playground.slack.message_where(lambda m: "Allow" in m.buttons)
    assert await room.backend.rules.all() == []


async def test_the_wrong_person_neither_gets_a_level_down_nor_anything_from_there(
    room: Room,
) -> None:
    await room.playground.slack.press(room.card, "More…", by="mallory")
    assert "may not decide" in (await room.playground.slack.ephemeral_where("mallory")).text
    opened = await room.opened()
    below = [label for label in opened.buttons if label != "Back"]
    assert len(below) >= 5

    for label in below:
        await room.playground.slack.press(opened, label, by="mallory")
        told = await room.playground.slack.ephemeral_where("mallory")
        assert "may not decide" in told.text

    assert room.playground.slack.messages()[-1].buttons == opened.buttons
    assert await room.backend.rules.all() == []


async def test_a_choice_of_one_card_does_nothing_on_another_message(room: Room) -> None:
    def elsewhere(payload: dict[str, Any]) -> None:
        payload["container"]["message_ts"] = payload["message"]["ts"] = "1.1"

    opened = await room.opened()
    await room.playground.slack.press(opened, "Always: git *", by="alice", alter=elsewhere)

    told = await room.playground.slack.ephemeral_where("alice")
    assert "does not belong" in told.text
    assert await room.backend.rules.all() == []


WIDE = Choice("always-2", "Always: git *", stores="bash with more", warning="It is wide")


def test_the_button_a_level_down_and_the_second_step_carry_key_and_handle() -> None:
    shown = a_card(Open(more=True), more=(WIDE,))
    below = elements(card_message(shown))[0]
    sure = elements(card_message(replace(shown, state=Open(confirming=WIDE))))

    assert (below["action_id"], below["value"]) == ("sayso:more-1", "h4ndle:always-2")
    assert [element["action_id"] for element in sure] == ["sayso:always-2", "sayso:back"]
    assert sure[0]["value"] == "h4ndle"


def test_one_button_with_a_label_leads_a_level_down_whatever_is_there() -> None:
    more = tuple(replace(WIDE, key=f"always-{number}") for number in range(2, 14))
    card = a_card(more=more)

    labels = [element["text"]["text"] for element in elements(card_message(card))]
    opened = card_message(replace(card, state=Open(more=True)))
    values = [element["value"] for element in elements(opened)]

    assert labels == ["Allow", "Always", "Deny", "More…"]
    assert values == [*(f"h4ndle:{choice.key}" for choice in more), "h4ndle"]
    assert not check_blocks(opened["blocks"]).errors


def test_twenty_choices_a_level_down_are_all_and_the_card_says_that_there_are_more() -> None:
    more = tuple(replace(WIDE, key=f"always-{number}") for number in range(2, 24))

    message = card_message(a_card(Open(more=True), more=more))

    assert len(elements(message)) == 20 + 1
    assert "2 more choices do not fit" in str(message["blocks"])


@pytest.mark.parametrize("action_id", [f"{MENU}-2", f"{MENU}-20", f"{MENU}-3-14"])
def test_a_choice_a_level_down_is_a_press_that_is_not_confirmed(action_id: str) -> None:
    action = an_action(action_id=action_id, value="h4ndle:always-2")
    press = parse_press(a_press(actions=[action]), delivery="d")

    assert press
    assert (press.handle, press.choice, press.confirmed) == ("h4ndle", "always-2", False)


@pytest.mark.parametrize(
    ("action_id", "value"),
    [
        ("sayso:always-2", "h4ndle:always-2"),
        (f"{MENU}-1", "h4ndle:!always-2"),
        (f"{MENU}-1", "h4ndle:Always"),
        (f"{MENU}-1-2-3", "h4ndle:always-2"),
    ],
)
def test_what_is_not_a_button_of_ours_a_level_down_is_no_press(action_id: str, value: str) -> None:
    action = an_action(action_id=action_id, value=value)

    assert parse_press(a_press(actions=[action]), delivery="d") is None


def test_a_choice_in_a_menu_of_an_earlier_version_is_a_press() -> None:
    for action_id in (MENU, f"{MENU}-2", f"{MENU}-4"):
        press = parse_press(a_press(actions=[picked(action_id=action_id)]), delivery="d")
        assert press
        assert press.choice == "always-2"


def test_a_warning_without_room_in_the_dialog_is_cut_and_the_rule_is_not() -> None:
    wide = replace(WIDE, stores="s" * 230, warning="w" * 900)

    message = card_message(a_card(choices=(ALLOW, ALWAYS), more=(wide,)))
    sure = card_message(replace(a_card(more=(wide,)), state=Open(confirming=wide)))

    dialog = elements(sure)[0]["confirm"]["text"]["text"]
    assert "s" * 230 in dialog
    assert dialog.endswith("w…")
    assert len(dialog) <= 300
    assert "w" * 400 in str(sure["blocks"])
    assert len(str(message)) < 10_000


def picked(**changes: Any) -> dict[str, Any]:
    option = {"text": {"type": "plain_text", "text": "x"}, "value": "h4ndle:always-2"}
    action = an_action(action_id=MENU, type="overflow", selected_option=option)
    del action["value"], action["text"]
    return {**action, **changes}


def test_a_choice_in_the_menu_is_a_press_that_is_not_confirmed() -> None:
    press = parse_press(a_press(actions=[picked()]), delivery="d")

    assert press
    assert (press.handle, press.choice, press.confirmed) == ("h4ndle", "always-2", False)


@pytest.mark.parametrize(
    "action",
    [
        picked(action_id="sayso:allow"),
        picked(action_id="more"),
        picked(action_id=f"{MENU}-x"),
        picked(action_id=f"{MENU}-2\n"),
        picked(type="static_select"),
        picked(selected_option=None),
        picked(selected_option={"value": 5}),
        picked(selected_option={"value": "h4ndle"}),
        picked(selected_option={"value": "h4ndle:Always"}),
        picked(selected_option={"value": "h4ndle:!always-2"}),
        picked(selected_option={"value": ":always-2"}),
        picked(selected_option={"value": "a:b:always-2"}),
        picked(selected_option={"value": "h" * 121 + ":always-2"}),
    ],
)
def test_anything_but_an_option_of_ours_is_no_press(action: dict[str, Any]) -> None:
    assert parse_press(a_press(actions=[action]), delivery="d") is None


def test_what_a_message_cannot_show_in_full_has_no_second_step() -> None:
    huge = replace(WIDE, key="always-3", stores="s" * 5_000)

    message = card_message(a_card(Open(confirming=huge), more=(huge, WIDE)))

    assert "sss" not in str(message)
    assert elements(message)[0]["action_id"] == "sayso:allow"
