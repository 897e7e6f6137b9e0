"""Deadlines, the time an approval may be used, and what follows when they are over."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from support.aap_room import MINUTE, ROUTES, aap_room, settings

from sayso.chats.places import Place
from sayso.desk.routes import Route, Routes
from sayso.policy.server_policy import ServerPolicy
from sayso_bots.aap.provider import Provider
from sayso_bots.server.webserver import answering, taken_port, url_of

MILLISECOND = timedelta(milliseconds=1)
NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


@pytest.mark.parametrize("late", [0, 1, 5, 60_000])
async def test_an_approval_at_or_after_the_deadline_is_an_expiry_although_nobody_swept(
    late: int,
) -> None:
    async with aap_room() as room:
        request = await room.asked(timeout="10m")
        room.clock.advance(10 * MINUTE + late * MILLISECOND)

        assert await room.settled(request["id"]) == "expired"

        ended = (await room.get(request["id"])).json
        assert ended["status"] == ended["decision"]["status"] == "expired"


async def test_an_approval_before_the_deadline_counts() -> None:
    async with aap_room() as room:
        request = await room.asked(timeout="10m")
        room.clock.advance(10 * MINUTE - MILLISECOND)

        assert await room.settled(request["id"]) == "approved"
        decision = (await room.get(request["id"])).json["decision"]

    assert decision["decided_at"] < request["deadline_at"] < decision["expires_at"]


async def test_a_request_whose_time_is_over_is_told_as_expired_although_nobody_swept() -> None:
    async with aap_room() as room:
        request = await room.asked(timeout="1s")
        room.clock.advance(timedelta(seconds=1))

        for answer in (await room.get(request["id"]), await room.get(request["id"], "5s")):
            assert answer.json["status"] == "expired"
        again = await room.call("DELETE", f"/v1/requests/{request['id']}")
        assert again.error == (409, "already_terminal")


async def test_an_approval_is_used_until_it_is_over_and_not_then() -> None:
    async with aap_room(settings(approval_valid=2 * MINUTE)) as room:
        used, late = await room.asked(), await room.asked()
        for request in (used, late):
            await room.settled(request["id"])
        room.clock.advance(2 * MINUTE - MILLISECOND)
        first = await room.consume(used["id"], "k")
        room.clock.advance(MILLISECOND)

        over = await room.consume(late["id"])
        again = await room.consume(used["id"], "k")
        other = await room.consume(used["id"], "other")
        reported = await room.report(used["id"], status="succeeded")

    assert over.error == (409, "approval_expired")
    assert (first.status, again.status, reported.status) == (200, 200, 200)
    assert first.text == again.text
    assert other.error == (409, "already_consumed")


async def test_the_expiry_of_an_approval_does_not_move_with_the_settings() -> None:
    async with aap_room(settings(approval_valid=2 * MINUTE)) as room:
        request = await room.asked()
        await room.settled(request["id"])
        before = (await room.get(request["id"])).json
        async with aap_room(
            settings(approval_valid=30 * MINUTE), backend=room.backend, clock=room.clock
        ) as later:
            later.token = room.token
            after = (await later.get(request["id"])).json

    assert after == before


async def test_a_route_makes_the_deadline_earlier_never_later() -> None:
    place = (Place.parse("slack:C0OPS"),)
    async with aap_room(routes=Routes([Route(place, seconds=60)])) as room:
        cut, short = await room.asked(timeout="10m"), await room.asked(timeout="5s")

    assert (span(cut), span(short)) == (60, 5)
    assert cut["timeout"] == "10m"


async def test_an_approval_that_is_not_used_is_noted_where_the_instance_uses_them() -> None:
    async with aap_room() as room:
        first, unused = await room.asked(), await room.asked()
        await room.settled(first["id"])
        await room.consume(first["id"])
        await room.settled(unused["id"])
        await room.afterwards()
        room.clock.advance(5 * MINUTE)
        await room.afterwards()
        early = await room.backend.store.get(unused["id"])
        room.clock.advance(MINUTE)
        await room.afterwards()

        used = await room.backend.store.get(first["id"])
        lapsed = await room.backend.store.get(unused["id"])

    assert early is not None
    assert early.use is None
    assert lapsed is not None
    assert lapsed.use is not None
    assert lapsed.use.at is None
    assert used is not None
    assert used.use is not None
    assert used.use.at is not None


async def test_nothing_is_noted_of_an_instance_that_has_never_used_an_approval() -> None:
    async with aap_room() as room:
        request = await room.asked()
        await room.settled(request["id"])
        await room.afterwards()
        room.clock.advance(60 * MINUTE)
        await room.afterwards()

        record = await room.backend.store.get(request["id"])

    assert record is not None
    assert record.use is None


@pytest.mark.parametrize("how", ["approved", "denied", "withdrawn", "expired"])
async def test_each_end_is_handed_to_whoever_tells_receivers_once(how: str) -> None:
    async with aap_room() as room:
        request = await room.asked(timeout="1m")
        if how == "withdrawn":
            await room.call("DELETE", f"/v1/requests/{request['id']}")
        elif how == "expired":
            room.clock.advance(MINUTE)
            await room.backend.watch.expire()
        else:
            await room.settled(request["id"], approved=how == "approved")

        for _ in range(3):
            await room.afterwards()
            room.clock.advance(timedelta(hours=1))

    assert room.notifier.ended_ids == [request["id"]]


async def test_requests_and_keys_are_kept_for_a_week_after_the_decision() -> None:
    async with aap_room() as room:
        first = await room.ask(key="k", timeout="720h")
        request = first.json
        room.clock.advance(timedelta(days=29))
        await room.settled(request["id"])
        ended = (await room.get(request["id"])).json
        room.clock.advance(timedelta(hours=168))

        shown = await room.get(request["id"])
        again = await room.ask(key="k", timeout="720h")
        other = await room.ask(key="k", timeout="1h")

    assert shown.json == ended
    assert (again.status, again.json) == (200, ended)
    assert other.error == (409, "idempotency_conflict")


class SteppingBack:
    """A clock that is set back by an hour between two looks, again and again."""

    def __init__(self) -> None:
        self.looks = 0

    def __call__(self) -> datetime:
        """The time it shows."""
        self.looks += 1
        return NOON - timedelta(hours=self.looks)


async def test_no_request_lives_longer_than_it_is_told_when_the_bots_clock_is_set_back() -> None:
    async with aap_room() as room:
        clock = SteppingBack()
        provider = Provider(settings(), room.backend, ROUTES, ServerPolicy(), clock=clock)
        with taken_port("127.0.0.1", 0) as sockets:
            async with answering(sockets, provider.routes()):
                told = await replace(room, url=url_of(sockets)).asked(timeout="10m")

        record = await room.backend.store.get(told["id"])

    assert record is not None
    assert record.seconds_left == span(told) == 600


async def test_no_decision_is_told_as_older_than_its_request_where_the_stores_clock_went_back() -> (
    None
):
    async with aap_room() as room:
        request = await room.asked(timeout="10m")
        room.clock.advance(-timedelta(seconds=3))
        await room.settled(request["id"])
        room.clock.advance(-timedelta(seconds=3))
        used = (await room.consume(request["id"])).json
        room.clock.advance(-timedelta(seconds=3))
        done = (await room.report(request["id"], status="succeeded")).json
        await room.afterwards()

    assert used["decision"]["decided_at"] == request["created_at"]
    assert used["decision"]["expires_at"] > used["decision"]["decided_at"]
    assert used["consumption"]["consumed_at"] == request["created_at"]
    assert done["consumption"]["outcome"]["reported_at"] == request["created_at"]


def span(request: dict[str, str]) -> float:
    """How many seconds there are from the creation of a request to its deadline."""
    created, deadline = (
        datetime.fromisoformat(request[name]) for name in ("created_at", "deadline_at")
    )
    return (deadline - created).total_seconds()
