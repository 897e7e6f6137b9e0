"""All tables there are, in all languages there are: what is missing, and what does not fit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from unicodedata import normalize

import pytest
from support.tables import counted_of, gaps_of, texts_of

from sayso.languages import NAMES
from sayso.languages.tables import CONVERSATIONS, DESK
from sayso.text.blanks import unmarked
from sayso_slack.languages import LANGUAGES as SLACK
from sayso_telegram.languages import LANGUAGES as TELEGRAM

TABLES: Mapping[str, Mapping[str, Any]] = {
    "desk": DESK,
    "conversations": CONVERSATIONS,
    "slack": SLACK,
    "telegram": TELEGRAM,
}
OTHERS = [tag for tag in NAMES if tag != "en"]
# Words that are the same in a language as in English, each looked at by somebody who speaks it.
SAME: Mapping[str, frozenset[str]] = {"de": frozenset()}
# In a mapping of well-known tools a label of a fact is its key.
_LABEL = re.compile(r"(\.facts)\[[^]]*\]$")
# docs.slack.dev: the title of a modal and what its buttons say have 24 characters, the buttons of
# a confirmation 30. Labels behind More… have 40 of the 75 of a button.
TITLES = (
    "questions.edit_title",
    "questions.denial",
    "questions.changes_title",
    "questions.your_answer",
    "questions.cards.forms.fill_in",
    "questions.cards.all_asked",
)
SUBMITS = (
    "questions.allow_these",
    "questions.deny",
    "questions.cards.forms.send",
    "questions.cards.forms.cancel",
    "questions.cards.close",
    "questions.leave_reason_out",
    "calls.revoke",
    "calls.keep",
)
BUTTONS = (
    "questions.allow",
    "questions.deny",
    "questions.edit",
    "questions.deny_with_reason",
    "questions.ask_for_changes",
    "questions.answer_it",
    "questions.answer_otherwise",
    "questions.decline",
    "questions.approve",
    "questions.fill_in",
    "questions.go_on",
    "questions.stop",
    "questions.cards.show_all",
    "questions.cards.more",
    "questions.cards.back",
    "questions.cards.revoke",
    "questions.cards.details",
    "questions.cards.allow_all",
    "questions.cards.deny_all",
    "questions.always.always",
    "questions.always.always_deny",
    "questions.always.whole_tool",
    "questions.always.all_sessions",
    "questions.always.always_looks",
    "questions.always.always_same",
    "questions.always.always_project",
    "questions.always.always_these",
    "questions.cards.forms.skip",
    "questions.cards.forms.done",
    "questions.cards.forms.leave_out",
)


def by_path(table: Any) -> dict[str, str]:
    return {_numbered(path, number): text for number, (path, text) in enumerate(texts_of(table))}


def _numbered(path: str, number: int) -> str:
    """Labels are told apart by where they stand: they are another word in each language."""
    return _LABEL.sub(rf"\1[{number}]", path)


def test_every_language_has_every_table_and_its_tag() -> None:
    for tables in TABLES.values():
        assert tables.keys() == NAMES.keys()
    for tag in NAMES:
        words = DESK[tag]
        assert (words.tag, words.questions.limits.tag) == (tag, tag)
        assert CONVERSATIONS[tag].cards is words.cards
        assert SLACK[tag].cards is words.cards
        assert SLACK[tag].calls is words.calls
        assert TELEGRAM[tag].conversations is CONVERSATIONS[tag]
        assert TELEGRAM[tag].calls is words.calls


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("tag", OTHERS)
def test_no_word_of_a_language_is_missing(tag: str, name: str) -> None:
    english, theirs = by_path(TABLES[name]["en"]), by_path(TABLES[name][tag])

    assert theirs.keys() == english.keys()
    assert [path for path, text in theirs.items() if english[path] and not text.strip()] == []
    assert {english[path] for path in _untranslated(english, theirs)} <= SAME[tag]


def _untranslated(english: Mapping[str, str], theirs: Mapping[str, str]) -> list[str]:
    """What is as it is in English, but for templates without a word."""
    return [path for path, text in theirs.items() if text == english[path] and _has_words(text)]


def _has_words(template: str) -> bool:
    return bool(re.search(r"[A-Za-z]{2,}", re.sub(r"\{[^}]*\}", "", template)))


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("tag", OTHERS)
def test_every_template_has_the_gaps_of_the_english_one(tag: str, name: str) -> None:
    english, theirs = by_path(TABLES[name]["en"]), by_path(TABLES[name][tag])

    wrong = {
        path: text
        for path, text in theirs.items()
        if sorted(gaps_of(text)) != sorted(gaps_of(english[path]))
    }
    assert wrong == {}


@pytest.mark.parametrize("tag", NAMES)
def test_what_counts_is_written_as_the_language_writes_numbers(tag: str) -> None:
    formats = DESK[tag].cards.formats

    for table in TABLES.values():
        for path, counted in counted_of(table[tag]):
            assert counted.formats is formats, path
            assert "{count:" not in counted.one + counted.other, path


@pytest.mark.parametrize("tag", NAMES)
def test_labels_fit_where_they_stand(tag: str) -> None:
    words = by_path(DESK[tag])

    for paths, most in ((TITLES, 24), (SUBMITS, 24), (BUTTONS, 40)):
        assert {path: words[path] for path in paths if len(words[path]) > most} == {}
    assert len(SLACK[tag].too_late) <= 24
    assert len(SLACK[tag].not_taken) <= 24
    assert len(words["questions.cards.not_now"]) <= 30
    # A toast of Telegram has 200 characters.
    assert max(len(TELEGRAM[tag].not_stored), len(TELEGRAM[tag].not_shown)) <= 200


@pytest.mark.parametrize("tag", NAMES)
def test_nobody_but_us_can_say_that_lines_are_left_out(tag: str) -> None:
    for count in (1, 3, 12_345):
        mark = DESK[tag].cards.values.unchanged.of(count)

        assert unmarked(mark) == f"⟨U+005B⟩{mark[1:]}"
        assert unmarked(normalize("NFD", mark)).startswith("⟨U+005B⟩")


@pytest.mark.parametrize("tag", NAMES)
def test_no_two_buttons_of_one_card_say_the_same(tag: str) -> None:
    words = by_path(DESK[tag])
    said = [words[path] for path in BUTTONS if ".forms." not in path]

    assert len(set(said)) == len(said)
    assert len(set(DESK[tag].cards.forms.steps)) == len(DESK[tag].cards.forms.steps)


def test_a_word_that_is_missing_or_was_not_translated_would_be_found() -> None:
    german = DESK["de"]
    forgotten = replace(german, unknown=DESK["en"].unknown, recorded="")
    english, theirs = by_path(DESK["en"]), by_path(forgotten)

    assert _untranslated(english, theirs) == ["unknown"]
    assert [p for p, t in theirs.items() if english[p] and not t.strip()] == ["recorded"]
