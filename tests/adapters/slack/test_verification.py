from datetime import UTC, datetime, timedelta

import pytest
from support.slack_kit import SECRET, signed

from sayso.errors import ForgedCallbackError
from sayso_slack.reading.verification import verified

BODY = b"payload=%7B%7D"
NOW = datetime(2027, 1, 15, 8, 0, tzinfo=UTC)

# docs.slack.dev, verifying requests from Slack: the published example.
DOCS_SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
DOCS_TIME = 1531420618
DOCS_SIGNATURE = "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"
DOCS_BODY = (
    b"token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow"
    b"&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner"
    b"&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands"
    b"%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN"
    b"&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
)


def test_the_example_in_slacks_documentation_is_genuine() -> None:
    headers = {
        "X-Slack-Request-Timestamp": str(DOCS_TIME),
        "X-Slack-Signature": DOCS_SIGNATURE,
    }

    delivery = verified(
        headers, DOCS_BODY, secrets=[DOCS_SECRET], now=datetime.fromtimestamp(DOCS_TIME, UTC)
    )

    assert delivery.startswith("slack:")
    assert DOCS_SIGNATURE.removeprefix("v0=") not in delivery


@pytest.mark.parametrize("seconds", [-300, 0, 300])
def test_a_callback_is_good_for_five_minutes_either_way(seconds: int) -> None:
    headers = signed(BODY, NOW.timestamp())

    assert verified(headers, BODY, secrets=[SECRET], now=NOW + timedelta(seconds=seconds))


@pytest.mark.parametrize("seconds", [-301, 301, 86_400])
def test_a_stale_callback_is_refused(seconds: int) -> None:
    headers = signed(BODY, NOW.timestamp())

    with pytest.raises(ForgedCallbackError, match="five minutes"):
        verified(headers, BODY, secrets=[SECRET], now=NOW + timedelta(seconds=seconds))


def test_headers_are_found_in_any_spelling() -> None:
    headers = {name.upper(): value for name, value in signed(BODY, NOW.timestamp()).items()}

    assert verified(headers, BODY, secrets=[SECRET], now=NOW)


def test_any_of_several_secrets_may_have_signed() -> None:
    headers = signed(BODY, NOW.timestamp(), secret="the-old-one")

    assert verified(headers, BODY, secrets=[SECRET, "the-old-one"], now=NOW)
    assert verified(headers, BODY, secrets=["the-old-one", SECRET], now=NOW)


@pytest.mark.parametrize("secrets", [[], [""], ["", ""], ["another"]])
def test_without_the_right_secret_nobody_gets_in(secrets: list[str]) -> None:
    for made_with in (SECRET, ""):
        with pytest.raises(ForgedCallbackError, match="SLACK_SIGNING_SECRET"):
            verified(
                signed(BODY, NOW.timestamp(), secret=made_with), BODY, secrets=secrets, now=NOW
            )


def test_one_changed_byte_is_noticed() -> None:
    headers = signed(BODY, NOW.timestamp())

    with pytest.raises(ForgedCallbackError):
        verified(headers, BODY + b"&", secrets=[SECRET], now=NOW)


TIMESTAMPS = ["", "abc", "1" * 400, "1" * 13, "-5", "1e9", " 1800000000", "١٨٠٠", "1800000000\n"]


@pytest.mark.parametrize("timestamp", TIMESTAMPS)
def test_a_strange_timestamp_is_refused_and_not_an_accident(timestamp: str) -> None:
    headers = {**signed(BODY, NOW.timestamp()), "X-Slack-Request-Timestamp": timestamp}

    with pytest.raises(ForgedCallbackError):
        verified(headers, BODY, secrets=[SECRET], now=NOW)


GOOD = signed(BODY, NOW.timestamp())["X-Slack-Signature"]
SIGNATURES = ["", "v0=", "v0=é", "v0=" + "é" * 64, GOOD.upper(), GOOD[:-1], GOOD + "0"]


@pytest.mark.parametrize("signature", [*SIGNATURES, GOOD.replace("v0=", "v1="), f" {GOOD}"])
def test_a_strange_signature_is_refused_and_not_an_accident(signature: str) -> None:
    headers = {**signed(BODY, NOW.timestamp()), "X-Slack-Signature": signature}

    with pytest.raises(ForgedCallbackError):
        verified(headers, BODY, secrets=[SECRET], now=NOW)


@pytest.mark.parametrize("missing", ["X-Slack-Signature", "X-Slack-Request-Timestamp"])
def test_a_missing_header_is_refused(missing: str) -> None:
    headers = signed(BODY, NOW.timestamp())
    del headers[missing]

    with pytest.raises(ForgedCallbackError, match=missing):
        verified(headers, BODY, secrets=[SECRET], now=NOW)
