"""The hosted API: questions of a kind of one's own, answered by the fields of their response."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

import pytest
from support.api_world import REVIEWER, Reply, World

from sayso import Outcome
from sayso.cards import CardBody, Choice
from sayso.events import UserInputRequest, UserInputResponse
from sayso.forms import NO_INPUTS, Form, FormField, Inputs

pytestmark = pytest.mark.asyncio(loop_scope="module")

_HOUR = FormField("hour", "Hour", "integer")


class TableRequestEvent(UserInputRequest):
    """At which hour is there a table?"""

    type: Literal["TABLE_REQUEST"] = "TABLE_REQUEST"
    table_id: str

    @property
    def question_id(self) -> str:
        return self.table_id

    @property
    def subject(self) -> str:
        return "table"

    def card(self) -> CardBody:
        choices = (
            Choice("seven", "At seven"),
            Choice("eight", "At eight"),
            Choice("other", "Another hour…", form=Form("Hour", (_HOUR,))),
            Choice("none", "None", "danger"),
        )
        return CardBody(title="A table?", facts=self.origin, choices=choices)

    def answer(
        self, choice: Choice, *, by: str, at: datetime, inputs: Inputs = NO_INPUTS
    ) -> TableResponseEvent:
        hour = {"seven": 19, "eight": 20, "other": inputs.get("hour")}.get(choice.key)
        return self.at_hour(hour, by=by, at=at)

    def at_hour(self, hour: int | None, *, by: str, at: datetime) -> TableResponseEvent:
        return TableResponseEvent(
            table_id=self.table_id,
            source_name=self.source_name,
            decided_by=by,
            decided_at=at,
            hour=hour,
            is_free=hour is not None,
        )


class TableResponseEvent(UserInputResponse):
    type: Literal["TABLE_RESPONSE"] = "TABLE_RESPONSE"
    table_id: str
    hour: int | None = None
    is_free: bool = True

    @property
    def question_id(self) -> str:
        return self.table_id

    @property
    def outcome(self) -> Outcome:
        return Outcome.ANSWERED if self.is_free else Outcome.DENIED


class LateTableRequestEvent(TableRequestEvent):
    """Takes any hour of the evening, whatever its buttons say."""

    type: Literal["LATE_TABLE_REQUEST"] = "LATE_TABLE_REQUEST"  # type: ignore[assignment]

    def said(self, fields: Mapping[str, Any], *, by: str, at: datetime) -> TableResponseEvent:
        hour = fields.get("hour")
        if hour is not None and hour < 18:
            raise ValueError("the kitchen opens at 18")
        return self.at_hour(hour, by=by, at=at)


async def answered(world: World, fields: dict[str, Any], kind: str = "TABLE_REQUEST") -> Reply:
    """What comes of a question of this kind that is answered so."""
    asked = await world.call("POST", f"{world.branch}/requests", {"type": kind})
    assert asked.status == 201, asked.text
    body = {"type": "TABLE_RESPONSE", "tableId": asked.json["request"]["tableId"], **fields}
    return await world.call("POST", f"{world.branch}/responses", body, token=REVIEWER)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"hour": 20}, {"hour": 20, "isFree": True, "decidedBy": "api:reviewer"}),
        ({"isFree": False, "reason": "all is taken"}, {"hour": None, "reason": "all is taken"}),
        ({"choiceKey": "other", "inputs": {"hour": 22}}, {"hour": 22, "isFree": True}),
    ],
)
async def test_fields_mean_the_one_button_whose_answer_has_them(
    world: World, fields: dict[str, Any], told: dict[str, Any]
) -> None:
    reply = await answered(world, fields)

    assert reply.status == 200, reply.text
    assert {name: reply.json[name] for name in told} == told


@pytest.mark.parametrize("fields", [{}, {"isFree": True}, {"hour": 22}])
async def test_fields_that_mean_no_button_or_several_answer_nothing(
    world: World, fields: dict[str, Any]
) -> None:
    reply = await answered(world, fields)

    assert reply.pointers == ["/choiceKey"]


async def test_a_kind_says_itself_what_the_fields_of_its_response_mean(world: World) -> None:
    late = await answered(world, {"hour": 22}, "LATE_TABLE_REQUEST")
    none = await answered(world, {"isFree": False}, "LATE_TABLE_REQUEST")
    early = await answered(world, {"hour": 12}, "LATE_TABLE_REQUEST")

    assert (late.status, late.json["hour"]) == (200, 22)
    assert (none.status, none.json["isFree"]) == (200, False)
    assert early.problem == (422, "InvalidEvent")
    assert early.json["errors"] == [{"pointer": "", "detail": "the kitchen opens at 18"}]
