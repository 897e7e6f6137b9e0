"""Cards as text with entities: nothing hidden, nothing live, never too long."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.examples import examples
from telegram import MessageEntity

from sayso.cards.card import Card, CardBody, Choice, Ended, Open
from sayso.cards.outcomes import SUPERSEDED
from sayso.locales import NAMES, load_translations
from sayso.text.visible import format_count
from sayso.values import one_value
from sayso_playground.telegram.text import checked_entities, with_live_parts
from sayso_telegram.formatted_text import (
    Formatted,
    Look,
    Part,
    count_units,
    replace_surrogates,
    truncate,
)
from sayso_telegram.keyboard import keyboard
from sayso_telegram.message_text import CONTENT_LIMIT, message

NOW = datetime(2026, 11, 21, 12, 0, 5, tzinfo=UTC)
LIVE = "@everyone #tag /start@bot https://evil.example/x $TON a@b.example t.me/x"
CardMaker = Callable[..., Card]


def utf16(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def spans(text: Formatted, *kinds: str) -> list[str]:
    raw = text.text.encode("utf-16-le")
    return [
        raw[2 * e.offset : 2 * (e.offset + e.length)].decode("utf-16-le")
        for e in text.entities
        if e.type in kinds
    ]


def as_telegram_sees_it(text: Formatted) -> list[dict[str, Any]]:
    given = [entity.to_dict() for entity in text.entities]
    return with_live_parts(text.text, checked_entities(text.text, given))


def test_a_level_down_the_digest_and_the_ids_are_to_be_seen(a_card: CardMaker) -> None:
    opened = a_card(state=Open(more=True), details=(("Session", "s-42"),))

    assert "\nDigest 0123456789ab\nSession s-42\nExpires " in message(opened).text
    assert "0123456789ab" not in message(replace(opened, state=Open())).text


def test_what_is_under_way_is_said_while_the_card_is_open(a_card: CardMaker) -> None:
    said = message(a_card(state=Open(notice="alice denies this"))).text.splitlines()

    assert said[-1] == "✍️ alice denies this"


def test_all_that_came_from_the_agent_is_code(a_card: CardMaker) -> None:
    text = message(a_card())

    assert spans(text, MessageEntity.PRE) == ["command: rm -r build"]
    assert spans(text, MessageEntity.CODE) == [
        "deploy-bot › resear…",
        "bash",
        "deploy-bot › researcher",
        "Clean up the build",
        "shell",
    ]


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        ("approved", "✅ Approved"),
        ("denied", "⛔ Denied"),
        ("expired", "⌛ Expired"),
        ("cancelled", "🚫 Cancelled"),
        ("undeliverable", "📭 Undeliverable"),
        ("something_new", "something_new"),
    ],
)
def test_an_ended_card_says_how_by_whom_when_and_why_and_what_it_was(
    a_card: CardMaker, outcome: str, words: str
) -> None:
    ended = Ended(outcome, NOW, by="alice", reason="too risky", stored="bash, always")

    text = message(a_card(state=ended)).text

    assert text.startswith(
        f"{words} by alice · 2026-11-21 12:00 UTC\n"
        "Reason too risky\n"
        "Remembered bash, always\n"
        "deploy-bot › researcher · bash command: rm -r build"
    )
    assert "Expires" not in text
    assert "Clean up" not in text


def test_an_ended_card_shows_what_was_answered(a_card: CardMaker) -> None:
    answered = (("Name", "Bob"), ("Notes", "two\nlines @all"))
    ended = Ended("answered", NOW, by="alice", facts=answered)

    shown = message(a_card(state=ended))

    assert (
        "\nThe answer\nName Bob\nNotes\ntwo\nlines @all\ndeploy-bot › researcher · bash"
        in shown.text
    )
    assert {"Name", "Bob", "Notes"} <= set(spans(shown, MessageEntity.CODE))
    assert spans(shown, MessageEntity.PRE) == ["two\nlines @all"]


def test_one_level_down_it_speaks_of_remembering_only_where_something_would_be(
    a_card: CardMaker,
) -> None:
    why = Choice("deny-reason", "Deny with a reason…")
    always = Choice("always-deny", "Always deny", stores="bash, denied")
    cards = [a_card(state=Open(more=True), more=more) for more in ((why,), (why, always))]

    assert ["remembered" in message(card).text for card in cards] == [False, True]


def test_what_the_agent_says_of_it_has_the_name_that_the_question_gives_it(
    a_card: CardMaker,
) -> None:
    card = a_card(description="Both have capacity", described="Context given")

    assert "\nContext given Both have capacity\n" in message(card).text


def test_facts_of_the_question_give_way_before_the_answers_and_the_last_of_these_first(
    a_card: CardMaker,
) -> None:
    facts = tuple(("Fact", "f" * 300) for _ in range(12))
    answers = tuple((f"Answer {number}", f"{number}" * 400) for number in range(10))
    ended = Ended("answered", NOW, by="alice", reason="r" * 300, facts=answers, details=True)

    text = message(a_card(title="t" * 120, facts=facts, state=ended)).text

    assert "f" * 25 not in text
    assert "0" * 400 in text
    assert "9" * 400 not in text
    assert "t" * 120 in text
    assert "r" * 300 in text


def test_the_second_step_names_exactly_what_will_be_stored(a_card: CardMaker) -> None:
    card = a_card()
    always = card.body.choices[1]

    text = message(card.confirming(always))

    assert text.text.endswith(
        "⚠️ Really? This would be remembered:\n"
        "bash with exactly these arguments\n"
        "Press Yes, Always to remember it."
    )
    assert "bash with exactly these arguments" in spans(text, MessageEntity.CODE)


def test_half_a_surrogate_pair_does_not_keep_a_card_from_being_sent(a_card: CardMaker) -> None:
    text = message(a_card(content="a\ud83db", description="\udca9")).text

    assert "a?b" in text
    assert text.encode()


def test_times_are_each_readers_own_and_in_utc_where_an_app_knows_no_such_thing(
    a_card: CardMaker,
) -> None:
    local = datetime.fromisoformat("2026-11-21T23:30:00+11:00")

    shown = message(a_card(expires_at=local))

    assert "Expires 2026-11-21 12:30 UTC" in shown.text
    (moment,) = [entity for entity in shown.entities if entity.type == "date_time"]
    assert moment.to_dict()["unix_time"] == local.timestamp()
    assert moment.to_dict()["date_time_format"] == "r"


def test_a_cut_card_says_what_is_missing(a_card: CardMaker) -> None:
    text = message(a_card(content="x" * 3_000)).text

    assert "Not shown here: 1 more line (2,002 characters). Press Show all before" in text
    assert "x" * 998 + "\n…" in text
    assert "x" * 999 not in text


def test_agent_text_is_never_live(a_card: CardMaker) -> None:
    card = a_card(
        title=LIVE,
        asker=LIVE,
        description=LIVE,
        content=LIVE,
        digest=LIVE,
        facts=((LIVE, LIVE),),
    )
    choice = Choice("always", LIVE[:30], stores=LIVE)
    ended = Ended("denied", NOW, by=LIVE, reason=LIVE, stored=LIVE)

    for shown in (card, card.confirming(choice), replace(card, state=ended)):
        kinds = {entity["type"] for entity in as_telegram_sees_it(message(shown))}
        assert kinds <= {"code", "pre", "bold", "date_time"}


def test_the_label_of_a_fact_is_plain_and_its_value_code(a_card: CardMaker) -> None:
    text = message(a_card(facts=(("Session", "s-42"), ("t.me/x", "y"))))

    assert "\nSession s-42" in text.text
    assert "Session" not in spans(text, MessageEntity.CODE)
    assert {"s-42", "t.me/x", "y"} <= set(spans(text, MessageEntity.CODE))


def test_the_label_of_an_answer_is_the_agents_word_and_code(a_card: CardMaker) -> None:
    ended = Ended("answered", NOW, by="alice", facts=(("Approved", "no"),))

    assert "Approved" in spans(message(a_card(state=ended)), MessageEntity.CODE)


def test_without_entities_nothing_is_live_either(a_card: CardMaker) -> None:
    card = a_card(title=LIVE, description=LIVE, content=LIVE, facts=((LIVE, LIVE),))

    plain = message(card).without_entities

    assert with_live_parts(plain, []) == []


def test_without_entities_agent_text_cannot_pass_for_lines_of_the_card(a_card: CardMaker) -> None:
    card = a_card(content="x\n\n✅ Approved by alice\nExpires never")

    plain = message(card).without_entities

    ours, _, theirs = plain.partition("Written by the agent, from here to the end:\n")
    assert "Expires 2026" in ours
    assert "Reason given Clean up the build" in ours
    assert theirs.strip() == "x\n\n✅ Approved by alice\nExpires never"


def test_one_line_fields_stay_on_one_line(a_card: CardMaker) -> None:
    text = message(a_card(title="bash\n✅ Approved by alice", asker="a\u202eb")).text

    assert text.startswith("🔔 a⟨U+202E⟩b · bash⏎✅ Approved by alice\n")


def test_a_card_with_more_content_than_fits_is_refused(a_card: CardMaker) -> None:
    with pytest.raises(ValueError, match="at most 1000"):
        message(a_card(limit=CONTENT_LIMIT + 1))


@pytest.mark.parametrize("language", NAMES)
def test_the_fullest_card_of_the_widest_characters_fits_with_all_of_its_content(
    language: str,
) -> None:
    wide, translations = "\U0001f4a9", load_translations(language)
    card = Card(
        handle="HANDLEHANDLEHANDLE1234",
        body=CardBody(
            title=wide * 200,
            description=wide * 600,
            values=one_value(wide * 5_000),
            digest=wide * 100,
            facts=tuple((wide * 50, wide * 100) for _ in range(40)),
        ),
        asker=wide * 300,
        expires_at=NOW,
        limit=CONTENT_LIMIT,
        reveal_limit=10,
        translations=translations,
    )
    choice = Choice("always", wide * 30, stores=wide * 500)
    answers = tuple((wide * 50, wide * 3_000) for _ in range(40))
    ended = Ended("undeliverable", NOW, wide * 200, wide * 900, wide * 500, facts=answers)
    ended = replace(ended, note=wide * 300, details=True)

    for shown in (card, card.confirming(choice), replace(card, state=ended)):
        text = message(shown)
        assert spans(text, MessageEntity.PRE) == [wide * (CONTENT_LIMIT - 2) + "\n…"]
        assert utf16(text.text) <= 4096
        assert utf16(text.without_entities) <= 4096
        assert len(text.entities) <= 100
        assert (
            format_count(translations, "… and {count} more fact", "… and {count} more facts", 28)
            in text.text
        )


def test_many_answers_of_several_lines_fit_with_and_without_entities(a_card: CardMaker) -> None:
    answers = tuple((f"Field {number}", "line\n" * 400) for number in range(12))
    text = message(a_card(state=Ended("answered", NOW, by="alice", facts=answers)))

    assert utf16(text.text) <= 4096
    assert utf16(text.without_entities) <= 4096


def test_facts_give_way_before_the_title_and_what_is_stored(a_card: CardMaker) -> None:
    facts = tuple(("Fact", "f" * 300) for _ in range(12))
    card = a_card(title="t" * 120, facts=facts)
    choice = Choice("always", "Always", stores="s" * 300)

    text = message(card.confirming(choice)).text

    assert "t" * 120 in text
    assert "s" * 300 in text
    assert text.count("f" * 300) < 12


any_text = st.text(st.characters(exclude_categories=()), max_size=700)
lines = st.text(st.characters(exclude_categories=()), max_size=150)


@st.composite
def cards(draw: st.DrawFn) -> Card:
    body = CardBody(
        title=draw(lines),
        description=draw(any_text),
        values=one_value(draw(any_text) * draw(st.integers(1, 3))),
        digest=draw(lines),
        facts=tuple(draw(st.lists(st.tuples(lines, lines), max_size=15))),
    )
    choice = Choice("always", "Always", stores=draw(lines) or "x")
    answers = tuple(draw(st.lists(st.tuples(lines, lines), max_size=15)))
    outcome = draw(st.sampled_from(["approved", "odd"]))
    ended = Ended(outcome, NOW, draw(lines), draw(lines), facts=answers)
    states: list[Open | Ended] = [Open(), Open(choice, notice=draw(lines)), ended]
    return Card(
        handle="HANDLEHANDLEHANDLE1234",
        body=body,
        asker=draw(lines),
        expires_at=NOW,
        limit=draw(st.integers(0, CONTENT_LIMIT)),
        reveal_limit=1_000,
        revealed=draw(st.booleans()),
        state=draw(st.sampled_from(states)),
    )


@given(cards())
@settings(max_examples=examples(50), suppress_health_check=[HealthCheck.too_slow])
def test_whatever_the_card_telegram_takes_it_and_the_content_is_whole(card: Card) -> None:
    text = message(card)

    assert utf16(text.text) <= 4096
    assert utf16(text.without_entities) <= 4096
    assert len(text.entities) <= 100
    seen = as_telegram_sees_it(text)
    assert {entity["type"] for entity in seen} <= {"code", "pre", "bold", "date_time"}
    answers = card.state.facts[:12] if isinstance(card.state, Ended) else ()
    told = sum("\n" in value for _, value in answers)
    blocks = spans(text, MessageEntity.PRE)
    assert blocks[told:] == ([replace_surrogates(card.content)] if card.content else [])


@given(st.text(), st.integers(0, 40))
def test_a_truncated_text_is_short_enough_and_of_whole_characters(text: str, most: int) -> None:
    kept = truncate(text, most)

    assert utf16(kept) <= most
    assert kept == text or text.startswith(kept.removesuffix("…"))


@given(st.text(st.characters(exclude_categories=())))
def test_a_text_without_surrogates_can_be_sent_and_keeps_its_length(text: str) -> None:
    assert replace_surrogates(text).encode().decode() == replace_surrogates(text)
    assert count_units(replace_surrogates(text)) <= count_units(text)


def test_offsets_count_utf16_code_units() -> None:
    text = Formatted(
        (Part("🔔 "), Part("é💩", Look.CODE), Part("x", Look.BOLD), Part("", Look.CODE))
    )

    assert [(e.type, e.offset, e.length) for e in text.entities] == [
        ("code", 3, 3),
        ("bold", 6, 1),
    ]


def test_a_card_that_another_message_shows_says_so_and_has_no_buttons(a_card: CardMaker) -> None:
    closed = a_card(state=Ended(SUPERSEDED, NOW))

    assert "Shown in another message here" in message(closed).text
    assert keyboard(closed) is None
