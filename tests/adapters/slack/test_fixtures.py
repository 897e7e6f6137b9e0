from typing import Any

import pytest
from support.clock import Clock
from support.desk_double import DeskDouble
from support.slack_kit import a_config, an_action, callback, fixture, fixtures

from sayso_slack import SlackAdapter, SlackListener

ROWS = [row for row in fixtures() if row["transport"] != "socket-envelope"]
BUTTONS = [row for row in ROWS if row["file"].startswith("block_actions")]


def names(rows: list[dict[str, Any]]) -> list[str]:
    return [str(row["file"]).removesuffix(".json") for row in rows]


def a_listener(row: dict[str, Any], desk: DeskDouble, clock: Clock) -> SlackListener:
    """A listener of the workspace and the app that the fixture is for."""
    document = fixture(row["file"])
    team = row["bolt_1_30"].get("team_id") or "T0ACME"
    config = a_config(team_id=team, app_id=document.get("api_app_id", ""))
    return SlackListener(config, SlackAdapter(config), desk, clock=clock)


# Flat fields are a slash command, which tells its giver what waits.
ANSWERS = {"json": 200, "form-fields": 200, "form-payload": 404}


@pytest.mark.parametrize("row", ROWS, ids=names(ROWS))
async def test_every_callback_of_slacks_is_answered_and_presses_nothing(
    row: dict[str, Any], desk: DeskDouble, clock: Clock
) -> None:
    headers, body = callback(fixture(row["file"]), clock.seconds(), row["transport"])

    answer = await a_listener(row, desk, clock).answer(headers, body)

    assert answer.status == ANSWERS[row["transport"]]
    assert not desk.presses


@pytest.mark.parametrize("row", BUTTONS, ids=names(BUTTONS))
async def test_a_press_is_read_on_every_kind_of_message(
    row: dict[str, Any], desk: DeskDouble, clock: Clock
) -> None:
    document = {**fixture(row["file"]), "actions": [an_action()]}

    answer = await a_listener(row, desk, clock).answer(*callback(document, clock.seconds()))

    if document["container"]["type"] == "view":
        assert answer.status == 400
        assert not desk.presses
        return
    assert answer.status == 200
    [press] = desk.presses
    assert press.actor == f"slack:{row['bolt_1_30']['user_id']}"
    assert press.message.place.address == row["bolt_1_30"]["channel_id"]
    assert press.message.place.thread == document["container"].get("thread_ts", "")
    assert press.message.message_id == document["container"]["message_ts"]


@pytest.mark.parametrize("row", BUTTONS, ids=names(BUTTONS))
async def test_no_press_is_read_for_another_workspace(
    row: dict[str, Any], desk: DeskDouble, clock: Clock
) -> None:
    config = a_config(app_id="")
    listener = SlackListener(config, SlackAdapter(config), desk, clock=clock)
    document = {**fixture(row["file"]), "actions": [an_action()]}

    answer = await listener.answer(*callback(document, clock.seconds()))

    assert answer.status == 403
    assert not desk.presses


async def test_the_answer_to_url_verification_is_its_challenge(
    desk: DeskDouble, clock: Clock
) -> None:
    row = next(row for row in ROWS if row["file"] == "url_verification.json")
    document = fixture(row["file"])

    answer = await a_listener(row, desk, clock).answer(*callback(document, clock.seconds(), "json"))

    assert answer.headers["content-type"] == ["application/json;charset=utf-8"]
    assert document["challenge"] in answer.body
