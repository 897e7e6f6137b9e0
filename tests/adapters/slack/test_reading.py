from typing import Any

import pytest
from support.slack_kit import APP, TEAM, Payload, a_press, an_action, fixture

from sayso.chats.places import MessageRef, Place, Press
from sayso.errors import CallbackError
from sayso_slack.interactions import parse_press
from sayso_slack.workspace import Workspace

OURS = Workspace(TEAM, APP)


def read(payload: Payload) -> Press | None:
    return parse_press(payload, delivery="d")


def test_a_press_says_who_pressed_what_where() -> None:
    press = read(a_press())

    where = MessageRef(Place("slack", "C0OPS"), "1700000000.000100")
    ticket = "1.2.PLACEHOLDER_TRIGGER"
    assert press == Press("h4ndle", "allow", "slack:U0ALICE", where, True, "d", ticket)
    assert ticket not in repr(press)


CONTAINER = {"type": "message", "message_ts": "2.1", "channel_id": "C1"}


@pytest.mark.parametrize(
    ("container", "message", "thread"),
    [
        ({**CONTAINER, "thread_ts": "1.1"}, ..., "1.1"),
        ({**CONTAINER, "thread_ts": "2.1"}, ..., ""),
        (CONTAINER, {"ts": "2.1", "thread_ts": "1.1"}, "1.1"),
        (CONTAINER, {"ts": "2.1", "thread_ts": "2.1"}, ""),
        (CONTAINER, None, ""),
    ],
)
def test_only_a_reply_stands_in_a_thread(container: Any, message: Any, thread: str) -> None:
    press = read(a_press(container=container, message=message))

    assert press
    assert press.message == MessageRef(Place("slack", "C1", thread), "2.1")


def test_the_channel_and_the_message_are_found_outside_the_container_too() -> None:
    press = read(a_press(container=...))

    assert press
    assert press.message == MessageRef(Place("slack", "C0OPS"), "1700000000.000100")


NOT_OURS: list[Any] = [
    [],
    None,
    ...,
    "x",
    [None],
    ["x"],
    [{}],
    [{"name": "channel_list", "type": "select"}],
    [an_action(action_id="allow")],
    [an_action(action_id="xsayso:allow")],
    [an_action(action_id="sayso:")],
    [an_action(action_id="sayso:Allow")],
    [an_action(action_id="sayso:allow\n")],
    [an_action(action_id="sayso:" + "a" * 21)],
    [an_action(action_id=5)],
    [an_action(value="")],
    [an_action(value=None)],
    [an_action(value={"a": 1})],
    [an_action(value="x" * 2_000)],
    [an_action(type="static_select")],
    [an_action(), an_action(action_id="sayso:deny")],
]


@pytest.mark.parametrize("actions", NOT_OURS)
def test_anything_but_one_button_of_ours_is_no_press(actions: Any) -> None:
    assert read(a_press(actions=actions)) is None


@pytest.mark.parametrize(
    "kind", ["view_submission", "interactive_message", None, ["block_actions"]]
)
def test_other_types_of_payload_are_no_press(kind: Any) -> None:
    assert read(a_press(type=kind)) is None


@pytest.mark.parametrize("user", [..., None, "U1", {}, {"id": ""}, {"id": "B1"}, {"id": "U1 x"}])
def test_a_press_of_nobody_is_unreadable(user: Any) -> None:
    with pytest.raises(CallbackError, match="who pressed"):
        read(a_press(user=user))


@pytest.mark.parametrize(
    "container", [{"type": "view", "view_id": "V1"}, None, [], {"message_ts": 5, "channel_id": {}}]
)
def test_a_press_on_no_message_is_unreadable(container: Any) -> None:
    with pytest.raises(CallbackError, match="which message"):
        read(a_press(container=container, message=..., channel=...))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"user": {"id": "U0ALICE"}},
        {"team": None, "enterprise": {"id": "E1"}, "is_enterprise_install": True},
        {"team": {"id": TEAM, "enterprise_id": "E1"}},
    ],
)
def test_people_of_the_workspace_may_press(changes: Payload) -> None:
    OURS.admit_press(a_press(**changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"team": {"id": "T0OTHER"}},
        {"team": {"id": "T0OTHER"}, "user": {"id": "U1", "team_id": "T0OTHER"}},
        {"user": {"id": "U1", "team_id": "T0OTHER"}},
        {"user": {"id": "U1", "team_id": "E0OTHER"}},
        {"team": None, "user": {"id": "U1", "team_id": "T0OTHER"}},
        {"team": None, "user": {"id": "U1"}},
        {"team": None, "user": None},
        {"team": "T0ACME", "user": "U1"},
        {"team": [TEAM], "user": {"id": "U1"}},
        {"api_app_id": "A0OTHER"},
        {"api_app_id": ...},
        {"api_app_id": [APP]},
    ],
)
def test_another_workspace_or_app_is_refused(changes: Payload) -> None:
    with pytest.raises(CallbackError):
        OURS.admit_press(a_press(**changes))


def test_a_refusal_names_ids_and_nothing_that_is_none() -> None:
    with pytest.raises(CallbackError) as caught:
        OURS.admit_press(a_press(team={"id": "T1\nGET / fake log line"}))

    assert "fake" not in str(caught.value)


def test_while_the_workspace_is_unknown_nobody_may_press() -> None:
    for payload in (a_press(), a_press(team={"id": ""}, user={"id": "U1", "team_id": ""})):
        with pytest.raises(CallbackError):
            Workspace("", "").admit_press(payload)


def test_an_organisation_admits_people_of_the_workspace_that_is_named() -> None:
    organisation = Workspace("E1", APP)
    home = {"id": "T1", "enterprise_id": "E1"}

    organisation.admit_press(a_press(team=home, user={"id": "W1", "team_id": "T1"}))
    organisation.admit_press(a_press(team=home, user={"id": "W1", "team_id": "E1"}))
    for user in ({"id": "W1", "team_id": "T2"}, {"id": "W1"}):
        with pytest.raises(CallbackError):
            organisation.admit_press(a_press(team=home, user=user))


def test_other_callbacks_are_refused_when_they_say_that_they_are_anothers() -> None:
    form = fixture("view_submission_slack_connect_other_team.json")
    Workspace("T-installed-workspace", "A1111").admit(form)
    Workspace(TEAM, "A111").admit(fixture("event_app_uninstalled.json"))

    for home in (Workspace("T-other-side", "A1111"), Workspace("T-installed-workspace", "A2")):
        with pytest.raises(CallbackError):
            home.admit(form)
    with pytest.raises(CallbackError):
        Workspace(TEAM, "A2").admit(fixture("event_app_uninstalled.json"))
    with pytest.raises(CallbackError):
        Workspace(TEAM, "").admit(fixture("slash_command_enterprise.json"))
