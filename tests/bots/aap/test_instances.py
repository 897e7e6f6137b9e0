"""Instances: made, changed and deleted by provisioners, each with a token of its own."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from support.aap_room import AapRoom, a_delivery, aap_room, settings
from support.aap_world import PROVISIONER, SECRET, STRANGER, AapWorld, Answer

from sayso.policy.server_policy import Section, ServerPolicy
from sayso.stores.memory import memory_backend
from sayso.testing import StoppedClock
from sayso_bots.aap.credentials import Vault
from sayso_bots.aap.errors import AapError
from sayso_bots.aap.instances import MOST_CHANGES, Instances
from sayso_bots.aap.revoking import revoke
from sayso_bots.aap.webhooks.notifier import WebhookNotifier

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def make(aap: AapWorld, key: str | None = None, **body: object) -> Answer:
    """Make an instance."""
    return await aap.call("POST", "/v1/instances", body, token=PROVISIONER, key=key or str(uuid4()))


async def change(aap: AapWorld, instance_id: str, key: str | None = None, **body: object) -> Answer:
    """Change one."""
    return await aap.call(
        "PATCH", f"/v1/instances/{instance_id}", body, token=PROVISIONER, key=key or str(uuid4())
    )


async def delete(aap: AapWorld, instance_id: str, token: str = PROVISIONER) -> Answer:
    """Delete one."""
    return await aap.call("DELETE", f"/v1/instances/{instance_id}", token=token)


async def show(aap: AapWorld, instance_id: str, token: str = PROVISIONER) -> Answer:
    """What is told of one."""
    return await aap.call("GET", f"/v1/instances/{instance_id}", token=token)


async def test_the_same_key_and_input_is_the_same_instance_with_the_same_token(
    aap: AapWorld,
) -> None:
    key = str(uuid4())

    first = await make(aap, key, instance_name="ci")
    again = await make(aap, key, instance_name="ci")
    other = await make(aap, key, instance_name="other")

    assert (first.status, again.status) == (201, 200)
    assert first.json == again.json
    assert UUID(first.json["instance"]["id"])
    assert first.json["instance"]["name"] == "ci"
    assert other.error == (409, "idempotency_conflict")


async def test_an_instance_is_made_once_however_many_ask_at_once(aap: AapWorld) -> None:
    key = str(uuid4())

    answers = await asyncio.gather(*(make(aap, key) for _ in range(20)))

    assert [one.status for one in answers].count(201) == 1
    assert len({one.json["credential"]["token"] for one in answers}) == 1


async def test_no_token_is_in_the_store_or_in_what_is_told_later(aap: AapWorld) -> None:
    made = (await make(aap)).json
    token, instance_id = made["credential"]["token"], made["instance"]["id"]

    shown = await show(aap, instance_id)
    kept = await aap.backend.documents.read(f"aap-instance:{instance_id}")

    assert shown.json == made["instance"]
    assert kept is not None
    assert token not in kept
    assert token.removeprefix("sayso_")[22:] not in kept


async def test_a_deleted_instance_is_revoked_and_what_it_asked_is_withdrawn(aap: AapWorld) -> None:
    key = str(uuid4())
    made = (await make(aap, key)).json
    token, instance_id = made["credential"]["token"], made["instance"]["id"]
    mine = AapWorld(aap.url, aap.playground, aap.session, aap.backend, token, instance_id)
    request = await mine.asked()
    kept = await aap.asked()

    first, again = await delete(aap, instance_id), await delete(aap, instance_id)

    assert (first.status, again.status) == (204, 204)
    assert first.text == ""
    assert (await mine.get(request["id"])).error == (401, "invalid_token")
    record = await aap.backend.store.get(request["id"])
    assert record is not None
    assert record.ending is not None
    assert record.ending.outcome.value == "cancelled"
    assert (await aap.get(kept["id"])).json["status"] == "pending"
    assert (await show(aap, instance_id)).error[0] == 404
    assert (await change(aap, instance_id, instance_name="x")).error[0] == 404
    assert (await make(aap, key)).error == (409, "instance_deleted")


async def test_an_instance_that_cannot_be_read_fails_alone_and_can_be_revoked(
    aap: AapWorld,
) -> None:
    made = (await make(aap)).json
    token, instance_id = made["credential"]["token"], made["instance"]["id"]
    mine = AapWorld(aap.url, aap.playground, aap.session, aap.backend, token, instance_id)
    mine_asked, kept = await mine.asked(), await aap.asked()
    name = f"aap-instance:{instance_id}"
    before = await aap.backend.documents.read(name)
    await aap.backend.documents.swap(name, before, "{", seconds=600)
    instances = Instances(aap.backend.documents, Vault(SECRET.encode()), StoppedClock())

    asked = await mine.get(mine_asked["id"])
    others = await aap.get(kept["id"])
    known, unreadable = await instances.all()
    withdrawn = await revoke(aap.backend, instances, instance_id, StoppedClock())

    assert asked.error == (500, "instance_unreadable")
    assert others.status == 200
    assert unreadable == [instance_id]
    assert known
    assert withdrawn == 1
    assert (await mine.get(mine_asked["id"])).error == (401, "invalid_token")
    assert (await aap.get(kept["id"])).json["status"] == "pending"


async def test_another_provisioners_instance_is_not_there(aap: AapWorld) -> None:
    instance_id = (await make(aap)).json["instance"]["id"]

    answers = [
        await show(aap, instance_id, STRANGER),
        await delete(aap, instance_id, STRANGER),
        await aap.call(
            "PATCH",
            f"/v1/instances/{instance_id}",
            {"instance_name": "mine"},
            token=STRANGER,
            key="k",
        ),
        await show(aap, str(uuid4())),
    ]

    assert [one.error for one in answers] == [(404, "instance_not_found")] * 4
    assert (await show(aap, instance_id)).status == 200


async def test_two_provisioners_may_use_one_key(aap: AapWorld) -> None:
    key = str(uuid4())
    one = await make(aap, key)

    other = await aap.call("POST", "/v1/instances", {}, token=STRANGER, key=key)

    assert other.status == 201
    assert other.json["instance"]["id"] != one.json["instance"]["id"]


async def test_a_replayed_change_gives_its_first_answer_and_undoes_nothing(aap: AapWorld) -> None:
    instance_id = (await make(aap, instance_name="a")).json["instance"]["id"]
    first = await change(aap, instance_id, "k1", instance_name="b")
    await change(aap, instance_id, "k2", instance_name="c")

    again = await change(aap, instance_id, "k1", instance_name="b")
    other = await change(aap, instance_id, "k1", instance_name="d")

    assert (first.status, again.status) == (200, 200)
    assert first.json == again.json == {"id": instance_id, "name": "b"}
    assert other.error == (409, "idempotency_conflict")
    assert (await show(aap, instance_id)).json["name"] == "c"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"name": "x"},
        {"instance_name": None},
        {"instance_name": ""},
        {"instance_name": 1},
        {"instance_name": "a\nb"},
        {"delivery": "x"},
        {"delivery": {"type": "webhook", "url": "https://x"}, "more": 1},
    ],
    ids=str,
)
async def test_a_change_that_makes_no_sense_is_refused(aap: AapWorld, body: dict[str, Any]) -> None:
    answer = await change(aap, aap.instance_id, **body)

    assert answer.error[0] == 400
    assert (await show(aap, aap.instance_id)).json["name"] == aap.name


async def test_a_delivery_is_told_without_its_secret_and_taken_away_by_null() -> None:
    async with aap_room() as room:
        given = a_delivery()
        made = (await make(room, delivery=given)).json["instance"]
        shown = await show(room, made["id"])
        ended = await change(room, made["id"], delivery=None)

    public = {name: given[name] for name in ("type", "url", "registration_id")}
    assert made["delivery"] == shown.json["delivery"] == public
    assert given["signing_secret"] not in shown.text
    assert ended.json == {"id": made["id"]}


async def test_a_receiver_that_fails_changes_nothing_and_frees_the_key() -> None:
    async with aap_room() as room:
        key, body = str(uuid4()), {"delivery": a_delivery()}
        room.notifier.refuses = AapError(422, "webhook_verification_failed", "it did not answer")
        failed = await make(room, key, **body)
        failed_change = await change(room, room.instance_id, "k", **body)
        room.notifier.refuses = None

        made = await make(room, key, **body)
        changed = await change(room, room.instance_id, "k", **body)

    assert failed.error == failed_change.error == (422, "webhook_verification_failed")
    assert (made.status, changed.status) == (201, 200)


async def test_the_same_token_comes_back_for_a_week_and_never_again_after_deletion() -> None:
    async with aap_room() as room:
        first = await make(room, "k", instance_name="a")
        room.clock.advance(timedelta(hours=168))
        again = await make(room, "k", instance_name="a")
        await delete(room, first.json["instance"]["id"])
        room.clock.advance(timedelta(days=7))
        deleted = await delete(room, first.json["instance"]["id"])
        revived = await make(room, "k", instance_name="a")

    assert again.json == first.json
    assert deleted.status == 204
    assert revived.error == (409, "instance_deleted")


async def told_of(room: AapRoom, instance_id: str, ended_at: datetime) -> bool:
    """Whether the receiver of an instance is told of an end, at this time by the store's clock."""
    instances = Instances(room.backend.documents, Vault(SECRET.encode()), room.clock)
    instance = await instances.find(instance_id)
    assert instance is not None
    notifier = WebhookNotifier(settings(), room.backend, clock=room.clock)
    await notifier.ended(instance, f"r-{uuid4()}", ended_at)
    due = await room.backend.errands.take("aap-notifications", most=10, hold=0)
    for name in due.names:
        await room.backend.errands.done("aap-notifications", name)
    return bool(due.names)


async def test_a_receiver_from_the_start_is_told_of_every_end_whatever_the_bots_clock_says() -> (
    None
):
    async with aap_room() as room:
        made = await make(room, delivery=a_delivery())
        by_the_store = room.clock() - timedelta(seconds=3)

        assert await told_of(room, made.json["instance"]["id"], by_the_store)


@pytest.mark.parametrize("ahead", [timedelta(hours=1), -timedelta(hours=1), timedelta()], ids=str)
async def test_a_receiver_that_is_given_later_is_told_of_what_ends_from_then_on_by_the_stores_clock(
    ahead: timedelta,
) -> None:
    stores = StoppedClock(datetime(2026, 11, 22, 12, tzinfo=UTC))
    bots = StoppedClock(stores() + ahead)
    async with (
        memory_backend(clock=stores) as backend,
        aap_room(backend=backend, clock=bots) as room,
    ):
        before = stores() - timedelta(milliseconds=1)
        await change(room, room.instance_id, delivery=a_delivery())

        assert await told_of(room, room.instance_id, stores())
        assert not await told_of(room, room.instance_id, before)


async def test_a_change_is_never_forgotten_before_a_week_is_over_and_never_done_again() -> None:
    async with aap_room() as room:
        path = room.instance_id
        first = await change(room, path, "first", instance_name="first")
        room.clock.advance(timedelta(hours=1))
        for number in range(1, MOST_CHANGES):
            await change(room, path, f"k{number}", instance_name=f"n{number}")

        more = await change(room, path, "more", instance_name="more")
        again = await change(room, path, "first", instance_name="first")
        name = (await show(room, path)).json["name"]
        room.clock.advance(timedelta(hours=167))
        later = await change(room, path, "more", instance_name="more")

    assert more.error == (429, "too_many_calls")
    assert more.headers["Retry-After"] == str(167 * 3600)
    assert (again.status, again.json) == (200, first.json)
    assert name == f"n{MOST_CHANGES - 1}"
    assert later.json["name"] == "more"


async def test_a_receiver_is_not_asked_for_a_change_that_is_one_too_many() -> None:
    async with aap_room() as room:
        for number in range(MOST_CHANGES):
            await change(room, room.instance_id, f"k{number}", instance_name=f"n{number}")

        refused = await change(room, room.instance_id, delivery=a_delivery())

        assert refused.error == (429, "too_many_calls")
        assert room.notifier.checks == []


async def test_a_repeated_change_of_the_receiver_wakes_what_waits_once_more() -> None:
    async with aap_room() as room:
        body = {"delivery": a_delivery()}
        for _ in range(2):
            assert (await change(room, room.instance_id, "k", **body)).status == 200

        assert room.notifier.replaced_ids == [room.instance_id] * 2
        assert len(room.notifier.checks) == 1


async def agent_of(room: AapRoom, instance: Answer) -> str:
    """Who asks with the token of an instance."""
    assert instance.status == 201, instance.text
    room.token = instance.json["credential"]["token"]
    record = await room.backend.store.get((await room.asked())["id"])
    assert record is not None
    return record.request.run.agent_id


async def test_a_provisioner_makes_no_agents_but_its_own_unless_its_settings_name_others() -> None:
    section = Section(agent="deploy-*", default="allow")
    async with aap_room(policy=ServerPolicy([section])) as room:
        named = await make(room, instance_name="deploy-bot")

        assert named.json["instance"]["name"] == "deploy-bot"
        assert await agent_of(room, named) == "fleet/deploy-bot"
        assert (await room.asked())["status"] == "pending"
        nameless = await make(room)
        assert await agent_of(room, nameless) == f"fleet/aap-{nameless.json['instance']['id'][:8]}"


async def test_a_provisioner_makes_the_agents_that_its_pattern_names_and_is_told_so() -> None:
    async with aap_room(settings(agents="ci-*")) as room:
        good = await make(room, instance_name="ci-1")
        other = await make(room, "k", instance_name="deploy-bot")
        nameless = await make(room)

        assert await agent_of(room, good) == "ci-1"
        assert other.error == (403, "agent_not_allowed")
        assert other.json["error"]["param"] == "instance_name"
        assert "ci-*" in other.json["error"]["message"]
        assert (await agent_of(room, nameless)).startswith("fleet/aap-")
        assert (await make(room, "k", instance_name="ci-2")).status == 201
