"""Moments, addresses, lists and JSON in Slack's dialog."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from support.schemas import COMMON, COMMON_DATA
from support.slack_room import Slack, SlackRoom

from sayso.errors import CallbackError
from sayso.forms.form import FormField
from sayso.stores.backend import Backend
from sayso_playground.slack.blocks import check_view
from sayso_slack.form_inputs import input_blocks
from sayso_slack.interactions import parse_input

MOMENT = 1_795_271_400  # 2026-11-21T14:30:00Z
FILLED_IN: dict[str, Any] = {
    "At": MOMENT,
    "To": "ana@example.com",
    "Page": "https://example.com/a",
    "Tags": "new\na, b",
    "level": "High",
    "Servers": '[{"host": "web", "port": 80}]',
    "Pay": '{"kind": "bank", "iban": "DE"}',
}


def block(kind: str, **how: Any) -> dict[str, Any]:
    (made,) = input_blocks(FormField("it", "It", kind, **how))  # type: ignore[arg-type]
    return made


def element(kind: str, **how: Any) -> dict[str, Any]:
    found: dict[str, Any] = block(kind, **how)["element"]
    assert found.pop("action_id")
    return found


@pytest.mark.parametrize(
    ("kind", "how", "expected"),
    [
        ("email", {"initial": "a@b.co"}, {"type": "email_text_input", "initial_value": "a@b.co"}),
        ("url", {}, {"type": "url_text_input"}),
        ("datetime", {}, {"type": "datetimepicker"}),
        (
            "datetime",
            {"initial": "2026-11-21T14:30:00Z"},
            {"type": "datetimepicker", "initial_date_time": MOMENT},
        ),
    ],
)
def test_a_format_has_the_input_that_slack_has_for_it(
    kind: str, how: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert element(kind, **how) == expected


@pytest.mark.parametrize(
    "initial", ["2026-11-21T14:30:05Z", "2026-11-21T14:30:00+00:00", "1990-01-01T00:00:00Z"]
)
def test_a_moment_that_the_picker_would_change_is_a_text(initial: str) -> None:
    found = element("datetime", initial=initial)

    assert (found["type"], found["initial_value"]) == ("plain_text_input", initial)


def test_a_list_is_a_text_of_lines_and_says_so() -> None:
    made = block("list", initial=["a", "b"], minimum=2, maximum=3)

    assert made["element"]["multiline"]
    assert made["element"]["initial_value"] == "a\nb"
    assert made["element"]["max_length"] == 3_000
    assert "min_length" not in made["element"]
    assert made["hint"]["text"] == "Write one on each line."


def test_json_is_a_text_of_several_lines() -> None:
    made = block("json", initial='{"a": 1}', multiline=True)["element"]

    assert (made["type"], made["multiline"]) == ("plain_text_input", True)
    assert made["initial_value"] == '{"a": 1}'


@pytest.mark.parametrize(
    ("state", "raw"),
    [
        ({"type": "datetimepicker", "selected_date_time": MOMENT}, "2026-11-21T14:30:00Z"),
        ({"type": "datetimepicker", "selected_date_time": None}, None),
        ({"type": "datetimepicker"}, None),
        ({"type": "email_text_input", "value": "a@b.co"}, "a@b.co"),
        ({"type": "url_text_input", "value": None}, None),
    ],
)
def test_what_was_filled_in_is_read(state: dict[str, Any], raw: str | None) -> None:
    assert parse_input(state) == raw


@pytest.mark.parametrize("at", ["1795271400", True, 1.5, 10**20, [MOMENT]])
def test_a_moment_that_is_none_is_unreadable(at: Any) -> None:
    with pytest.raises(CallbackError):
        parse_input({"type": "datetimepicker", "selected_date_time": at})


@pytest.fixture
async def room(slack: Slack, backend: Backend) -> AsyncIterator[SlackRoom]:
    async with SlackRoom.in_slack(slack, backend) as room:
        yield room


async def test_what_is_commonly_asked_for_is_filled_in_in_one_dialog(room: SlackRoom) -> None:
    slack = room.playground.slack
    waiting = asyncio.create_task(room.gate.collect(COMMON, text="What, where and when?"))
    card = await slack.message_where(lambda m: "Fill in…" in m.buttons)
    await slack.press(card, "Fill in…", by="alice")
    view = await slack.view_for("alice")
    assert not check_view(view.view).errors

    wrong = {"To": "ana@localhost", "Servers": '[{"host": "web", "port": "80"}]', "Pay": "bank"}
    await slack.submit(view, {**FILLED_IN, **wrong}, by="alice")
    shown = slack.view("alice")
    assert shown
    assert shown.errors == {
        "sayso:in:to": "this must be an address such as ana@example.com",
        "sayso:in:servers": 'this does not fit: /0/port: this is not of type "integer"',
        "sayso:in:pay": "this is not JSON: Expecting value at line 1, column 1",
    }
    await slack.submit(shown, FILLED_IN, by="alice")

    found = await waiting
    assert (found.data, found.decided_by) == (COMMON_DATA, "slack:U0ALICE")
    ended = await slack.message_where(lambda m: "Answered by alice" in m.all_text)
    await slack.press(ended, "Details", by="alice")
    whole = json.dumps((await slack.view_for("alice")).view, ensure_ascii=False)
    assert "web" in whole
    assert "new, a, b" in whole
