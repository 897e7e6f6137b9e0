"""Agent text on a card: nothing invisible, nothing secret."""

from __future__ import annotations

import pytest

from assent.text import redacted, redacted_text, shortened, visible


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("ls -la", "ls -la"),
        ("naïve 日本語 🙂", "naïve 日本語 🙂"),
        ("rm\u202e fdp", "rm⟨U+202E⟩ fdp"),
        ("a\u200bb", "a⟨U+200B⟩b"),
        ("a\u2066b\u2069", "a⟨U+2066⟩b⟨U+2069⟩"),
        ("bell\x07", "bell⟨U+0007⟩"),
        ("a\rb", "a⟨U+000D⟩b"),
        ("\x1b[31mred", "⟨U+001B⟩[31mred"),
        ("a\u2028b", "a⟨U+2028⟩b"),
        ("a\u00a0b", "a b"),
        ("soft\u00adhyphen", "soft⟨U+00AD⟩hyphen"),
        ("\u3164", "⟨U+3164⟩"),
        ("tag\U000e0041", "tag⟨U+E0041⟩"),
        ("\ud800", "⟨U+D800⟩"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
    ],
)
def test_what_acts_unseen_is_spelled_out(text: str, seen: str) -> None:
    assert visible(text) == seen


def test_a_one_line_field_stays_on_one_line() -> None:
    assert visible("Approved\nby: alice\tnow", one_line=True) == "Approved⏎by: alice now"


# Composed here, so that no file of the project holds anything of the shape of a secret.
SECRETS = [
    "xoxb" + "-1234567890-abcdefghij",
    "xapp" + "-1-A0123-456-abcdef0123",
    "123456789:" + "A" * 35,
    "ghp_" + "a" * 36,
    "sk-" + "b" * 40,
    "AKIA" + "C" * 16,
    "eyJ" + "d" * 12 + ".eyJ" + "e" * 12 + "." + "f" * 20,
    "-----BEGIN RSA " + "PRIVATE KEY-----\nabc\n-----END RSA " + "PRIVATE KEY-----",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_a_known_kind_of_secret_is_not_shown(secret: str) -> None:
    shown = redacted_text(f"curl -H {secret} https://example.com")

    assert secret not in shown
    assert "[redacted]" in shown
    assert shown.startswith("curl -H ")
    assert shown.endswith("https://example.com")


def test_a_password_in_a_url_is_not_shown() -> None:
    assert redacted_text("psql postgres://bob:hunter2@db/x") == "psql postgres://[redacted]@db/x"


@pytest.mark.parametrize(
    "key",
    [
        "password",
        "DB_PASSWORD",
        "apiKey",
        "api-key",
        "client_secret",
        "accessToken",
        "Authorization",
    ],
)
def test_a_value_under_a_secret_name_is_not_shown(key: str) -> None:
    assert redacted({"deep": [{key: {"a": "hunter2"}}]}) == {"deep": [{key: "[redacted]"}]}


@pytest.mark.parametrize("key", ["monkey", "author", "tokens_used", "passenger", "keyboard"])
def test_a_harmless_name_hides_nothing(key: str) -> None:
    assert redacted({key: "x"}) == {key: "x"}


def test_a_cut_text_says_so() -> None:
    assert shortened("abcdef", 4) == "abc…"
    assert shortened("abcd", 4) == "abcd"
