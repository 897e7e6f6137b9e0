"""How people are called, as it is written in the settings."""

from __future__ import annotations

from datetime import time
from zoneinfo import ZoneInfo

import pytest
from support.settings_text import ROUTE, problems, read

from sayso.calling.hours import Quiet
from sayso.calling.manners import Calling, Reach

BERLIN = Quiet(time(22), time(7), ZoneInfo("Europe/Berlin"))
WRITTEN = 'quiet = { from = "22:00", to = "07:00", zone = "Europe/Berlin" }'
ALICE = '[people.alice]\nslack = "U0ALICE"\n'


def test_a_route_mentions_its_approvers_unless_it_says_otherwise() -> None:
    (route,) = read(ROUTE).routes.routes

    assert route.calling == Calling("mention")


def test_how_a_route_calls_people_is_read() -> None:
    text = f'{ROUTE}notify = "dm"\nremind = ["8m", "3m"]\n{WRITTEN}\n'
    (route,) = read(text).routes.routes

    assert route.calling == Calling("dm", (180.0, 480.0), BERLIN)


def test_when_a_person_can_be_called_is_read_and_is_no_account_of_theirs() -> None:
    routes = read(f"{ALICE}away = true\n{WRITTEN}\n{ROUTE}").routes

    assert routes.people == {"alice": frozenset({"slack:U0ALICE"})}
    assert routes.reach == {"alice": Reach(away=True, quiet=BERLIN)}
    assert routes.reach_of("slack:U0ALICE").away


def test_somebody_who_is_only_away_has_no_account() -> None:
    (problem,) = problems(f"[people.alice]\naway = true\n{ROUTE}")

    assert "people.alice has no account" in problem


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('notify = "page"', "must be 'mention', 'dm' or 'none'"),
        ('remind = ["soon"]', "is not a duration"),
        ('remind = ["1s"]', "reminds too soon"),
        (f"remind = {[f'{n}m' for n in range(1, 7)]}", "at most 5"),
        ('quiet = "22:00"', "write { from"),
        ('quiet = { from = "25:00", to = "07:00", zone = "UTC" }', "a time that is none"),
        ('quiet = { from = "07:00", to = "07:00", zone = "UTC" }', "quiet for ever"),
        ('quiet = { from = "22:00", to = "07:00", zone = "Europe/Atlantis" }', "not known here"),
        ('quiet = { from = "22:00", to = "07:00", zone = "../etc/passwd" }', "not known here"),
    ],
)
def test_what_cannot_be_is_told_with_the_fix(line: str, says: str) -> None:
    (problem,) = problems(f"{ROUTE}{line}\n")

    assert says in problem
