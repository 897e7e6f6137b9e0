"""Long polling against Telegram's double: one poller, and nothing confirmed before it is stored."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from support.clock import Clock
from support.desk_double import DeskDouble

from sayso.chats.places import Place
from sayso.clock import utc_now
from sayso.errors import StoreUnreachableError
from sayso.stores.memory.key_value import MemoryKeyValue
from sayso.stores.protocols import KeyValueStore
from sayso_playground import Playground, PlaygroundConfig, RateLimited, ServerError
from sayso_telegram import TelegramAdapter, TelegramConfig, TelegramListener
from sayso_telegram.listener import next_offset
from sayso_telegram.parse_update import ALLOWED_UPDATES
from sayso_telegram.updates_handler import HandledUpdate

TOKEN = "4000000000:PLAYGROUND-token"
CHAT = -1001234567890
DATA = "p1:HANDLEHANDLEHANDLE1234:allow"
AWAY = StoreUnreachableError("the store is away")


class Pauses:
    """Ends every pause at once, after the test's own step; keeps how long they would have been."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.step: Callable[[], Any] = lambda: None

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)
        self.step()
        await asyncio.sleep(0.005)


class AwayLeases(MemoryKeyValue):
    """Leases of a store that can be away."""

    is_away = False
    asked = 0

    async def acquire_lease(self, name: str, owner: str, *, seconds: float) -> bool:
        self.asked += 1
        if self.is_away:
            raise StoreUnreachableError("the store is away")
        return await super().acquire_lease(name, owner, seconds=seconds)


@pytest.fixture
async def playground() -> AsyncIterator[Playground]:
    async with Playground(PlaygroundConfig(telegram_bot_token=TOKEN)) as playground:
        yield playground


@pytest.fixture
def desk() -> DeskDouble:
    return DeskDouble()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def leases(clock: Clock) -> AwayLeases:
    return AwayLeases(clock)


@pytest.fixture
def pauses() -> Pauses:
    return Pauses()


@asynccontextmanager
async def polling(
    playground: Playground,
    desk: DeskDouble,
    leases: KeyValueStore,
    owner: str = "a",
    pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
) -> AsyncIterator[TelegramListener]:
    config = TelegramConfig(TOKEN, (), playground.telegram_api_url, mode="polling")
    async with (
        TelegramAdapter(config, MemoryKeyValue(utc_now)) as adapter,
        TelegramListener(config, adapter, desk, leases, owner=owner, pause=pause) as listener,
    ):
        task = asyncio.create_task(listener.run_polling())
        try:
            yield listener
        finally:
            task.cancel()
            async with asyncio.timeout(2):
                await asyncio.gather(task, return_exceptions=True)


async def served(playground: Playground) -> None:
    """Return when a poller has taken whatever there was, up to now."""
    telegram = playground.telegram
    telegram.say(CHAT, "anybody there?", by="alice")
    await telegram.until(lambda: not telegram.updates.pending)


def polls(playground: Playground) -> list[Any]:
    return [call for call in playground.telegram.calls if call.method.lower() == "getupdates"]


async def test_a_press_is_fetched_stored_answered_and_confirmed(
    playground: Playground, desk: DeskDouble, leases: AwayLeases
) -> None:
    telegram = playground.telegram
    async with polling(playground, desk, leases):
        card = telegram.say(CHAT, "a card", by="alice")
        delivery = await telegram.press_data(card, DATA, by="alice")
        await telegram.until(lambda: not telegram.updates.pending)

    assert (delivery.answered, delivery.toast) == (True, "Approved.")
    assert [press.actor for press in desk.taken] == ["telegram:4242"]
    assert telegram.updates.allowed == list(ALLOWED_UPDATES)


async def test_a_press_made_while_nobody_polled_is_found(
    playground: Playground, desk: DeskDouble, leases: AwayLeases
) -> None:
    telegram = playground.telegram
    card = telegram.say(CHAT, "a card", by="alice")
    telegram.updates.add("callback_query", a_query(playground, card, "bob"), "user:bob")

    async with polling(playground, desk, leases):
        await telegram.until(lambda: all(query.answered for query in telegram.queries.values()))

    assert [press.actor for press in desk.taken] == ["telegram:4343"]


async def test_nothing_is_confirmed_before_it_is_stored(
    playground: Playground, desk: DeskDouble, leases: AwayLeases, pauses: Pauses
) -> None:
    telegram = playground.telegram
    card = telegram.say(CHAT, "a card", by="alice")
    desk.error = AWAY
    still_there = []

    def step() -> None:
        still_there.append("callback_query" in [u.kind for u in telegram.updates.pending])
        desk.error = AWAY if len(desk.presses) < 3 else None

    pauses.step = step
    async with polling(playground, desk, leases, pause=pauses):
        await telegram.press_data(card, DATA, by="alice")
        await telegram.until(lambda: not telegram.updates.pending)

    assert still_there == [True, True, True]
    assert (len(desk.presses), len(desk.taken)) == (4, 1)


async def test_a_press_that_cannot_be_stored_holds_up_no_confirmed_one_before_it(
    playground: Playground, desk: DeskDouble, leases: AwayLeases, pauses: Pauses
) -> None:
    telegram = playground.telegram
    card = telegram.say(CHAT, "a card", by="alice")
    desk.refuses = {"telegram:4343": AWAY}
    for who in ("alice", "bob", "mallory"):
        telegram.updates.add("callback_query", a_query(playground, card, who), f"user:{who}")

    def step() -> None:
        desk.refuses = {}

    pauses.step = step
    async with polling(playground, desk, leases, pause=pauses):
        await telegram.until(lambda: not telegram.updates.pending)

    actors = [press.actor for press in desk.taken]
    assert actors == ["telegram:4242", "telegram:6666", "telegram:4343", "telegram:6666"]


async def test_a_press_at_which_the_desk_always_fails_holds_up_nothing_after_it(
    playground: Playground, desk: DeskDouble, leases: AwayLeases, pauses: Pauses
) -> None:
    telegram = playground.telegram
    card = telegram.say(CHAT, "a card", by="alice")
    desk.refuses = {"telegram:4343": RuntimeError("a bug")}
    for who in ("bob", *("alice",) * 150):
        telegram.updates.add("callback_query", a_query(playground, card, who), f"user:{who}")

    async with polling(playground, desk, leases, pause=pauses):
        await telegram.until(lambda: not telegram.updates.pending)

    assert (len(desk.presses), len(desk.taken), pauses.seconds) == (151, 150, [])


def a_query(playground: Playground, card: Any, who: str) -> dict[str, Any]:
    member = playground.config.member(who)
    state = playground.telegram.state
    return {
        "id": state.new_query(member, card),
        "from": state.user_json(member.telegram_id),
        "message": state.message_json(card),
        "chat_instance": "1",
        "data": DATA,
    }


@pytest.mark.parametrize("poison", [None, [], {"id": 5}, {"id": "q", "from": "x"}, {}])
async def test_a_poison_update_does_not_end_polling(
    playground: Playground, desk: DeskDouble, leases: AwayLeases, poison: Any
) -> None:
    telegram = playground.telegram
    card = telegram.say(CHAT, "a card", by="alice")
    telegram.add_update("callback_query", poison)

    async with polling(playground, desk, leases):
        delivery = await telegram.press_data(card, DATA, by="alice")
        await telegram.until(lambda: not telegram.updates.pending)

    assert delivery.answered


async def test_of_two_processes_one_polls_and_the_other_takes_over(
    playground: Playground,
    desk: DeskDouble,
    leases: AwayLeases,
    clock: Clock,
    pauses: Pauses,
) -> None:
    telegram = playground.telegram
    second = DeskDouble()
    async with polling(playground, second, leases, owner="b", pause=pauses):
        # "b" was here first; "a" waits, however often it asks.
        await served(playground)
        async with polling(playground, desk, leases, owner="a", pause=pauses):
            card = telegram.say(CHAT, "a card", by="alice")
            await telegram.press_data(card, DATA, by="alice")
            assert (len(second.presses), len(desk.presses)) == (1, 0)
    assert all(call.status == 200 for call in polls(playground))

    # "b" has gone and kept its lease for one more second only.
    clock.pass_by(1)
    async with polling(playground, desk, leases, owner="a", pause=pauses):
        await telegram.press_data(card, DATA, by="bob")
    assert len(desk.presses) == 1


async def test_two_bots_poll_side_by_side(
    playground: Playground, desk: DeskDouble, leases: AwayLeases
) -> None:
    await leases.acquire_lease("telegram:77", "somebody", seconds=60)

    async with polling(playground, desk, leases):
        card = playground.telegram.say(CHAT, "a card", by="alice")
        assert (await playground.telegram.press_data(card, DATA, by="alice")).answered


async def test_while_the_store_is_away_nobody_polls_and_that_is_said_once(
    playground: Playground,
    desk: DeskDouble,
    leases: AwayLeases,
    pauses: Pauses,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO", "sayso_telegram")
    leases.is_away = True

    def step() -> None:
        leases.is_away = leases.asked < 3

    pauses.step = step
    async with polling(playground, desk, leases, pause=pauses):
        card = playground.telegram.say(CHAT, "a card", by="alice")
        assert (await playground.telegram.press_data(card, DATA, by="alice")).answered

    assert leases.asked >= 4
    said = [line for line in caplog.messages if "poll" in line]
    assert [line.partition(":")[0] for line in said[:2]] == [
        "polling waits for the store",
        "polling Telegram for updates",
    ]


async def test_a_webhook_in_the_way_is_named_and_waited_out(
    playground: Playground,
    desk: DeskDouble,
    leases: AwayLeases,
    pauses: Pauses,
    caplog: pytest.LogCaptureFixture,
) -> None:
    telegram = playground.telegram
    telegram.deliver_to("http://127.0.0.1:9/hook")

    def step() -> None:
        if len(pauses.seconds) == 3:
            telegram.deliver_to("")

    pauses.step = step
    async with polling(playground, desk, leases, pause=pauses):
        await served(playground)

    assert pauses.seconds == [2, 4, 8]
    assert "a webhook is set: run `sayso webhook delete` to poll" in caplog.text


async def test_a_rate_limit_is_waited_out_and_an_outage_ever_longer(
    playground: Playground,
    desk: DeskDouble,
    leases: AwayLeases,
    pauses: Pauses,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO", "sayso_telegram")
    telegram = playground.telegram
    telegram.misbehave("getUpdates", RateLimited(7))
    telegram.misbehave("getUpdates", ServerError(502), times=6)

    async with polling(playground, desk, leases, pause=pauses):
        await served(playground)

    assert pauses.seconds == [7, 4, 8, 16, 30, 30, 30]
    assert "updates are fetched again, after 7 failed attempts" in caplog.messages


async def test_a_migration_is_handed_on(
    playground: Playground, desk: DeskDouble, leases: AwayLeases
) -> None:
    async with polling(playground, desk, leases):
        new = playground.telegram.migrate_group(-300)
        await playground.telegram.until(lambda: not playground.telegram.updates.pending)

    assert [to for _, to in desk.moves] == [Place("telegram", str(new))] * 2


async def test_polling_ends_at_once_when_it_is_cancelled(
    playground: Playground, desk: DeskDouble, leases: AwayLeases
) -> None:
    async with polling(playground, desk, leases):
        await served(playground)
        # Leaving the block cancels, within the two seconds of `polling`, a poll of 25 seconds.


STORED, NOT_STORED = HandledUpdate(stored=True), HandledUpdate(stored=False)


@pytest.mark.parametrize(
    ("ids", "taken", "before", "after"),
    [
        ([], [], 8, 0),
        ([7, 8], [STORED, STORED], 0, 9),
        ([7, 8], [STORED, NOT_STORED], 0, 8),
        ([7, 8], [NOT_STORED, STORED], 7, 7),
        ([7, 8, 7, 8], [STORED, NOT_STORED, STORED, STORED], 0, 8),
        ([None, 8], [STORED, STORED], 0, 9),
        ([3], [STORED], 0, 4),
    ],
)
def test_the_next_poll_begins_at_the_first_update_not_stored_or_anywhere_after_silence(
    ids: list[int | None], taken: list[HandledUpdate], before: int, after: int
) -> None:
    updates = [{"update_id": number} for number in ids]

    assert next_offset(updates, taken, before) == after
