"""German where it is more than other words: numbers, times, one and many, and who is spoken to."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from support.tables import texts_of

from sayso import ToolCall
from sayso.always.terms import span
from sayso.languages.tables import CONVERSATIONS, DESK
from sayso_slack.languages import LANGUAGES as SLACK
from sayso_telegram.languages import LANGUAGES as TELEGRAM

GERMAN = DESK["de"]
CARDS = GERMAN.cards


def test_german_writes_numbers_and_times_as_germans_do() -> None:
    assert CARDS.hidden_lines.of(1) == "noch 1 Zeile"
    assert CARDS.hidden_lines.of(12_345) == "noch 12.345 Zeilen"
    assert CARDS.formats.number(0.5) == "0,5"
    assert CARDS.formats.time(datetime(2026, 1, 9, 14, 5, tzinfo=UTC)) == "09.01.2026, 14:05 UTC"


@pytest.mark.parametrize(
    ("length", "said"),
    [
        (timedelta(days=1), "1 Tag"),
        (timedelta(days=30), "30 Tage"),
        (timedelta(hours=1), "1 Stunde"),
        (timedelta(minutes=15), "15 Minuten"),
        (timedelta(seconds=90), "90 Sekunden"),
    ],
)
def test_lengths_of_time_are_said_in_german(length: timedelta, said: str) -> None:
    assert span(length, GERMAN.questions.always) == said


def test_calls_of_well_known_tools_are_told_in_german_with_german_amounts() -> None:
    refund = {"amount": 125_000, "currency": "eur", "payment_intent": "pi_1"}
    bash = GERMAN.questions.well_known(ToolCall("Bash", {"command": "ls"}), {"command": "ls"})
    paid = GERMAN.questions.well_known(ToolCall("mcp__stripe__create_refund", refund), refund)

    assert bash is not None
    assert bash.title == "Befehl ausführen"
    assert paid is not None
    assert paid.title == "Zahlung erstatten"
    assert paid.facts == (("Betrag", "1.250,00 EUR"), ("Zahlung", "pi_1"))


def test_how_a_question_ended_is_said_as_a_sentence() -> None:
    assert CARDS.how("approved", "Ana (slack:U0ANA)") == "genehmigt von Ana (slack:U0ANA)"
    assert CARDS.late.format(how=CARDS.how("expired")) == "Zu spät: schon abgelaufen."
    assert GERMAN.already.of(2, how=CARDS.how("denied", "Uli")) == "2 waren schon abgelehnt von Uli"


def test_people_are_spoken_to_in_one_way_everywhere() -> None:
    tables = (GERMAN, CONVERSATIONS["de"], SLACK["de"], TELEGRAM["de"])
    familiar = re.compile(r"\b(?:du|dich|dir|dein\w*|euch|euer|eure\w*)\b", re.IGNORECASE)

    assert [text for table in tables for _, text in texts_of(table) if familiar.search(text)] == []
