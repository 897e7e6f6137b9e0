"""What may be registered as a receiver."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from support.hooks import KEY, REGISTRATION, SECRET

from sayso_bots.aap.webhooks.receiver import BadReceiverError, Receiver, read_receiver
from sayso_bots.exact import Number

GOOD: dict[str, Any] = {
    "type": "webhook",
    "url": "https://agent.example.com/aap/events",
    "registration_id": REGISTRATION,
    "signing_secret": SECRET,
}


@pytest.mark.parametrize(
    "url",
    [
        "https://agent.example.com",
        "https://agent.example.com/",
        "https://agent.example.com:8443/a/b?c=d%20e&f",
        "HTTPS://Agent.Example.COM./x",
        "https://xn--bcher-kva.example/x",
        "https://8.8.8.8/x",
        "https://[2606:4700::1111]:8443/x",
        "https://my_host/x",
        "https://a.b/;params?q=/@x",
    ],
)
def test_a_url_that_only_says_where_to_go_is_taken_as_it_is(url: str) -> None:
    assert read_receiver({**GOOD, "url": url}) == Receiver(url, REGISTRATION, KEY)


@pytest.mark.parametrize(
    "url",
    [
        "http://agent.example.com/x",
        "ftp://agent.example.com/x",
        "//agent.example.com/x",
        "agent.example.com/x",
        "https:agent.example.com/x",
        "https:///x",
        "https://",
        "https://user@agent.example.com/x",
        "https://user:secret@agent.example.com/x",
        "https://@agent.example.com/x",
        "https://agent.example.com/x#part",
        "https://agent.example.com/x#",
        "https://agent.example.com/a b",
        " https://agent.example.com/x",
        "https://agent.example.com/x ",
        "https://agent.example.com/x\n",
        "https://agent.exa\tmple.com/x",
        "https://agent.example.com\\@127.0.0.1/x",
        "https://agent.example.com:0/x",
        "https://agent.example.com:/x",
        "https://agent.example.com:65536/x",
        "https://agent.example.com:8o/x",
        "https://agent..example.com/x",
        "https://-agent.example.com/x",
        "https://agent%2eexample.com/x",
        "https://bücher.example/x",
        "https://[2606:4700::1]x/",
        "https://[2606:4700::1].example.com/",
        "https://x[2606:4700::1]/",
        "https://127.1/x",
        "https://2130706433/x",
        "https://0x7f000001/x",
        "https://0177.0.0.1/x",
        "https://127.0.0.01/x",
        "https://256.1.1.1/x",
        "https://1.1.1.1./x",
        "https://[::1/x",
        "https://[fe80::1%25eth0]/x",
        "https://[v1.a]/x",
        "https://[127.0.0.1]/x",
        "https://" + "a" * 64 + "." + "b" * 250 + "/x",
        "https://agent.example.com/" + "x" * 2048,
    ],
)
def test_a_url_that_is_not_plain_https_is_refused(url: str) -> None:
    with pytest.raises(BadReceiverError) as refused:
        read_receiver({**GOOD, "url": url})

    assert (refused.value.code, refused.value.param) == ("invalid_webhook_url", "delivery.url")


def test_another_type_of_delivery_is_refused_with_a_code_of_its_own() -> None:
    with pytest.raises(BadReceiverError) as refused:
        read_receiver({"type": "carrier_pigeon", "loft": "north"})

    assert refused.value.code == "unsupported_delivery_type"


@pytest.mark.parametrize(
    "secret",
    [
        base64.b64encode(bytes(32)).decode(),
        "whsec_" + base64.b64encode(bytes(31)).decode(),
        "whsec_" + base64.b64encode(bytes(33)).decode(),
        "whsec_" + base64.b64encode(bytes(32)).decode().rstrip("="),
        "whsec_" + base64.b64encode(bytes(32)).decode()[:-2] + "B=",  # bits that mean nothing
        "whsec_" + base64.urlsafe_b64encode(b"\xff" * 32).decode(),
        "whsec_" + base64.b64encode(bytes(32)).decode() + "\n",
        "whsec_whsec_" + base64.b64encode(bytes(32)).decode(),
        "whsec_ä",
        "whsec_",
    ],
)
def test_a_secret_that_is_not_the_canonical_form_of_32_bytes_is_refused_and_not_quoted(
    secret: str,
) -> None:
    with pytest.raises(BadReceiverError) as refused:
        read_receiver({**GOOD, "signing_secret": secret})

    assert refused.value.param == "delivery.signing_secret"
    assert secret.removeprefix("whsec_")[:12] not in str(refused.value) or len(secret) < 10


@pytest.mark.parametrize(
    "changed",
    [
        {"url": None},
        {"url": 7},
        {"url": ""},
        {"registration_id": None},
        {"registration_id": "not-a-uuid"},
        {"registration_id": "{0e2c52f4-7a3f-4e19-9df6-7a6ba5b0cb0e}"},
        {"registration_id": "0e2c52f47a3f4e199df67a6ba5b0cb0e"},
        {"signing_secret": None},
        {"signing_secret": 7},
        {"type": None},
        {"type": 7},
        {"more": 1},
    ],
)
def test_every_field_is_there_and_there_are_no_others(changed: dict[str, Any]) -> None:
    with pytest.raises(BadReceiverError):
        read_receiver({**GOOD, **changed})
    for name in set(changed) & set(GOOD):
        with pytest.raises(BadReceiverError):
            read_receiver({key: value for key, value in GOOD.items() if key != name})


@pytest.mark.parametrize("given", [None, [], "webhook", 1, True])
def test_what_is_no_object_is_no_delivery(given: object) -> None:
    with pytest.raises(BadReceiverError):
        read_receiver(given)


def test_a_secret_is_not_in_what_is_logged_of_a_receiver() -> None:
    said = repr(read_receiver(GOOD))

    assert SECRET not in said
    assert repr(KEY) not in said


@pytest.mark.parametrize("name", list(GOOD))
def test_a_number_as_it_was_written_is_no_text(name: str) -> None:
    with pytest.raises(BadReceiverError) as refused:
        read_receiver({**GOOD, name: Number("7")})

    assert (refused.value.code, refused.value.param) == ("invalid_request", f"delivery.{name}")
