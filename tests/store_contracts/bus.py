"""What every bus promises."""

from __future__ import annotations

from sayso.stores.backend import Backend
from sayso.testing.builders import a_request, a_response, soon, until


class BusContract:
    """The promises of ``Bus``. Subclasses provide the ``backend`` fixture."""

    async def test_a_subscriber_hears_what_is_published(self, backend: Backend) -> None:
        response = a_response()

        async with backend.bus.subscribe("runs:1") as events:
            await backend.bus.publish("runs:1", response)

            assert await soon(events) == response

    async def test_events_come_in_the_order_they_were_published(self, backend: Backend) -> None:
        published = [a_request(f"q-{number}") for number in range(20)]

        async with backend.bus.subscribe("runs:1") as events:
            for event in published:
                await backend.bus.publish("runs:1", event)

            assert [await soon(events) for _ in published] == published

    async def test_topics_do_not_leak_into_each_other(self, backend: Backend) -> None:
        mine, other = a_response(approved=True), a_response(approved=False)

        async with backend.bus.subscribe("runs:1") as events:
            await backend.bus.publish("runs:10", other)
            await backend.bus.publish("runs:*", other)
            await backend.bus.publish("runs:1", mine)

            assert await soon(events) == mine

    async def test_subscriptions_are_counted_while_they_last(self, backend: Backend) -> None:
        counts = [await backend.bus.subscribers("runs:1")]
        async with backend.bus.subscribe("runs:1"), backend.bus.subscribe("runs:2"):
            counts.append(await backend.bus.subscribers("runs:1"))

        async def is_over() -> bool:
            return await backend.bus.subscribers("runs:1") == 0

        await until(is_over)
        assert counts == [0, 1]

    async def test_every_subscriber_of_a_topic_hears(self, backend: Backend) -> None:
        response = a_response()

        async with (
            backend.bus.subscribe("runs:1") as first,
            backend.bus.subscribe("runs:1") as second,
        ):
            await backend.bus.publish("runs:1", response)

            assert await soon(first) == await soon(second) == response

    async def test_what_was_published_before_is_not_heard(self, backend: Backend) -> None:
        before, after = a_request("before"), a_request("after")

        await backend.bus.publish("runs:1", before)
        async with backend.bus.subscribe("runs:1") as events:
            await backend.bus.publish("runs:1", after)

            assert await soon(events) == after

    async def test_a_topic_is_any_text(self, backend: Backend) -> None:
        topic = 'notices:["a:b", "s {1}\\n*", "ünï"]'
        response = a_response()

        async with backend.bus.subscribe(topic) as events:
            await backend.bus.publish(topic, response)

            assert await soon(events) == response

    async def test_an_event_passes_unchanged(self, backend: Backend) -> None:
        request = a_request(
            'q "1":\n\u202e{💥}',
            source_name="  a\tb  ",
            arguments={"n": 1e300, "l": [{}, [], None]},
        )

        async with backend.bus.subscribe("runs:1") as events:
            await backend.bus.publish("runs:1", request)

            assert await soon(events) == request
