"""A dialogue keeps the language of its card, whichever process goes on with it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from support.dialogue_table import ALICE, BOB, OPTIONS_A_PAGE, PIZZA, Table

from sayso.cards.card import Ended
from sayso.dialogues.dialogue import dialogue_text, read_dialogue
from sayso.dialogues.messages import Messages
from sayso.dialogues.openings import Openings
from sayso.languages.tables import DESK, DIALOGUES

GERMAN = DIALOGUES["de"]


@pytest.fixture
def table() -> Table:
    """A table whose card is in German, at a bot that speaks both languages."""
    table = Table()
    table.messages = Messages(table.chat, options_a_page=OPTIONS_A_PAGE, languages=DIALOGUES)
    table.openings = Openings(table.drafts, table.messages, lambda actor, _: actor)
    table.dialogues = table.another_process()
    table.card = replace(table.card, words=DESK["de"].cards)
    return table


async def test_a_form_is_asked_in_the_language_of_its_card(table: Table) -> None:
    await table.open(PIZZA)

    assert table.form.words is GERMAN
    labels = [offer.label for row in table.form.rows for offer in row]
    assert GERMAN.cards.forms.cancel in labels


async def test_another_process_goes_on_in_the_same_language(table: Table) -> None:
    await table.open(PIZZA)
    table.dialogues = table.another_process()

    taken = await table.press(GERMAN.cards.forms.cancel, by=BOB)
    await table.press(GERMAN.cards.forms.cancel)

    assert taken.text.startswith("Dieses Formular gilt")
    assert table.form.ended == GERMAN.cancelled


async def test_what_comes_after_the_end_of_a_form_is_told_in_its_language(table: Table) -> None:
    await table.open(PIZZA)
    ended = Ended("denied", table.clock(), by="chat:bob")
    await table.openings.close(table.card.handle, ended, table.card.words)
    closed = table.chat.said[0].view

    assert "Zu spät: schon abgelehnt von chat:bob." in str(closed)


async def test_a_draft_of_an_earlier_version_goes_on_in_english(table: Table) -> None:
    await table.open(PIZZA)
    (begun,) = await table.drafts.begun(table.card.handle)
    dialogue = await table.drafts.read(begun.dialogue_id)
    assert dialogue is not None
    kept = json.loads(dialogue_text(dialogue))
    assert kept.pop("language") == "de"

    earlier = read_dialogue(json.dumps(kept))

    assert earlier is not None
    assert earlier.language == "en"
    assert earlier.actor == ALICE
