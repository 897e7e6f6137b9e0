"""Presses and commands of another workspace or app are refused, whatever shape they come in."""

from __future__ import annotations

from typing import Any

import pytest
from support.desk_double import DeskDouble
from support.slack_kit import APP, TEAM, a_press

from sayso_slack import SlackListener

REVOKE = {"type": "button", "action_id": "sayso-home:revoke", "value": "r1", "name": "n"}
COMMAND = {"command": "/approvals", "user_id": "U0ALICE", "channel_id": "C0OPS"}
OLD_KINDS = ("interactive_message", "dialog_submission", "dialog_cancellation")


def a_revocation(kind: str, **changes: Any) -> dict[str, Any]:
    return a_press(
        type=kind, actions=[REVOKE], view={"type": "home"}, callback_id="x", value="r1", **changes
    )


@pytest.mark.parametrize("kind", [*OLD_KINDS, "block_actions"])
@pytest.mark.parametrize(
    "whence",
    [
        {"team": {"id": "T0OTHER"}, "user": {"id": "U0EVIL", "team_id": "T0OTHER"}},
        {"team": ..., "user": {"id": "U0EVIL", "team_id": "T0OTHER"}},
        {"api_app_id": "A0OTHER"},
        {"api_app_id": ...},
    ],
)
async def test_a_press_of_any_kind_is_taken_from_our_workspace_and_app_only(
    listener: SlackListener, desk: DeskDouble, kind: str, whence: dict[str, Any]
) -> None:
    answer = await listener.answer_envelope("e1", a_revocation(kind, **whence))

    assert (answer.status, desk.revoked) == (403, [])


@pytest.mark.parametrize("kind", OLD_KINDS)
async def test_a_press_of_a_kind_that_sayso_never_shows_does_nothing(
    listener: SlackListener, desk: DeskDouble, kind: str
) -> None:
    answer = await listener.answer_envelope("e1", a_revocation(kind))

    assert (answer.status, desk.revoked) == (404, [])


@pytest.mark.parametrize(
    "more", [{}, {"type": "x"}, {"type": "event_callback"}, {"ssl_check": "1"}]
)
@pytest.mark.parametrize(
    "whence", [{}, {"team_id": TEAM, "api_app_id": "A0OTHER"}, {"team_id": "T0", "api_app_id": APP}]
)
async def test_a_command_of_another_workspace_or_app_is_refused(
    listener: SlackListener, desk: DeskDouble, more: dict[str, Any], whence: dict[str, Any]
) -> None:
    answer = await listener.answer_envelope("e1", {**COMMAND, **more, **whence})

    assert answer.status == (400 if "type" in more else 403)
    assert desk.looks == []


async def test_a_command_that_is_something_else_besides_is_refused(
    listener: SlackListener, desk: DeskDouble
) -> None:
    both = {**a_press(), **COMMAND, "team_id": TEAM}

    answer = await listener.answer_envelope("e1", both)

    assert answer.status == 400
    assert (desk.looks, desk.presses) == ([], [])
