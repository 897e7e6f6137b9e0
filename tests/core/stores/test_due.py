"""What is due when: in order, each once, and nothing is kept of what was forgotten."""

from __future__ import annotations

import random

from sayso.stores.due import Due


def test_what_is_put_in_out_of_order_comes_in_order() -> None:
    due = Due()
    for moment in (3.0, 1.0, 2.0, 0.5, 2.5):
        due.add(moment, f"at {moment}")

    assert due.first == 0.5
    assert due.take(2.0) == [(0.5, "at 0.5"), (1.0, "at 1.0"), (2.0, "at 2.0")]
    assert due.first == 2.5
    assert len(due) == 2


def test_many_that_are_due_at_one_moment_come_together_in_the_order_of_their_arrival() -> None:
    due = Due()
    names = [str(number) for number in range(1_000)]
    for name in names:
        due.add(7.0, name)

    assert due.take(6.999_999) == []
    assert [name for _, name in due.take(7.0)] == names
    assert due.take(7.0) == []
    assert due.first is None


def test_whoever_comes_late_gets_all_that_became_due_meanwhile_and_since_when() -> None:
    due = Due()
    for moment in (1.0, 2.0, 900.0):
        due.add(moment, str(moment))

    assert due.take(800.0) == [(1.0, "1.0"), (2.0, "2.0")]
    assert due.take(1_000.0) == [(900.0, "900.0")]


def test_only_what_is_wanted_is_kept_in_its_order() -> None:
    due = Due()
    for moment in (4.0, 2.0, 3.0, 1.0):
        due.add(moment, str(moment))
    due.keep({"4.0", "2.0", "another"})

    assert len(due) == 2
    assert due.first == 2.0
    assert due.take(9.0) == [(2.0, "2.0"), (4.0, "4.0")]


def test_an_id_can_be_due_more_than_once() -> None:
    due = Due()
    due.add(2.0, "a")
    due.add(1.0, "a")

    assert due.take(1.0) == [(1.0, "a")]
    assert due.take(2.0) == [(2.0, "a")]


def test_of_what_is_due_more_than_once_the_first_time_is_kept() -> None:
    due = Due()
    for moment, what in ((3.0, "a"), (1.0, "a"), (2.0, "b"), (1.0, "a"), (4.0, "b")):
        due.add(moment, what)
    due.keep({"a", "b"})

    assert len(due) == 2
    assert due.first == 1.0
    assert due.take(9.0) == [(1.0, "a"), (2.0, "b")]


def test_it_answers_as_a_sorted_list_does() -> None:
    chance = random.Random(7)
    due, model = Due(), list[tuple[float, int, str]]()
    now = 0.0
    for number in range(3_000):
        moment = now + chance.choice((1.0, 5.0, 600.0, chance.uniform(0, 60)))
        due.add(moment, str(number))
        model.append((moment, number, str(number)))
        if chance.random() < 0.1:
            now += chance.expovariate(0.5)
            model.sort()
            overdue = [(at, name) for at, _, name in model if at <= now]
            model = [one for one in model if one[0] > now]
            assert due.take(now) == overdue
        if chance.random() < 0.01:
            wanted = {name for _, _, name in model if chance.random() < 0.8}
            due.keep(wanted)
            model = [one for one in model if one[2] in wanted]
        assert len(due) == len(model)
        assert due.first == min((one[0] for one in model), default=None)
