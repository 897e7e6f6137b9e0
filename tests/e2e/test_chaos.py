"""Chaos itself: what must not be is seen, and a machine that is late is nobody's mistake."""

from __future__ import annotations

from collections.abc import AsyncIterator

import aiohttp
import pytest
from chaos.judge import answers, noted, problems, records_of
from chaos.lag import Lag
from chaos.ledger import Ledger, Told
from chaos.people import live_buttons
from support.live import is_live

from sayso import Outcome
from sayso.chats.places import MessageRef
from sayso.events import PermissionRequestEvent, PermissionResponseEvent
from sayso.stores import audit
from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend
from sayso.testing import a_copy, a_request, a_response
from sayso_playground import Playground

MARKER = "item-000007"


@pytest.fixture
async def backend() -> AsyncIterator[Backend]:
    async with memory_backend() as opened:
        yield opened


async def asked(backend: Backend, ledger: Ledger) -> PermissionRequestEvent:
    """A question that an agent asked, and was seen to ask."""
    request = a_request(arguments={"what": MARKER})
    await backend.store.open(request, seconds=60, inbox="", book=None)
    ledger.asked(request)
    return request


async def allowed(backend: Backend, ledger: Ledger) -> PermissionResponseEvent:
    """One that was allowed, as everybody was told."""
    request = await asked(backend, ledger)
    response = a_response(request)
    await backend.store.settle(request.question_id, response)
    ledger.pressed_yes(f"deploy {MARKER}", "Allow")
    ledger.told.append(Told(MARKER, "checked", -3.0, Outcome.APPROVED))
    ledger.heard(response.observed)
    return response


async def judged(backend: Backend, ledger: Ledger) -> list[str]:
    return await problems(ledger, await records_of(ledger, backend), backend)


async def test_what_everybody_was_told_alike_is_no_problem(backend: Backend) -> None:
    ledger = Ledger()
    await allowed(backend, ledger)

    assert await judged(backend, ledger) == []
    assert answers(await records_of(ledger, backend)) == {"answered in slack": 1}


async def test_a_request_that_is_still_open_is_seen(backend: Backend) -> None:
    ledger = Ledger()
    await asked(backend, ledger)

    (problem,) = await judged(backend, ledger)

    assert problem.startswith(f"{MARKER}: still open")


async def test_an_approval_that_no_approver_pressed_is_seen(backend: Backend) -> None:
    ledger = Ledger()
    await allowed(backend, ledger)
    ledger.said_yes.clear()

    (problem,) = await judged(backend, ledger)

    assert problem == f"{MARKER}: approved, and no approver pressed anything for it"


async def test_an_approval_without_a_question_needs_an_always(backend: Backend) -> None:
    ledger = Ledger()
    ledger.told.append(Told(MARKER, "checked", 0.0, Outcome.APPROVED, unasked=True))

    (problem,) = await judged(backend, ledger)
    ledger.pressed_yes(MARKER, "Always")

    assert problem == f"{MARKER}: approved without a question, and nobody said Always"
    assert await judged(backend, ledger) == []


async def test_a_second_entry_in_the_audit_is_seen(backend: Backend) -> None:
    ledger = Ledger()
    response = await allowed(backend, ledger)
    twice = {**audit.ended(response), "question_id": response.question_id}
    await backend.audit.note(twice)

    (problem,) = await judged(backend, ledger)

    assert problem.endswith("approved, but audited ['approved', 'approved']")


async def test_a_denial_that_took_the_place_of_an_approval_is_no_problem(
    backend: Backend,
) -> None:
    ledger = Ledger()
    response = await allowed(backend, ledger)
    denial = response.denied(reason="its time was over", line="")
    await backend.store.overrule(response.question_id, denial)
    ledger.heard(denial.observed)
    ledger.told[:] = [Told(MARKER, "checked", 0.0, Outcome.DENIED)]

    assert await judged(backend, ledger) == []


async def test_an_agent_that_is_told_otherwise_is_seen(backend: Backend) -> None:
    ledger = Ledger()
    await allowed(backend, ledger)
    ledger.told.append(Told(MARKER, "resumed", 0.0, Outcome.EXPIRED))

    (problem,) = await judged(backend, ledger)

    assert problem == f"{MARKER}: told expired by resumed, recorded ['approved']"


async def test_an_observer_that_hears_of_two_outcomes_is_seen(backend: Backend) -> None:
    ledger = Ledger()
    response = await allowed(backend, ledger)
    ledger.observed[response.question_id].add("REQUEST_EXPIRED")

    (problem,) = await judged(backend, ledger)

    assert "observers heard" in problem


async def test_a_wait_beyond_its_timeout_is_seen_from_two_seconds_on(backend: Backend) -> None:
    ledger = Ledger()
    ledger.told += [
        Told("item-000001", "checked", 1.9, error="StoreUnreachableError"),
        Told("item-000002", "checked", 2.1, error="StoreUnreachableError"),
    ]

    assert await judged(backend, ledger) == ["item-000002: checked waited 2.1 s past its timeout"]


async def test_an_ending_that_the_store_lost_is_seen(backend: Backend) -> None:
    ledger = Ledger(ids={"gone": MARKER})
    ledger.told.append(Told(MARKER, "checked", 0.0, Outcome.APPROVED))

    found = await judged(backend, ledger)

    assert f"{MARKER}: the store has lost it" in found


async def test_an_agent_whose_question_is_unknown_is_seen(backend: Backend) -> None:
    ledger = Ledger()
    ledger.told.append(Told(MARKER, "resumed", 0.0, error="RequestNotFoundError"))

    (problem,) = await judged(backend, ledger)

    assert problem.startswith(f"{MARKER}: resumed was told RequestNotFoundError")


async def test_buttons_that_are_left_are_seen() -> None:
    async with Playground() as playground, aiohttp.ClientSession() as http:
        bot = f"{playground.telegram_api_url}/bot{playground.config.telegram_bot_token}"
        keyboard = {"inline_keyboard": [[{"text": "Allow", "callback_data": "a"}]]}
        message = {"chat_id": 4242, "text": f"deploy {MARKER}", "reply_markup": keyboard}
        async with http.post(f"{bot}/sendMessage", json=message) as sent:
            sent.raise_for_status()

        (left,) = live_buttons(playground)

    assert left.startswith("telegram ")
    assert MARKER in left


async def test_a_card_whose_number_is_known_must_not_be_left(backend: Backend) -> None:
    ledger = Ledger()
    request = await asked(backend, ledger)
    await backend.copies.issue(copy := a_copy(request.question_id))
    await backend.copies.mark(copy.at(MessageRef(copy.place, "17.0")))
    left = [f"slack 17.0 'deploy' ['{MARKER}']", f"slack 18.0 'deploy' ['{MARKER}']"]

    assert noted(left, await records_of(ledger, backend)) == left[:1]


@pytest.mark.parametrize(
    ("labels", "live"),
    [
        (["Revoke 3", "Details 4"], False),
        (["Back 3", "Show all 3"], False),
        (["Back", "Always?"], True),
        (["Deny", "Show all"], True),
    ],
)
def test_only_buttons_that_decide_are_left(labels: list[str], live: bool) -> None:
    assert is_live(labels) is live


def test_a_late_machine_widens_a_bound_by_what_was_measured() -> None:
    lag = Lag()
    lag.noted(10.0, 0.5)
    lag.noted(12.0, 0.25)
    lag.noted(13.0, 0.001)

    assert (lag.since(9.0), lag.since(11.0), lag.since(14.0)) == (0.75, 0.25, 0)
    assert lag.worst == 0.5
