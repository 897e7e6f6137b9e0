import json
from urllib.parse import parse_qsl, urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.clock import Clock
from support.examples import examples
from support.slack_kit import (
    FORM,
    JSON,
    Client,
    a_press,
    fixture,
    on_the_wire,
    post,
    signed,
)

from sayso.errors import CallbackError
from sayso_slack.reading.payload import decoded


def read(content_type: str, body: bytes) -> dict[str, object]:
    return decoded({"Content-Type": content_type}, body)


def test_an_interaction_is_the_json_in_its_field_payload() -> None:
    assert read(*on_the_wire(a_press())) == a_press()


def test_an_event_is_its_json_body() -> None:
    event = fixture("event_app_uninstalled.json")

    assert read(*on_the_wire(event, "json")) == event


def test_a_slash_command_is_its_fields_also_when_it_says_payload() -> None:
    command = {**fixture("slash_command_enterprise.json"), "text": "deploy the payload=now"}

    assert read(*on_the_wire(command, "form-fields")) == command


@pytest.mark.parametrize("kind", [f"{JSON}; charset=utf-8", "Application/JSON", f" {JSON} ;x=y"])
def test_parameters_and_case_of_the_content_type_do_not_matter(kind: str) -> None:
    assert read(kind, b'{"a": 1}') == {"a": 1}


@pytest.mark.parametrize("kind", ["", "text/plain", "multipart/form-data", "application/jsonx"])
def test_other_content_types_are_unreadable(kind: str) -> None:
    with pytest.raises(CallbackError, match="neither a form nor JSON"):
        read(kind, b'{"a": 1}')


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (JSON, b""),
        (JSON, b"{"),
        (JSON, b"[1]"),
        (JSON, b'"text"'),
        (JSON, b"null"),
        (JSON, b"[" * 100_000),
        (JSON, b'{"n": ' + b"9" * 10_000 + b"}"),
        (JSON, b'{"a": "\xff"}'),
        (JSON, b'{"a": {"b": ["\\ud800"]}}'),
        (JSON, b'{"\\uDC00": 1}'),
        (FORM, b"payload=%7B%22a%22%3A%22%5Cud83d%22%7D"),
        (JSON, b'\xef\xbb\xbf{"a": 1}'),
        (FORM, b"payload="),
        (FORM, b"payload"),
        (FORM, b"payload=%7B"),
        (FORM, b"payload=%5B%5D"),
        (FORM, b"payload=%FF%FE"),
        (FORM, b"payload=%7B%22a%22%3A%22%FF%22%7D"),
        (FORM, b"payload=%7B%22a%22%3A%22%ED%A0%80%22%7D"),
        (FORM, b"payload=\xff"),
        (FORM, b"payload=%7B%7D&payload=%7B%7D"),
        (FORM, b"payload=%7B%7D&x=1"),
        (FORM, b"&".join(b"a=1" for _ in range(1_000))),
    ],
)
def test_garbage_is_unreadable_and_quotes_nothing(kind: str, body: bytes) -> None:
    with pytest.raises(CallbackError) as caught:
        read(kind, body)

    assert len(str(caught.value)) < 80
    assert caught.value.__cause__ is None


def test_a_whole_surrogate_pair_is_a_character() -> None:
    assert read(JSON, b'{"a": "\\ud83d\\ude00"}') == {"a": "\U0001f600"}


def test_a_replacement_character_that_was_really_sent_is_kept() -> None:
    body = urlencode({"payload": json.dumps({"a": "\ufffd"}, ensure_ascii=False)}).encode()

    assert read(FORM, body) == {"a": "\ufffd"}


@settings(max_examples=examples(200), database=None)
@given(st.dictionaries(st.text(min_size=1).filter(lambda k: k != "payload"), st.text(), max_size=5))
def test_forms_are_decoded_as_the_standard_library_does(fields: dict[str, str]) -> None:
    fields = {k: v for k, v in fields.items() if _is_utf8(k + v)}
    body = urlencode(fields)

    assert read(FORM, body.encode()) == dict(parse_qsl(body, keep_blank_values=True))


def _is_utf8(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


async def test_a_callback_of_any_depth_is_answered(client: Client, clock: Clock) -> None:
    statuses = set()
    for depth in range(850, 1_000):
        deep = "[" * depth + r'"\ud83d\ude00"' + "]" * depth
        document = json.dumps(a_press())[:-1] + f', "deep": {deep}}}'
        body = document.encode()
        headers = signed(body, clock.seconds(), content_type=JSON)
        statuses.add((await post(client, headers, body))[0])

    assert statuses <= {200, 400}
