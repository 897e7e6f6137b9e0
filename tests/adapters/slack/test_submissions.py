"""A form that was sent off: read, verified like a press, and answered in its own dialog."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from support.clock import Clock
from support.desk_double import DeskDouble
from support.slack_forms import (
    FILL_IN,
    WHERE,
    a_form,
    a_submission,
    a_view,
    dated,
    metadata,
    picked,
    sent,
    several,
    written,
)
from support.slack_kit import (
    FORM,
    SECRET,
    TEAM,
    Client,
    Payload,
    a_card,
    a_config,
    callback,
    fixture,
    on_the_wire,
    post,
    signed,
)

from sayso.chats.places import Answer, Answered
from sayso.errors import CallbackError, ReplayedCallbackError, StoreUnreachableError
from sayso_playground import Playground
from sayso_slack import SlackAdapter, SlackListener
from sayso_slack.interactions import parse_submission
from sayso_slack.modal import form_modal


def inputs_of(values: Payload) -> Any:
    press = parse_submission(a_submission(values=values), delivery="d")
    assert press
    return press.inputs


async def test_a_form_reaches_the_desk_as_a_press_and_closes(
    client: Client, desk: DeskDouble, clock: Clock
) -> None:
    assert await sent(client, clock, a_submission()) == (200, None)

    [press] = desk.presses
    assert (press.handle, press.choice, press.actor) == ("h4ndle", "order", "slack:U0ALICE")
    assert press.message == WHERE
    assert press.inputs == {"it": "Bob"}
    assert press.confirmed
    assert press.delivery.startswith("slack:")
    assert "Bob" not in repr(press)


@pytest.mark.parametrize(
    ("values", "raw"),
    [
        (written("it", "3", "number_input"), "3"),
        (written("it", None), None),
        (written("it", None, "number_input"), None),
        (picked("it", "2"), "2"),
        (picked("it", None), None),
        (picked("it", "7", "static_select"), "7"),
        (several("it", "0", "2"), ["0", "2"]),
        (several("it"), []),
        (several("it", "1", kind="multi_static_select"), ["1"]),
        (dated("it", "2026-11-21"), "2026-11-21"),
        (dated("it", None), None),
    ],
)
def test_every_kind_of_input_is_read(values: Payload, raw: Any) -> None:
    assert inputs_of(values) == {"it": raw}


def test_what_was_written_counts_before_a_ready_made_answer() -> None:
    ready = {"sayso:or:it": picked("it", "Too risky")["sayso:in:it"]}

    assert inputs_of({**ready, **written("it", "because")}) == {"it": "because"}
    assert inputs_of({**ready, **written("it", None)}) == {"it": "Too risky"}
    assert inputs_of({**written("it", None), **ready}) == {"it": "Too risky"}


@pytest.mark.parametrize("state", [{}, None, {"values": {}}, {"values": None}, ...])
def test_a_form_without_any_state_is_filled_in_with_nothing(state: Any) -> None:
    document = a_submission()
    document["view"] = {**document["view"], "state": state}

    press = parse_submission(document, delivery="d")

    assert press
    assert press.inputs == {}


def test_blocks_that_are_no_fields_are_none() -> None:
    strange = {"other": {"x": {"type": "plain_text_input", "value": "y"}}}

    assert inputs_of({**strange, **written("it", "Bob")}) == {"it": "Bob"}


STRANGE_STATES: list[Any] = [
    {"type": "plain_text_input", "value": 5},
    {"type": "number_input", "value": 5},
    {"type": "plain_text_input", "value": ["x"]},
    {"type": "datepicker", "selected_date": 20261121},
    {"type": "radio_buttons", "selected_option": "x"},
    {"type": "radio_buttons", "selected_option": {"value": 1}},
    {"type": "checkboxes", "selected_options": "x"},
    {"type": "checkboxes", "selected_options": [{"value": None}]},
    {"type": "checkboxes", "selected_options": {"0": 1}},
    {"type": "users_select", "selected_user": "U1"},
    {"value": "x"},
]


@pytest.mark.parametrize("state", STRANGE_STATES)
async def test_an_input_of_another_type_is_refused_and_the_dialog_stays(
    client: Client, desk: DeskDouble, clock: Clock, state: Any
) -> None:
    values = {"sayso:in:it": {"sayso:value": state}}

    status, answer = await sent(client, clock, a_submission(values=values))

    assert (status, answer["status"]) == (400, 400)
    assert not desk.presses


@pytest.mark.parametrize("elements", [{}, None, "x", {"a": 1}, {"a": {}, "b": {}}])
def test_a_block_without_its_one_input_is_unreadable(elements: Any) -> None:
    with pytest.raises(CallbackError):
        inputs_of({"sayso:in:it": elements})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "5",
        "[" * 100_000,
        json.dumps({"handle": "h", "choice": "order", "channel": "C1"}),
        json.dumps({"handle": "", "choice": "order", "channel": "C1", "message": "1.1"}),
        json.dumps({"handle": "h", "choice": "Order!", "channel": "C1", "message": "1.1"}),
        json.dumps({"handle": "h" * 241, "choice": "order", "channel": "C1", "message": "1.1"}),
        json.dumps({"handle": ["h"], "choice": "order", "channel": "C1", "message": "1.1"}),
        *(
            json.dumps(
                {"handle": "h", "choice": "order", "channel": "C", "message": "1", it: "\ud800"}
            )
            for it in ("handle", "channel", "message", "thread", "language")
        ),
        None,
    ],
)
async def test_a_form_that_belongs_to_no_card_is_refused_over_http_and_over_a_socket(
    client: Client, listener: SlackListener, desk: DeskDouble, clock: Clock, text: Any
) -> None:
    document = a_submission()
    document["view"] = {**document["view"], "private_metadata": text}

    status, _ = await sent(client, clock, document)
    enveloped = await listener.answer_envelope("e1", document)

    assert (status, enveloped.status) == (400, 400)
    assert not desk.presses
    assert await sent(client, clock, a_submission()) == (200, None)
    assert len(desk.presses) == 1


def elsewhere(**view: Any) -> Payload:
    document = a_submission()
    document["view"] = {**document["view"], **view}
    return document


@pytest.mark.parametrize(
    "document",
    [
        a_submission(team={"id": "T0OTHER"}),
        a_submission(user={"id": "U1", "team_id": "T0OTHER"}),
        a_submission(team={"id": "T0OTHER"}, user={"id": "U1", "team_id": "T0OTHER"}),
        a_submission(api_app_id="A0OTHER"),
        a_submission(api_app_id=...),
        elsewhere(app_installed_team_id="T0OTHER"),
        {**elsewhere(app_installed_team_id="T0OTHER"), "team": None},
        {**a_submission(team=None), "user": {"id": "U1", "team_id": "T0OTHER"}},
    ],
)
async def test_a_form_of_another_workspace_or_app_is_refused(
    client: Client, desk: DeskDouble, clock: Clock, document: Payload
) -> None:
    assert (await sent(client, clock, document))[0] == 403
    assert not desk.presses


@pytest.mark.parametrize("user", [{"id": "U0ALICE"}, {"id": "U0ALICE", "team_id": TEAM}])
async def test_where_the_app_is_installed_for_an_organisation_the_view_names_the_workspace(
    client: Client, desk: DeskDouble, clock: Clock, user: Payload
) -> None:
    document = a_submission(team=None, enterprise={"id": "E1"}, user=user)

    assert (await sent(client, clock, document))[0] == 200
    assert desk.presses


@pytest.mark.parametrize("user", [None, {}, {"id": "B1"}, {"id": 5}])
async def test_a_form_of_nobody_is_refused(
    client: Client, desk: DeskDouble, clock: Clock, user: Any
) -> None:
    assert (await sent(client, clock, a_submission(user=user)))[0] == 400
    assert not desk.presses


async def test_a_forged_form_is_refused_and_not_written_down(
    client: Client, desk: DeskDouble, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG", logger="sayso_slack")
    body = on_the_wire(a_submission(values=written("it", "TYPED BY ALICE")))[1]

    unsigned, _ = await post(client, {"Content-Type": FORM}, body)
    guessed, _ = await post(client, signed(body, clock.seconds(), secret="guess"), body)
    old, _ = await post(client, signed(body, clock.seconds() - 301), body)
    bent, _ = await post(client, signed(body, clock.seconds()), body + b"x")

    assert (unsigned, guessed, old, bent) == (401, 401, 401, 401)
    assert not desk.presses
    assert "TYPED" not in caplog.text
    assert SECRET not in caplog.text


async def test_the_very_same_form_is_taken_once(
    client: Client, desk: DeskDouble, clock: Clock
) -> None:
    headers, body = callback(a_submission(), clock.seconds())

    statuses = [(await post(client, headers, body))[0] for _ in range(2)]

    assert statuses == [200, 409]
    assert len(desk.presses) == 1


async def test_a_replay_that_only_the_store_knows_of_is_refused(
    client: Client, desk: DeskDouble, clock: Clock
) -> None:
    desk.error = ReplayedCallbackError("the very same press was here before")

    assert (await sent(client, clock, a_submission()))[0] == 409


@pytest.mark.parametrize(
    ("error", "status"),
    [(StoreUnreachableError("redis does not answer"), 503), (ZeroDivisionError("oh"), 500)],
)
async def test_a_form_that_is_not_stored_stays_with_all_that_was_typed(
    playground: Playground,
    client: Client,
    adapter: SlackAdapter,
    desk: DeskDouble,
    error: Exception,
    status: int,
) -> None:
    playground.slack.deliver_to(str(client.make_url("/slack/events")))
    view = playground.slack.state.open_view("U0ALICE", a_view(a_form()))
    desk.error = error

    delivery = await playground.slack.submit(view, {"It": "Bob"}, by="alice")

    assert delivery.status == status
    assert playground.slack.view("alice") == view
    desk.error = None
    assert (await playground.slack.submit(view, {"It": "Bob"}, by="alice")).status == 200
    assert playground.slack.view("alice") is None


async def test_a_closed_form_decides_nothing(
    client: Client, desk: DeskDouble, clock: Clock
) -> None:
    document = {**a_submission(), "type": "view_closed", "is_cleared": True}

    assert await sent(client, clock, document) == (200, None)
    assert not desk.presses


async def test_closing_a_form_that_falls_back_presses_what_it_falls_back_to(
    client: Client, desk: DeskDouble, clock: Clock
) -> None:
    view = form_modal(a_card(), replace(FILL_IN, falls_back="deny"), a_form(), WHERE)
    document = {**a_submission(view), "type": "view_closed", "is_cleared": True}
    document["view"] = {**document["view"], "state": {"values": {}}}
    del document["trigger_id"]

    assert await sent(client, clock, document) == (200, None)

    (press,) = desk.presses
    assert (press.handle, press.choice, press.inputs) == ("h4ndle", "deny", None)
    assert (press.actor, press.message, press.confirmed) == ("slack:U0ALICE", WHERE, False)


@pytest.mark.parametrize("kind", [Answered.LATE, Answered.REFUSED, Answered.UNKNOWN])
async def test_a_closed_dialog_is_never_opened_again(
    client: Client, desk: DeskDouble, clock: Clock, kind: Answered
) -> None:
    view = form_modal(a_card(), replace(FILL_IN, falls_back="deny"), a_form(), WHERE)
    document = {**a_submission(view), "type": "view_closed", "is_cleared": True}
    desk.answer = Answer(kind, "Too late: this was already denied.")

    assert await sent(client, clock, document) == (200, None)


async def test_a_form_that_falls_back_and_is_sent_off_is_its_own_choice(
    client: Client, desk: DeskDouble, clock: Clock
) -> None:
    view = form_modal(a_card(), replace(FILL_IN, falls_back="deny"), a_form(), WHERE)

    await sent(client, clock, a_submission(view))

    assert [(press.choice, press.confirmed) for press in desk.presses] == [("order", True)]


@pytest.mark.parametrize("key", ["DENY", "", 7, "deny now"])
async def test_a_closed_form_that_names_no_choice_decides_nothing(
    client: Client, desk: DeskDouble, clock: Clock, key: Any
) -> None:
    view = form_modal(a_card(), replace(FILL_IN, falls_back="deny"), a_form(), WHERE)
    view["private_metadata"] = json.dumps({**metadata(view), "falls_back": key})
    document = {**a_submission(view), "type": "view_closed"}

    await sent(client, clock, document)

    assert not desk.presses


@pytest.mark.parametrize(
    "name", ["view_submission_plain_text_input.json", "view_closed_enterprise.json"]
)
async def test_forms_of_others_go_where_they_went(
    client: Client, desk: DeskDouble, clock: Clock, name: str
) -> None:
    home = {"team": {"id": TEAM}, "api_app_id": "A0SAYSO", "enterprise": None}
    document = {**fixture(name), **home}
    document["view"] = {**document["view"], "app_installed_team_id": TEAM}

    status, _ = await sent(client, clock, document)

    assert status == 404
    assert not desk.presses


@pytest.mark.parametrize(
    ("name", "team", "status"),
    [
        ("view_submission_plain_text_input.json", "T111", 200),
        ("view_submission_response_urls.json", "T111", 200),
        ("view_submission_org_wide_team_null.json", "T_expected", 403),
        ("view_submission_slack_connect_other_team.json", "T-installed-workspace", 403),
        ("view_submission_slack_connect_other_team.json", "T-other-side", 403),
    ],
)
async def test_real_forms_are_read_as_ours_were_they_ours(
    desk: DeskDouble, clock: Clock, name: str, team: str, status: int
) -> None:
    document = fixture(name)
    ours = a_view(a_form())
    keep = ("callback_id", "private_metadata")
    document["view"] = {**document["view"], **{key: ours[key] for key in keep}}
    config = a_config(team_id=team, app_id=document["api_app_id"])
    listener = SlackListener(config, SlackAdapter(config), desk, clock=clock)

    answer = await listener.answer(*callback(document, clock.seconds()))

    assert answer.status == status
    assert len(desk.presses) == (status == 200)


async def test_a_form_over_a_socket_is_answered_in_its_envelope(
    listener: SlackListener, desk: DeskDouble
) -> None:
    desk.answer = Answer(Answered.INVALID, "no", {"it": "longer"})

    answer = await listener.answer_envelope("e1", a_submission())

    assert answer.headers["content-type"] == ["application/json;charset=utf-8"]
    assert json.loads(answer.body)["errors"] == {"sayso:in:it": "longer"}
