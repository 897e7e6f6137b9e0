"""The one use of an approval, how it went, and what the card says of it."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from uuid import uuid4

import pytest
from support.aap_world import AapWorld

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_of_fifty_consumers_at_once_one_wins(aap: AapWorld) -> None:
    request = await aap.approved()

    answers = await asyncio.gather(*(aap.consume(request["id"]) for _ in range(50)))

    assert [one.status for one in answers].count(200) == 1
    lost = [one for one in answers if one.status != 200]
    assert {one.error for one in lost} == {(409, "already_consumed")}


async def test_the_same_key_consumes_once_and_is_told_the_same(aap: AapWorld) -> None:
    request, key = await aap.approved(), str(uuid4())

    answers = await asyncio.gather(*(aap.consume(request["id"], key) for _ in range(10)))

    assert {one.status for one in answers} == {200}
    assert len({one.text for one in answers}) == 1


async def test_only_what_is_approved_is_consumed(aap: AapWorld) -> None:
    pending, denied = await aap.asked(), await aap.pressed("Deny")

    for request in (pending, denied):
        assert (await aap.consume(request["id"])).error == (409, "not_approved")


async def test_consuming_takes_a_key_and_no_body(aap: AapWorld) -> None:
    request = await aap.approved()
    path = f"/v1/requests/{request['id']}/consume"

    without = await aap.call("POST", path)
    with_body = await aap.call("POST", path, {"a": 1}, key="k")

    assert without.error == (400, "missing_idempotency_key")
    assert with_body.error == (400, "unexpected_body")
    assert (await aap.consume(request["id"], "k")).status == 200


async def test_an_outcome_is_reported_once(aap: AapWorld) -> None:
    request = await aap.approved()
    before = await aap.report(request["id"], status="failed")
    await aap.consume(request["id"])

    first = await aap.report(request["id"], status="failed", note="exit 1")
    same = await aap.report(request["id"], status="failed", note="exit 1")
    other = await aap.report(request["id"], status="succeeded")
    other_note = await aap.report(request["id"], status="failed")

    assert before.error == (409, "not_consumed")
    assert first.status == same.status == 200
    assert first.text == same.text
    outcome = first.json["consumption"]["outcome"]
    assert (outcome["status"], outcome["note"]) == ("failed", "exit 1")
    assert other.error == other_note.error == (409, "outcome_conflict")


@pytest.mark.parametrize(
    "body",
    [{}, {"status": "ran"}, {"status": None}, {"status": "failed", "note": ""}, {"statuses": 1}],
    ids=str,
)
async def test_an_outcome_that_makes_no_sense_is_refused(
    aap: AapWorld, body: dict[str, object]
) -> None:
    request = await aap.approved()
    await aap.consume(request["id"])

    assert (await aap.report(request["id"], **body)).error == (400, "invalid_request")


@pytest.mark.parametrize(
    ("status", "note", "said"),
    [("succeeded", "", "· ran"), ("failed", "exit *1* <@U0>", "· failed")],
)
async def test_the_card_says_what_happened_after(
    aap: AapWorld, status: str, note: str, said: str
) -> None:
    request = await aap.approved()
    mark = request["arguments"]["command"]
    await aap.consume(request["id"])
    body = {"status": status, **({"note": note} if note else {})}

    await aap.report(request["id"], **body)

    card = await aap.playground.slack.message_where(
        lambda card: mark in card.all_text and said in card.all_text
    )
    assert "Approved by" in card.all_text
    assert note in card.all_text


async def test_the_card_says_that_an_approval_was_never_used(aap: AapWorld) -> None:
    request = await aap.approved()
    mark = request["arguments"]["command"]

    await aap.backend.uses.lapse(request["id"])

    await aap.playground.slack.message_where(
        lambda card: mark in card.all_text and "approved, never used" in card.all_text
    )
    assert "consumption" not in (await aap.get(request["id"])).json


async def test_the_expiry_of_an_approval_is_fixed(aap: AapWorld) -> None:
    request = await aap.approved()

    decision = request["decision"]
    valid = datetime.fromisoformat(decision["expires_at"]) - datetime.fromisoformat(
        decision["decided_at"]
    )

    assert valid == timedelta(minutes=5)
    assert (await aap.get(request["id"])).json["decision"] == decision
