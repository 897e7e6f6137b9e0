"""Catalogs: complete, up to date, compiled, and with the gaps of the English texts."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from gettext import GNUTranslations
from io import BytesIO
from pathlib import Path
from string import Formatter

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.frontend import CommandLineInterface
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from sayso import ToolCall
from sayso.always.terms import span
from sayso.cards.outcomes import outcome_by
from sayso.formats import formats_of
from sayso.known.wordings import well_known
from sayso.locales import NAMES, load_translations
from sayso.text.visible import format_count, unmarked

ROOT = Path(__file__).parents[3]
LOCALES = ROOT / "core/sayso/locales"
OTHERS = [tag for tag in NAMES if tag != "en"]
GERMAN = load_translations("de")
# What is the same in a language as in English.
SAME = {"de": {"JSON"}}
TRANSLATES = ("gettext", "ngettext", "pgettext", "format_count")
# docs.slack.dev: the title of a modal and what its buttons say have 24 characters, the buttons of
# a confirmation 30. Labels behind More… have 40 of the 75 of a button.
LABELS = {
    24: (
        "Edit the arguments",
        "Deny with a reason",
        "Ask for changes",
        "Your answer",
        "Fill in",
        "All that is asked",
        "Allow with these",
        "Send",
        "Cancel",
        "Close",
        "Without a reason",
        "Keep it",
        "Too late",
        "Not taken",
    ),
    30: ("Not now",),
    40: (
        "Allow",
        "Deny",
        "Edit arguments…",
        "Deny with a reason…",
        "Ask for changes…",
        "Answer…",
        "Other…",
        "Don't answer",
        "Approve",
        "Fill in…",
        "Continue (+{count})",
        "Stop",
        "Show all",
        "More…",
        "Back",
        "Revoke",
        "Details",
        "Allow all",
        "Deny all",
        "Always",
        "Always deny",
        "Whole tool",
        "Always, in all sessions",
        "Always: lines that only look",
        "Always: this, however shown",
        "Always: in this project",
        "Always: these arguments",
    ),
}


def catalog(tag: str) -> Catalog:
    with (LOCALES / tag / "LC_MESSAGES/sayso.po").open("rb") as file:
        return read_po(file, locale=tag)


def texts_of(message: Message) -> tuple[str, ...]:
    said = message.string
    return (said,) if isinstance(said, str) else tuple(said or ())


def gaps_of(template: str) -> list[tuple[str, str]]:
    parts = Formatter().parse(template)
    return sorted((gap, form or "") for _, gap, form, _ in parts if gap is not None)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """What `make locales` would collect now."""
    found = tmp_path_factory.mktemp("locales") / "sayso.pot"
    collect = ["pybabel", "-q", "extract", "-F", str(ROOT / "pyproject.toml"), "-o", str(found)]
    CommandLineInterface().run([*collect, str(ROOT / "core"), str(ROOT / "adapters")])
    with found.open("rb") as file:
        return read_po(file)


@pytest.mark.parametrize("tag", OTHERS)
def test_a_catalog_has_all_texts_of_the_code_and_no_other(template: Catalog, tag: str) -> None:
    texts = catalog(tag)

    wanted = {(message.context, message.id) for message in template if message.id}
    kept = {(message.context, message.id) for message in texts if message.id}
    assert (wanted - kept, kept - wanted, dict(texts.obsolete)) == (set(), set(), {})


@pytest.mark.parametrize("tag", OTHERS)
def test_every_text_is_translated_with_the_gaps_of_the_english_one(tag: str) -> None:
    for message in catalog(tag):
        if not message.id:
            continue
        english = (message.id, message.id) if isinstance(message.id, str) else tuple(message.id)
        assert not message.fuzzy, message.id
        for number, text in enumerate(texts_of(message)):
            assert text.strip(), message.id
            if message.context is None and "{at:" not in text:
                assert text not in english or text in SAME[tag], message.id
                assert gaps_of(text) == gaps_of(english[min(number, 1)]), message.id


@pytest.mark.parametrize("tag", OTHERS)
def test_what_is_loaded_is_compiled_from_the_catalog(tag: str) -> None:
    compiled = BytesIO()
    write_mo(compiled, catalog(tag))

    assert (LOCALES / tag / "LC_MESSAGES/sayso.mo").read_bytes() == compiled.getvalue()


@pytest.mark.parametrize("tag", NAMES)
def test_labels_fit_where_they_stand_and_no_two_buttons_of_a_card_are_alike(tag: str) -> None:
    translations = load_translations(tag)
    labels = {most: list(map(translations.gettext, texts)) for most, texts in LABELS.items()}

    assert [one for most, texts in labels.items() for one in texts if len(one) > most] == []
    assert [one for one, count in Counter(labels[40]).items() if count > 1] == []


@pytest.mark.parametrize("tag", NAMES)
def test_nobody_but_us_can_say_that_lines_are_left_out(tag: str) -> None:
    for count in (1, 3, 12_345):
        mark = format_count(
            load_translations(tag), "[{count} unchanged line]", "[{count} unchanged lines]", count
        )

        assert unmarked(mark) == f"⟨U+005B⟩{mark[1:]}"


def test_no_text_is_hidden_from_the_catalogs_or_frozen_at_import() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for source in ("core", "adapters")
        for path in sorted((ROOT / source).rglob("*.py"))
        for node in _hidden(ast.parse(path.read_text()))
    ]

    assert found == []


def _hidden(tree: ast.Module) -> Iterator[ast.Call]:
    """Translations in f-strings, where Babel reads none before Python 3.12, and at import."""
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    outside = [one for one in tree.body if not isinstance(one, definitions)]
    strings = [one for one in ast.walk(tree) if isinstance(one, ast.JoinedStr)]
    for node in (*outside, *strings):
        for part in ast.walk(node):
            if isinstance(part, ast.Call) and ast.unparse(part.func).endswith(TRANSLATES):
                yield part


def test_german_writes_numbers_times_and_lengths_as_germans_do() -> None:
    lines = "{count} more line", "{count} more lines"

    assert format_count(GERMAN, *lines, 1) == "noch 1 Zeile"
    assert format_count(GERMAN, *lines, 12_345) == "noch 12.345 Zeilen"
    assert formats_of(GERMAN).number(0.5) == "0,5"
    moment = datetime(2026, 1, 9, 14, 5, tzinfo=UTC)
    assert formats_of(GERMAN).time(moment) == "09.01.2026, 14:05 UTC"
    assert span(timedelta(days=30), GERMAN) == "30 Tage"
    assert span(timedelta(seconds=90), GERMAN) == "90 Sekunden"
    assert outcome_by(GERMAN, "approved", "Ana") == "genehmigt von Ana"


def test_calls_of_well_known_tools_are_told_in_german_with_german_amounts() -> None:
    refund = {"amount": 125_000, "currency": "eur", "payment_intent": "pi_1"}
    paid = well_known(ToolCall("mcp__stripe__create_refund", refund), refund, GERMAN)

    assert paid is not None
    assert paid.title == "Zahlung erstatten"
    assert paid.facts == (("Betrag", "1.250,00 EUR"), ("Zahlung", "pi_1"))


def test_people_are_addressed_in_one_way_everywhere() -> None:
    familiar = re.compile(r"\b(?:du|dich|dir|dein\w*|euch|euer|eure\w*)\b", re.IGNORECASE)

    texts = [text for message in catalog("de") for text in texts_of(message)]
    assert [text for text in texts if familiar.search(text)] == []


def test_a_language_may_have_more_plural_forms_than_english() -> None:
    lines = "{count} more line", "{count} more lines"
    polish, compiled = Catalog(locale="pl"), BytesIO()
    polish.add(lines, ("{count} wiersz", "{count} wiersze", "{count} wierszy"))
    write_mo(compiled, polish)
    translations = GNUTranslations(BytesIO(compiled.getvalue()))

    told = [format_count(translations, *lines, count) for count in (1, 2, 5)]

    assert told == ["1 wiersz", "2 wiersze", "5 wierszy"]


def test_what_there_is_no_catalog_of_is_in_english() -> None:
    assert load_translations("fr").gettext("Allow") == "Allow"
