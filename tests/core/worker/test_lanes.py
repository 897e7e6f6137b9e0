"""Lanes by a clock that the test moves: pauses, order, budgets."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
from support.clock import Clock
from support.street import Street
from support.timer import settle

from sayso.chats.budgets import Budget, Rate
from sayso.chats.places import Place
from sayso.errors import DeliveryError, StoreUnreachableError
from sayso.stores.memory.key_value import MemoryKeyValue
from sayso.worker.send_queue import Rank, SendQueue, ShutdownError

PHONE = Place("telegram", "-1001")


@pytest.fixture
def street() -> Street:
    return Street()


def limited(seconds: float | None) -> DeliveryError:
    return DeliveryError("slack", "too many", retry_after=seconds)


async def test_nothing_is_sent_before_the_platforms_retry_after_is_over(street: Street) -> None:
    street.send("first", error=limited(30))
    await settle()
    street.send("second")
    await street.timer.advance(29.9)
    assert street.names == ["first"]

    await street.timer.advance(0.1)

    assert street.went == [("first", 0), ("second", 30)]


async def test_an_ending_waits_out_the_retry_after_as_well(street: Street) -> None:
    street.send("first", error=limited(30))
    await settle()
    street.send("ending", rank=Rank.ENDED)
    await street.timer.advance(60)

    assert street.went == [("first", 0), ("ending", 30)]


async def test_one_message_at_a_time_leaves_for_a_place(street: Street) -> None:
    for number in range(5):
        street.send(str(number), takes=1)
    await street.timer.advance(10)

    assert street.names == list("01234")
    assert street.most_at_once == 1


async def test_a_pause_of_one_place_holds_up_no_other(street: Street) -> None:
    street.send("first", error=limited(3_600))
    await settle()
    street.send("elsewhere", place=PHONE)
    await settle()

    assert street.names == ["first", "elsewhere"]


async def test_the_threads_of_a_chat_share_its_lane(street: Street) -> None:
    street.send("first", error=limited(60))
    await settle()
    street.send("thread", place=Place("slack", "C0OPS", "17.1"))
    await street.timer.advance(59)

    assert street.names == ["first"]


async def test_pauses_of_our_own_grow_up_to_a_bound(street: Street) -> None:
    for number in range(15):
        street.send(str(number), error=limited(None))
    await street.timer.advance(1_000)

    times = [at for _, at in street.went]
    pauses = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert len(pauses) == 14
    assert 0.75 * 0.25 <= pauses[0] <= 1.25 * 0.25
    for number, pause in enumerate(pauses):
        wanted = min(0.25 * 2**number, 30)
        assert 0.75 * wanted <= pause <= min(1.25 * wanted, 30)


async def test_a_message_that_arrives_ends_the_growing_of_pauses(street: Street) -> None:
    for number in range(8):
        street.send(f"failed {number}", error=limited(None))
    await street.timer.advance(200)
    street.send("arrived")
    street.send("failed again", error=limited(None))
    street.send("last")
    await street.timer.advance(200)

    (_, failed), (_, last) = street.went[-2:]
    assert last - failed <= 1.25 * 0.25


async def test_a_refusal_for_good_sets_no_pause(street: Street) -> None:
    street.send("first", error=DeliveryError("slack", "gone", permanent=True))
    street.send("second")
    await settle()

    assert street.went == [("first", 0), ("second", 0)]


@pytest.mark.parametrize("seconds", [0, -5, 0.1])
async def test_a_pause_of_nothing_is_still_a_pause(street: Street, seconds: float) -> None:
    street.send("first", error=limited(seconds))
    street.send("second")
    await street.timer.advance(5)

    assert street.went == [("first", 0), ("second", 0.25)]


@pytest.mark.parametrize("seconds", [float("inf"), float("nan")])
async def test_a_pause_that_is_no_number_of_seconds_is_one_of_our_own(
    street: Street, seconds: float
) -> None:
    street.send("first", error=limited(seconds))
    street.send("second")
    await street.timer.advance(5)

    assert street.names == ["first", "second"]


async def test_endings_go_first_then_changes_then_new_cards(street: Street) -> None:
    street.send("before", takes=1)
    await settle()
    street.send("new 1")
    street.send("changed", rank=Rank.CHANGED)
    street.send("new 2")
    street.send("ended 1", rank=Rank.ENDED)
    street.send("ended 2", rank=Rank.ENDED)
    await street.timer.advance(5)

    assert street.names == ["before", "ended 1", "ended 2", "changed", "new 1", "new 2"]


async def test_an_ending_goes_before_a_card_that_waits_for_its_pause(street: Street) -> None:
    street.send("first", error=limited(10))
    await settle()
    street.send("new")
    await street.timer.advance(5)
    street.send("ended", rank=Rank.ENDED)
    await street.timer.advance(10)

    assert street.names == ["first", "ended", "new"]


async def test_agents_take_turns_and_one_that_sent_nothing_yet_goes_next(street: Street) -> None:
    for number in range(4):
        street.send(f"greedy {number}", agent="greedy-bot", takes=1)
    await settle()
    for number in range(2):
        street.send(f"other {number}", agent="other-bot", takes=1)
    await street.timer.advance(2)
    street.send("last", agent="last-bot", takes=1)
    await street.timer.advance(10)

    assert street.names == [
        *("greedy 0", "other 0", "greedy 1", "last", "other 1", "greedy 2", "greedy 3")
    ]


async def test_endings_of_one_agent_keep_the_card_of_another_waiting_for_three_messages_at_most(
    street: Street,
) -> None:
    for number in range(40):
        street.send(f"ended {number}", rank=Rank.ENDED, agent="greedy-bot", takes=1)
    await settle()
    street.send("new", agent="deploy-bot", takes=1)
    await street.timer.advance(60)

    assert street.names.index("new") == 3


async def test_a_new_name_for_each_message_does_not_keep_the_cards_of_another_waiting(
    street: Street,
) -> None:
    street.send("before", agent="new-bot", takes=1)
    await settle()
    street.send("card 1", agent="deploy-bot", takes=1)
    street.send("card 2", agent="deploy-bot", takes=1)
    for number in range(60):
        street.send(f"flood {number}", agent=f"new-bot-{number}", takes=1)
        await street.timer.advance(1)

    assert street.names.index("card 1") == 1
    assert street.names.index("card 2") <= 10


async def test_endings_under_new_names_keep_a_card_waiting_for_two_rounds_at_most(
    street: Street,
) -> None:
    street.send("before", agent="new-bot", takes=1)
    await settle()
    street.send("card", agent="deploy-bot", takes=1)
    for number in range(60):
        street.send(f"flood {number}", agent=f"new-bot-{number}", rank=Rank.ENDED, takes=1)
        await street.timer.advance(1)

    assert street.names.index("card") <= 18


async def test_messages_of_many_agents_are_not_compared_with_each_other(street: Street) -> None:
    class Name(str):
        __slots__ = ()
        reads = 0

        def __hash__(self) -> int:
            Name.reads += 1
            return super().__hash__()

    for number in range(500):
        street.send(str(number), agent=Name(number))
    await settle()
    while len(street.went) < 500:
        await street.timer.advance(1)

    assert Name.reads <= 500 * 10


async def test_messages_keep_the_budget_of_their_place(street: Street) -> None:
    budget = (Budget("ops", Rate(1, 1)),)
    for number in range(5):
        street.send(str(number), budgets=budget)
    await street.timer.advance(10)

    assert street.went == [(str(number), number) for number in range(5)]


async def test_an_ending_takes_the_next_moment_that_its_place_has(street: Street) -> None:
    budget = (Budget("ops", Rate(1, 10)),)
    for number in range(100):
        street.send(f"new {number}", budgets=budget)
    await street.timer.advance(5)
    street.send("ended", rank=Rank.ENDED, budgets=budget)
    await street.timer.advance(15)

    assert street.went == [("new 0", 0), ("ended", 10), ("new 1", 20)]


async def test_two_desks_share_a_budget() -> None:
    one = Street()
    other = Street(one.lanes._key_value)
    other.timer = one.timer
    other.lanes = SendQueue(one.lanes._key_value, one.timer)
    budget = (Budget("ops", Rate(1, 1)),)
    for number in range(4):
        one.send(f"one {number}", budgets=budget)
        other.send(f"other {number}", budgets=budget)
    await one.timer.advance(20)

    assert sorted(at for _, at in one.went + other.went) == list(range(8))


async def test_a_moment_that_was_missed_is_not_used_up_later(street: Street) -> None:
    budget = (Budget("ops", Rate(1, 10)),)
    street.send("first", budgets=budget)
    await settle()
    waiting = street.send("given up", budgets=budget)
    await street.timer.advance(5)
    # Something that uses up no budget is on its way for long.
    street.send("slow", rank=Rank.CHANGED, takes=25)
    await settle()
    waiting.cancel()
    street.send("second", budgets=budget)
    street.send("third", budgets=budget)
    await street.timer.advance(40)

    assert street.went == [("first", 0), ("slow", 5), ("second", 30), ("third", 40)]


async def test_whoever_gives_up_is_not_waited_for(street: Street) -> None:
    street.send("first", takes=1)
    await settle()
    given_up = street.send("given up", rank=Rank.ENDED)
    street.send("second")
    await settle()
    given_up.cancel()
    await street.timer.advance(2)

    assert street.names == ["first", "second"]


async def test_when_the_desk_stops_what_is_on_its_way_arrives_and_nothing_else(
    street: Street,
) -> None:
    under_way = street.send("first", takes=1)
    waiting = [street.send("second"), street.send("elsewhere", place=PHONE, takes=0)]
    late = limited(3_600)
    await settle()
    paused = [street.send("third", place=PHONE, error=late), street.send("fourth", place=PHONE)]
    await settle()
    street.lanes.close()
    after = street.send("after", place=Place("chat", "new"))
    await street.timer.advance(2)

    await under_way
    for task in (waiting[0], paused[1], after):
        with pytest.raises(ShutdownError):
            await task
    assert street.names == ["first", "elsewhere", "third"]


async def test_without_the_store_nothing_is_sent(street: Street) -> None:
    class Away(MemoryKeyValue):
        is_away = True

        async def reserve_rate(self, budgets: Sequence[Budget]) -> float:
            if self.is_away:
                raise StoreUnreachableError("away")
            return await super().reserve_rate(budgets)

    budgets = Away(Clock())
    street = Street(budgets)
    ops = (Budget("ops", Rate(1, 1)),)
    first, second = street.send("first", budgets=ops), street.send("second", budgets=ops)
    await settle()
    for task in (first, second):
        with pytest.raises(StoreUnreachableError):
            await task
    budgets.is_away = False
    street.send("third", budgets=ops)
    await settle()

    assert street.names == ["third"]


async def test_whoever_goes_away_before_its_turn_leaves_no_lane(street: Street) -> None:
    budget = (Budget("ops", Rate(1, 10)),)
    street.send("first", budgets=budget)
    await settle()
    waiting = street.send("second", budgets=budget)
    await settle()
    assert len(street.lanes) == 1

    waiting.cancel()
    await settle()

    assert street.names == ["first"]
    assert len(street.lanes) == 0


async def test_lanes_that_nobody_uses_are_gone(street: Street) -> None:
    for number in range(50):
        street.send(str(number), place=Place("slack", f"D{number}"))
    street.send("limited", error=limited(10))
    await settle()
    assert len(street.lanes) == 1

    await street.timer.advance(10)
    street.send("next")
    await settle()

    assert len(street.lanes) == 0
