"""Templates over the arguments of a call: strict when they are declared, silent when they fail."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from sayso.errors import ConfigError
from sayso.wording.template import template
from sayso.wording.wording import Templates, Wording

ORDER = {
    "customer": "Miller GmbH",
    "amount_cents": 4_850_000,
    "currency": "eur",
    "order": {"id": 48213, "lines": [{"name": "desk"}]},
    "urgent": True,
    "at": "2026-01-15T09:10:00+01:00",
    "nothing": None,
    "list": [1, 2],
}

FILLED = [
    ("Refund {customer}", "Refund Miller GmbH"),
    ("{order.id} {order.lines.0.name}", "48213 desk"),
    ("{urgent} {{customer}}", "true {customer}"),
    ("{money(amount_cents, currency)}", "48,500.00 EUR"),
    ("{time(at)}", "2026-01-15 08:10 UTC"),
    ("no gap", "no gap"),
    ("{other}", None),
    ("{order.id.more}", None),
    ("{order.lines.7.name}", None),
    ("{order.lines.99999999999999999999.name}", None),
    ("{nothing}", None),
    ("{list}", None),
    ("{order}", None),
    ("{money(customer, currency)}", None),
    ("{money(amount_cents, customer)}", None),
    ("{time(customer)}", None),
    ("{customer.__class__}", None),
]


@pytest.mark.parametrize(("text", "said"), FILLED)
def test_a_template_is_filled_with_what_is_there_or_not_at_all(text: str, said: str | None) -> None:
    assert template(text).filled(ORDER) == said


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "}",
        "{}",
        "{a b}",
        "{a!r}",
        "{a:>10}",
        "{a.}",
        "{money(a)}",
        "{shout(a)}",
        "{a[0]}",
        "x" * 501,
    ],
)
def test_what_is_no_template_is_refused_when_it_is_declared(text: str) -> None:
    with pytest.raises(ConfigError):
        template(text)


MONEY = [
    (4_850_000, "EUR", "48,500.00 EUR"),
    (5, "usd", "0.05 USD"),
    (-1234, "GBP", "-12.34 GBP"),
    (1234, "JPY", "1,234 JPY"),
    (1234, "KWD", "1.234 KWD"),
    (10**17 + 1, "EUR", "1,000,000,000,000,000.01 EUR"),
    (True, "EUR", None),
    (12.5, "EUR", None),
    ("12", "EUR", None),
    (12, "XXX", None),
    (10**30, "EUR", None),
]


@pytest.mark.parametrize(("amount", "currency", "said"), MONEY)
def test_money_is_exact_in_the_minor_units_of_its_currency(
    amount: Any, currency: str, said: str | None
) -> None:
    arguments = {"amount": amount, "currency": currency}

    assert template("{money(amount, currency)}").filled(arguments) == said


@pytest.mark.parametrize(
    ("at", "said"),
    [
        (1_700_000_000, "2023-11-14 22:13 UTC"),
        ("2026-01-15T08:10:00Z", "2026-01-15 08:10 UTC"),
        ("2026-01-15T08:10:00", None),
        (10**20, None),
        (-1, None),
        (True, None),
        ("tomorrow", None),
    ],
)
def test_a_time_has_a_zone_or_is_left_out(at: Any, said: str | None) -> None:
    assert template("{time(at)}").filled({"at": at}) == said


def test_a_line_that_cannot_be_said_is_left_out_and_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    templates = Templates("Refund {customer}", "to {missing_in_this_test}", {"Paid": "{time(x)}"})

    with caplog.at_level(logging.WARNING):
        said = [templates.said("refund", ORDER) for _ in range(3)]

    assert said == [Wording(title="Refund Miller GmbH")] * 3
    assert len(caplog.records) == 2


def test_a_link_is_https_and_its_host_is_what_it_leads_to() -> None:
    fixed = Templates(link="https://pay.example.com/orders/{order.id}")
    open_host = Templates(link="https://{host}/x")

    said = fixed.said("refund", ORDER)
    assert said is not None
    assert (said.link, said.host) == ("https://pay.example.com/orders/48213", "pay.example.com")
    for host in ("pay.example.com@evil.example", "a b", "ä.example", "x\nhttps:"):
        told = open_host.said("refund", {"host": host})
        assert told is not None
        assert told.link == ""
    for link in ("http://x.example", "javascript:alert(1)", "{link}"):
        with pytest.raises(ConfigError):
            Templates(link=link).check()
