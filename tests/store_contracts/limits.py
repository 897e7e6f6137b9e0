"""What every store promises of how many requests are open at once."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from sayso.calls import RunRef
from sayso.errors import RequestUnansweredError
from sayso.questions.permission import PermissionRequestEvent
from sayso.stores.backend import Backend
from sayso.stores.protocols import NO_LIMITS, BookChanged, Joined, Opened, OpenLimits
from sayso.testing.builders import a_request, a_response

_RUN, _OTHER = RunRef("greedy-bot", "s-1"), RunRef("deploy-bot", "s-1")


async def _open(
    backend: Backend,
    request: PermissionRequestEvent,
    seconds: float = 30,
    key: str = "",
) -> Opened | BookChanged | Joined:
    return await backend.store.open(request, seconds=seconds, inbox="in", book=None, key=key)


async def _limit(backend: Backend, per_agent: int, per_token: int = 0) -> None:
    await backend.outbox.heartbeat("desk", seconds=30, limits=OpenLimits(per_agent, per_token))


class OpenLimitsContract:
    """The promises of ``Store.open`` under limits. Subclasses provide the ``backend`` fixture."""

    async def test_without_limits_as_many_are_open_as_come(self, backend: Backend) -> None:
        await backend.outbox.heartbeat("desk", seconds=30)

        for _ in range(60):
            await _open(backend, a_request(run=_RUN))

        assert len(await backend.store.list_requests()) == 60

    async def test_an_agent_has_no_more_open_requests_than_allowed_however_many_come_at_once(
        self, backend: Backend
    ) -> None:
        await _limit(backend, 5)

        asked = [_open(backend, a_request(run=_RUN)) for _ in range(20)]
        said = await asyncio.gather(*asked, return_exceptions=True)

        refused = [one for one in said if isinstance(one, RequestUnansweredError)]
        assert len(refused) == 15
        assert "agent 'greedy-bot' has as many open requests as the server allows, 5 (" in str(
            refused[0]
        )
        assert len(await backend.store.list_requests()) == 5

    async def test_a_desk_that_names_no_limits_leaves_them_and_one_that_says_none_lifts_them(
        self, backend: Backend
    ) -> None:
        await _limit(backend, 1)
        await backend.outbox.heartbeat("other", seconds=30)
        await _open(backend, a_request(run=_RUN))
        with pytest.raises(RequestUnansweredError):
            await _open(backend, a_request(run=_RUN))

        await backend.outbox.heartbeat("other", seconds=30, limits=NO_LIMITS)

        await _open(backend, a_request(run=_RUN))

    async def test_a_refused_request_leaves_nothing_behind(self, backend: Backend) -> None:
        await _limit(backend, 1)
        await _open(backend, a_request(run=_RUN))
        refused = a_request(run=_RUN)
        entries = len(await backend.audit.read(100))

        with pytest.raises(RequestUnansweredError):
            await _open(backend, refused, key="k")

        assert await backend.store.get(refused.question_id) is None
        assert len(await backend.audit.read(100)) == entries

    async def test_what_is_shortened_counts_no_longer_than_it_is_open(
        self, backend: Backend
    ) -> None:
        await _limit(backend, 1)
        request = a_request(run=_RUN)
        await _open(backend, request, seconds=600)

        await backend.store.shorten_deadline(request.question_id, 0)

        await _open(backend, a_request(run=_RUN))

    async def test_one_agents_requests_do_not_count_for_another(self, backend: Backend) -> None:
        await _limit(backend, 1)
        await _open(backend, a_request(run=_RUN))

        assert isinstance(await _open(backend, a_request(run=_OTHER)), Opened)

    async def test_the_requests_of_a_token_count_whichever_agent_it_speaks_for(
        self, backend: Backend
    ) -> None:
        await _limit(backend, 0, per_token=2)

        def filed(agent: str, token: str | None) -> PermissionRequestEvent:
            return a_request(run=RunRef(agent, "s-1")).model_copy(update={"filed_by": token})

        for agent in ("one", "two"):
            await _open(backend, filed(agent, "api:ci"))
        full = "token 'api:ci' has as many open requests"
        with pytest.raises(RequestUnansweredError, match=full):
            await _open(backend, filed("three", "api:ci"))

        for token in ("api:other", None, None, None):
            assert isinstance(await _open(backend, filed("three", token)), Opened)

    async def test_what_has_ended_counts_no_more_however_it_ended(self, backend: Backend) -> None:
        await _limit(backend, 1, per_token=1)
        at = datetime.now(UTC)
        for way in ("approved", "cancelled", "undeliverable"):
            request = a_request(run=_RUN).model_copy(update={"filed_by": "api:ci"})
            await _open(backend, request)
            endings = {
                "approved": a_response(request),
                "cancelled": request.cancelled(at=at, reason="gone"),
                "undeliverable": request.undeliverable(at=at, reason="no route"),
            }
            await backend.store.settle(request.question_id, endings[way])

        assert isinstance(await _open(backend, a_request(run=_RUN)), Opened)

    async def test_what_nobody_waits_for_any_more_counts_no_more(self, backend: Backend) -> None:
        await _limit(backend, 1)
        request = a_request(run=_RUN)
        await _open(backend, request, key="k")
        ending = request.cancelled(at=datetime.now(UTC), reason="gone")

        assert await backend.store.release_hold(
            request.question_id, request.question_id, ending=ending
        )

        assert isinstance(await _open(backend, a_request(run=_RUN)), Opened)

    async def test_what_has_expired_counts_no_more_before_anybody_says_so(
        self, backend: Backend
    ) -> None:
        await _limit(backend, 1)
        await _open(backend, a_request(run=_RUN), seconds=0)

        assert isinstance(await _open(backend, a_request(run=_RUN)), Opened)

    async def test_what_is_asked_again_is_counted_once(self, backend: Backend) -> None:
        await _limit(backend, 1)
        request = a_request(run=_RUN)

        for _ in range(2):
            assert isinstance(await _open(backend, request, key="k"), Opened)
        assert isinstance(await _open(backend, a_request(run=_RUN), key="k"), Joined)

    async def test_what_needs_nobody_neither_counts_nor_is_refused(self, backend: Backend) -> None:
        await _limit(backend, 1)
        for _ in range(2):
            request = a_request(run=_RUN)
            await backend.store.open(
                request, seconds=30, inbox="", book=None, ending=a_response(request)
            )
        await _open(backend, a_request(run=_RUN))
        denied = a_request(run=_RUN)

        said = await backend.store.open(
            denied, seconds=30, inbox="", book=None, ending=a_response(denied, approved=False)
        )

        assert isinstance(said, Opened)

    async def test_the_limits_of_the_desk_that_came_last_count(self, backend: Backend) -> None:
        await _limit(backend, 1)
        await _open(backend, a_request(run=_RUN))
        await _limit(backend, 2)
        await _open(backend, a_request(run=_RUN))
        await _limit(backend, 0)

        assert isinstance(await _open(backend, a_request(run=_RUN)), Opened)
