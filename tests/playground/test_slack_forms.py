"""Modals of the Slack double: what they may be made of, how they are filled in and answered."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from aiohttp import web
from playground.listener import Listener, a_button, some_blocks
from playground.modals import ALL_KINDS, MANY, THREE, asking, option, plain, several
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from sayso_playground import Playground, SlackView
from sayso_playground.slack.blocks import check_view
from sayso_playground.slack.forms import form_state


async def test_slack_refuses_to_open_it_too(playground: Playground, slack: AsyncWebClient) -> None:
    (trigger_id,) = [playground.slack.state.new_trigger(playground.config.member("alice"))]

    with pytest.raises(SlackApiError) as caught:
        await slack.views_open(trigger_id=trigger_id, view=asking("datepicker", initial_date="x"))

    assert caught.value.response["error"] == "invalid_arguments"


def opened(playground: Playground, view: dict[str, Any] = ALL_KINDS) -> SlackView:
    assert not check_view(view).errors
    return playground.slack.state.open_view("U0ALICE", view)


async def test_a_form_is_sent_in_slacks_shape(playground: Playground, listener: Listener) -> None:
    values = {
        "Name": "Bob",
        "notes": "",
        "Count": "3",
        "Colour": "Green",
        "Extras": [],
        "Stops": ["v1", "V2"],
    }

    await playground.slack.submit(opened(playground), values, by="alice")

    view = listener.heard[0].payload["view"]
    assert {name: state["value"] for name, state in view["state"]["values"].items()} == {
        "name": {"type": "plain_text_input", "value": "Bob"},
        "notes": {"type": "plain_text_input", "value": None},
        "count": {"type": "number_input", "value": "3"},
        "weight": {"type": "number_input", "value": None},
        "colour": {"type": "radio_buttons", "selected_option": THREE[1]},
        "size": {"type": "static_select", "selected_option": MANY[7]},
        "extras": {"type": "checkboxes", "selected_options": []},
        "stops": {"type": "multi_static_select", "selected_options": MANY[1:3]},
        "day": {"type": "datepicker", "selected_date": "2026-11-21"},
    }
    assert view["app_installed_team_id"] == "T0ACME"
    assert playground.slack.view("alice") is None


async def test_words_come_back_with_their_signs_escaped_and_what_was_typed_does_not(
    playground: Playground, listener: Listener
) -> None:
    view = several(
        ("q&a", {"type": "plain_text_input"}, True),
        ("which", {"type": "radio_buttons", "options": [option("a&b", "<A>")]}, True),
    )

    await playground.slack.submit(
        opened(playground, view), {"q&a": "x & y", "which": "<A>"}, by="alice"
    )

    sent = listener.heard[0].payload["view"]
    assert sent["blocks"][0]["label"]["text"] == "Q&amp;A"
    assert sent["blocks"][0]["block_id"] == "q&a"
    assert sent["state"]["values"]["q&a"]["value"]["value"] == "x & y"
    picked = sent["state"]["values"]["which"]["value"]["selected_option"]
    assert picked == {"text": plain("&lt;A&gt;"), "value": "a&b"}


@pytest.mark.parametrize(
    ("values", "errors"),
    [
        ({}, {"name": "Please complete this required field."}),
        ({"Name": "x"}, {"name": "Please enter at least 2 characters."}),
        ({"Name": "xxxxxx"}, {"name": "Please enter at most 5 characters."}),
        ({"Name": "Bob", "Count": "x"}, {"count": "Please enter a number."}),
        ({"Name": "Bob", "Count": "1e1"}, {"count": "Please enter a number."}),
        ({"Name": "Bob", "Count": "2.5"}, {"count": "Please enter a whole number."}),
        ({"Name": "Bob", "Count": "0"}, {"count": "Please enter a number of at least 1."}),
        ({"Name": "Bob", "Count": "10"}, {"count": "Please enter a number of at most 9."}),
        ({"Name": "Bob", "Stops": ["v1", "v2", "v3"]}, {"stops": "Please choose at most 2."}),
    ],
)
async def test_what_slack_itself_insists_on_never_leaves_the_client(
    playground: Playground, listener: Listener, values: dict[str, Any], errors: dict[str, str]
) -> None:
    delivery = await playground.slack.submit(opened(playground), values, by="alice")

    shown = playground.slack.view("alice")
    assert shown
    assert shown.errors == errors
    assert delivery.status is None
    assert not listener.heard
    assert not playground.slack.deliveries


async def test_a_client_that_was_tampered_with_sends_anything(
    playground: Playground, listener: Listener
) -> None:
    await playground.slack.submit(opened(playground), {"Name": "x"}, by="alice", checked=False)

    values = listener.heard[0].payload["view"]["state"]["values"]
    assert values["name"]["value"]["value"] == "x"


def test_an_input_that_is_not_there_cannot_be_filled_in() -> None:
    with pytest.raises(LookupError, match="no input 'Nmae'"):
        form_state(ALL_KINDS["blocks"], {"Nmae": "x"})
    with pytest.raises(LookupError, match="more than one input 'value'"):
        form_state(ALL_KINDS["blocks"], {"value": "x"})
    with pytest.raises(LookupError, match="no option 'Pink'"):
        form_state(ALL_KINDS["blocks"], {"Colour": "Pink"})


def answering(listener: Listener, answer: web.Response) -> None:
    async def give(_: dict[str, Any]) -> web.Response:
        return answer

    listener.answer = give


async def sent(playground: Playground) -> SlackView | None:
    """What is shown once a form was sent."""
    view = opened(playground, asking("plain_text_input"))
    await playground.slack.submit(view, {"It": "x"}, by="alice")
    return playground.slack.view("alice")


@pytest.mark.parametrize("body", ["", "{}"])
async def test_an_empty_answer_closes_the_form(
    playground: Playground, listener: Listener, body: str
) -> None:
    answering(listener, web.Response(text=body))

    assert await sent(playground) is None


async def test_errors_stand_at_their_inputs(playground: Playground, listener: Listener) -> None:
    action = {"response_action": "errors", "errors": {"it": "longer"}}
    answering(listener, web.json_response(action))

    shown = await sent(playground)

    assert shown
    assert shown.errors == {"it": "longer"}


async def test_an_update_takes_the_place_of_the_form(
    playground: Playground, listener: Listener
) -> None:
    new = {"type": "modal", "title": plain("Over"), "blocks": [{"type": "divider"}]}
    answering(listener, web.json_response({"response_action": "update", "view": new}))

    shown = await sent(playground)

    assert shown
    assert (shown.view["title"]["text"], shown.errors, shown.depth) == ("Over", {}, 1)


async def test_clear_closes_the_whole_stack(playground: Playground, listener: Listener) -> None:
    answering(listener, web.json_response({"response_action": "clear"}))
    below = opened(playground)
    top = playground.slack.state.open_view("U0ALICE", asking("plain_text_input"), below)

    await playground.slack.submit(top, {"It": "x"}, by="alice")

    assert playground.slack.view("alice") is None


@pytest.mark.parametrize(
    ("body", "about"),
    [
        ("not json", "not JSON"),
        ("[]", "not an object"),
        ('{"response_action": "close"}', "no response_action"),
        ('{"ok": true}', "no response_action"),
        ('{"response_action": "errors"}', "errors are missing"),
        ('{"response_action": "errors", "errors": {}}', "errors are missing"),
        ('{"response_action": "errors", "errors": {"other": "x"}}', "no input block 'other'"),
        ('{"response_action": "errors", "errors": {"it": 5}}', "is no text"),
        ('{"response_action": "update"}', "must be an object"),
        ('{"response_action": "update", "view": {"type": "modal"}}', "missing required field"),
    ],
)
async def test_an_answer_that_slack_does_not_understand_keeps_the_form(
    playground: Playground, listener: Listener, body: str, about: str
) -> None:
    answering(listener, web.Response(text=body))

    shown = await sent(playground)

    assert shown
    assert shown.callback_id == "deny"
    assert "We had some trouble connecting" in shown.errors[""]
    assert about in shown.errors[""]


async def test_an_answer_other_than_200_keeps_the_form(
    playground: Playground, listener: Listener
) -> None:
    answering(listener, web.json_response({"response_action": "clear"}, status=503))
    view = opened(playground, asking("plain_text_input"))

    delivery = await playground.slack.submit(view, {"It": "x"}, by="alice")

    assert delivery.error == "the app answered 503"
    assert playground.slack.view("alice") == view


async def test_an_answer_that_takes_longer_than_slack_waits_keeps_the_form(
    impatient: Playground, listener: Listener
) -> None:
    async def wait(_: dict[str, Any]) -> web.Response:
        await listener.release.wait()
        return web.Response()

    listener.answer = wait
    view = opened(impatient, asking("plain_text_input"))

    delivery = await impatient.slack.submit(view, {"It": "x"}, by="alice")

    assert delivery.status is None
    assert "did not answer" in (delivery.error or "")
    assert impatient.slack.view("alice") == view


async def test_a_form_that_asks_for_it_says_that_it_was_closed(
    playground: Playground, listener: Listener
) -> None:
    view = opened(playground, {**ALL_KINDS, "notify_on_close": True})

    await playground.slack.close_view(view, by="alice")

    payload = listener.heard[0].payload
    assert (payload["type"], payload["is_cleared"]) == ("view_closed", True)
    assert "trigger_id" not in payload


async def test_a_form_that_is_open_can_be_replaced_while_nothing_else_did(
    playground: Playground, listener: Listener, slack: AsyncWebClient
) -> None:
    async def answer(payload: dict[str, Any]) -> web.Response:
        await slack.views_open(trigger_id=payload["trigger_id"], view=asking("datepicker"))
        return web.Response()

    listener.answer = answer
    await slack.chat_postMessage(channel="C0OPS", text="x", blocks=some_blocks(a_button()))
    await playground.slack.press(playground.slack.messages()[0], "Allow", by="alice")
    view = await playground.slack.view_for("alice")

    found = await slack.views_update(view_id=view.id, view=asking("plain_text_input"))
    old = playground.slack.state.view_json(view)["hash"]
    with pytest.raises(SlackApiError) as caught:
        await slack.views_update(view_id=view.id, view=asking("datepicker"), hash=old)
    updated: dict[str, Any] = found.get("view") or {}
    again = await slack.views_update(
        view_id=view.id, view=asking("datepicker"), hash=updated["hash"]
    )
    updated = again.get("view") or {}

    assert caught.value.response["error"] == "hash_conflict"
    assert updated["id"] == view.id
    shown = playground.slack.view("alice")
    assert shown
    assert shown.view["blocks"][0]["element"]["type"] == "datepicker"


async def test_two_people_have_a_form_each(playground: Playground, listener: Listener) -> None:
    mine = opened(playground, asking("plain_text_input"))
    yours = playground.slack.state.open_view("U0BOB", asking("plain_text_input"))

    await asyncio.gather(
        playground.slack.submit(mine, {"It": "mine"}, by="alice"),
        playground.slack.submit(yours, {"It": "yours"}, by="bob"),
    )

    said = {
        heard.payload["user"]["id"]: json.dumps(heard.payload["view"]["state"])
        for heard in listener.heard
    }
    assert "mine" in said["U0ALICE"]
    assert "yours" in said["U0BOB"]
