"""Dangers stand in a line of ours above the buttons: in both chats, on every kind of card."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from gettext import NullTranslations
from typing import Any

import pytest

from sayso.calls import RunRef, ToolCall
from sayso.cards.bundle import MOST_IN_BUNDLE
from sayso.cards.card import Card, Ended, Open
from sayso.cards.plain_text import plain_lines
from sayso.dangers.danger import Danger, danger_texts
from sayso.locales import ENGLISH, load_translations
from sayso.locales import ENGLISH as QUESTIONS
from sayso.questions.permission import PermissionRequestEvent
from sayso.rules.rule import literal_rule
from sayso_playground.slack.blocks import check_blocks
from sayso_slack.batch_blocks import bundle_message as bundle_in_slack
from sayso_slack.batch_blocks import bundle_room as room_in_slack
from sayso_slack.batch_blocks import message as in_slack
from sayso_telegram.batch_message import batch_capacity as room_in_telegram
from sayso_telegram.batch_message import build_batch_message as bundle_in_telegram
from sayso_telegram.formatted_text import Formatted, count_units
from sayso_telegram.message_text import CONTENT_LIMIT
from sayso_telegram.message_text import message as in_telegram

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SAID = "⚠️ Danger: deletes files · force push"
EVERY = danger_texts(ENGLISH, tuple(Danger), high_risk=True)


def a_card(
    command: str = "git push -f && rm -rf build",
    *,
    tool: str = "bash",
    agent: str = "deploy-bot",
    translations: NullTranslations = QUESTIONS,
    **changes: Any,
) -> Card:
    request = PermissionRequestEvent(
        permission_id="p-1",
        function_name=tool,
        call_id="c-1",
        arguments={"command": command},
        suggested_rules=(literal_rule(ToolCall("bash", {"command": command})),),
        source_name="deploy-bot",
        run=RunRef(agent, "s-1"),
        expires_at=NOW + timedelta(minutes=10),
    )
    return Card(
        handle="h4ndle",
        body=request.in_language(translations).card(),
        asker=agent,
        translations=translations,
        expires_at=request.expires_at,
        limit=CONTENT_LIMIT,
        reveal_limit=150_000,
        **changes,
    )


def slack_texts(blocks: Any) -> list[str]:
    """The texts in their order; buttons as well."""
    if isinstance(blocks, list):
        return [text for one in blocks for text in slack_texts(one)]
    if isinstance(blocks, dict):
        own = blocks.get("text")
        return [
            *([own] if isinstance(own, str) else []),
            *(text for one in blocks.values() for text in slack_texts(one)),
        ]
    return []


def telegram_text(message: Formatted) -> str:
    return "".join(part.text for part in message.parts)


def test_the_dangers_stand_right_above_the_buttons_in_slack() -> None:
    *_, before, actions = in_slack([a_card()])["blocks"]

    assert slack_texts(before) == [SAID]
    assert before["elements"][0]["elements"][0]["style"] == {"bold": True}
    assert actions["type"] == "actions"


def test_the_dangers_are_the_last_line_in_telegram_and_bold() -> None:
    last = in_telegram(a_card()).parts[-1]

    assert last.text.strip() == SAID
    assert last.look is not None


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "⚠️ Danger: look-alike letters: p⟨U+0430⟩ypal"),
        ("de", "⚠️ Achtung: täuschend ähnliche Buchstaben: p⟨U+0430⟩ypal"),
    ],
)
def test_letters_that_look_like_others_are_spelled_out_in_both_chats(
    language: str, said: str
) -> None:
    translations = load_translations(language)
    for card in (
        a_card("curl p\u0430ypal.com", translations=translations),
        a_card("ls", tool="p\u0430ypal", translations=translations),
        a_card("ls", agent="p\u0430ypal", translations=translations),
    ):
        assert said in slack_texts(in_slack([card])["blocks"])
        assert said in telegram_text(in_telegram(card))


def test_a_program_that_only_seems_to_be_ascii_is_spelled_out() -> None:
    assert a_card("\u0441\u0440 a b").danger() == ("Danger: look-alike letters: ⟨U+0441⟩⟨U+0440⟩")


def test_a_mark_names_its_word_wherever_it_stands() -> None:
    card = a_card("ls | \u0441\u0440 a b")

    assert card.danger() == "Danger: look-alike letters: ⟨U+0441⟩⟨U+0440⟩"


def test_the_second_step_says_them_too() -> None:
    card = a_card("terraform destroy")
    said = "⚠️ Danger: destroys resources"
    choice = next(choice for choice in card.body.choices if choice.stores)
    confirming = replace(card, state=Open(confirming=choice))

    assert said in slack_texts(in_slack([confirming])["blocks"])
    assert said in telegram_text(in_telegram(confirming))


def test_each_line_of_a_bundle_says_its_own() -> None:
    cards = [a_card(), a_card("ls"), a_card("terraform destroy")]
    numbered = [replace(one, number=n, count=3) for n, one in enumerate(cards, 1)]

    slack = slack_texts(bundle_in_slack(numbered)["blocks"])
    telegram = telegram_text(bundle_in_telegram(numbered))

    for said in (SAID, "⚠️ Danger: destroys resources"):
        assert slack.count(said) == 1
        assert telegram.count(said) == 1


def test_a_notification_says_them_within_its_first_lines() -> None:
    lines = list(plain_lines(a_card(), label=lambda choice: choice.label))

    assert lines[1] == SAID.removeprefix("⚠️ ")


def test_nothing_is_said_where_nothing_was_found_and_after_the_end() -> None:
    quiet = a_card("git status")
    ended = a_card(state=Ended("approved", NOW))

    for card in (quiet, ended):
        assert "⚠️" not in str(in_slack([card])["blocks"])
        assert "⚠️" not in telegram_text(in_telegram(card))


def test_the_gravest_are_said_and_the_others_counted() -> None:
    card = a_card()
    card = replace(card, body=replace(card.body, dangers=EVERY))

    assert card.danger(2) == f"Danger: {EVERY[0]} · {EVERY[1]} · {len(EVERY) - 2} more"


def test_the_thing_itself_is_shown_as_it_is_without_a_danger() -> None:
    card = a_card()
    plain = replace(card, body=replace(card.body, dangers=()))

    assert card.choices == plain.choices
    assert card.content == plain.content


def test_all_dangers_fit_on_the_largest_card_and_in_the_largest_bundle() -> None:
    card = a_card("x" * 5_000)
    large = replace(card, body=replace(card.body, dangers=EVERY, description="y" * 600))
    rooms = room_in_slack(large.body, MOST_IN_BUNDLE), room_in_telegram(large.body, MOST_IN_BUNDLE)

    check_blocks(in_slack([large])["blocks"])
    assert count_units(telegram_text(in_telegram(large))) <= 4_096
    for room, show in zip(rooms, ("slack", "telegram"), strict=True):
        assert room is not None
        lines = [
            replace(
                large,
                limit=room.content,
                description_limit=room.description,
                number=n,
                count=MOST_IN_BUNDLE,
            )
            for n in range(1, MOST_IN_BUNDLE + 1)
        ]
        if show == "slack":
            check_blocks(bundle_in_slack(lines)["blocks"])
        else:
            assert count_units(telegram_text(bundle_in_telegram(lines))) <= 4_096
