"""Letters that look like others: found in words, hosts and accounts, and in no ordinary text."""

from __future__ import annotations

import time

import pytest

from sayso.text.lookalikes import lookalike_in, poses, spell_out


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("open p\u0430ypal.com", "p\u0430ypal"),
        ("\u0441url https://example.com", "\u0441url"),
        ("C\u041eVID and C0VID", "C\u041eVID"),
        ("g\u03bfogle", "g\u03bfogle"),
        ("\u0562eta", "\u0562eta"),
        ("\uff50aypal", "\uff50aypal"),
        ("\U0001d429aypal", "\U0001d429aypal"),
        ("a\u0301\u0430", "a\u0301\u0430"),
        ("https://\u0430\u0440\u0440\u04cf\u0435.com/x", "\u0430\u0440\u0440\u04cf\u0435"),
        ("git@\u0455\u0455\u04bb.com:x", "\u0455\u0455\u04bb"),
        ("\u0441\u0435\u043e@example.com", "\u0441\u0435\u043e"),
        ("googl\u0435", "googl\u0435"),
        ("googl\u0435\u00e9", "googl\u0435\u00e9"),
        ("https://g\u0131thub.com/x", "g\u0131thub.com"),
        ("https://\u0262ithub.com", "\u0262ithub.com"),
        ("https://\u217cinkedin.com", "\u217cinkedin.com"),
        ("https://a.com\u2215b.example", "a.com\u2215b.example"),
        ("https://a.com\u2044login", "a.com\u2044login"),
        ("https://PDFка.com", "PDFка"),
        ("thanks @\u0441\u0435\u043e!", "\u0441\u0435\u043e"),
        ("https://\u03b1\u03bd.com", "\u03b1\u03bd"),
        ("https://\u0251.com", "\u0251"),
    ],
)
def test_a_word_that_mixes_alphabets_and_a_host_that_seems_ascii_are_found(
    text: str, word: str
) -> None:
    assert lookalike_in(text) == word


@pytest.mark.parametrize(
    "text",
    [
        "curl https://example.com/a@b",
        "Сходи на https://россия.рф и на https://россия.com, а потом в VPN-клиент",
        "VPN-ключ, USB-порт, 3D-модель, 1С, iPhone'ом, git-репозиторий",
        "PDFка, URLы, VIPы, PDFάκια, ITшник, URLу, 100Mбит",
        "ıstanbul, 1⁄2, a∕b, ɢ, ⅳ",
        "оса@пример.рф https://оса.рф",
        "fix: исправил а, о и с",
        "Ελλάδα και κόσμος, το API",
        "TシャツのSQL文、ＷｅｂサイトのURL",
        "10 μs, 4 kΩ, TNFα, NFκB, πr², Δt, 5 µm",
        "Straße naïve Ångström ﬁle 1ª Mª kapıcı İstanbul",
        "https://münchen.de https://日本語.jp",
        "한국어 API를 עברית עם SQL العربية",
    ],
)
def test_ordinary_texts_of_many_languages_have_none(text: str) -> None:
    assert lookalike_in(text) == ""


def test_of_a_name_every_letter_counts() -> None:
    assert poses("\u0441\u0440") == "\u0441\u0440"
    assert poses("deploy-\u0430\u0441\u0435") == "\u0430\u0441\u0435"
    assert [poses(name) for name in ("cp", "копия", "Иван", "münchen", "日本")] == [""] * 5


def test_the_letters_are_spelled_out() -> None:
    assert spell_out("p\u0430ypal") == "p⟨U+0430⟩ypal"


@pytest.mark.parametrize("piece", ["я", "яa", "a@", "я.я@", "://", "я ", "@" * 9 + "я", "日"])
def test_a_hostile_text_takes_time_in_proportion(piece: str) -> None:
    text = (piece * 120_000)[:120_000] + "я"
    began = time.process_time()
    lookalike_in(text)

    assert time.process_time() - began < 5
