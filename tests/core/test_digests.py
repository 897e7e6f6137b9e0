"""Arguments and their digest: what was shown is what runs."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso import Gate, RunRef
from sayso.calls import ToolCall
from sayso.digests import (
    MAX_ARGUMENTS_BYTES,
    Digests,
    arguments_digest,
    has_known_form,
    is_digest_of,
    is_same_json,
    short_digest,
    shown_and_digest,
)
from sayso.errors import InvalidCallError
from sayso.stores.memory import memory_backend


def canonical(text: str) -> str:
    """The digest of arguments whose canonical JSON is known."""
    return f"jcs-sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def as_0_1_0(arguments: Any) -> str:
    """The digest that 0.1.0 computed."""
    text = json.dumps(arguments, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def test_a_digest_is_that_of_the_json_of_rfc_8785() -> None:
    # RFC 8785, section 3.2.2.
    arguments = {
        "numbers": [333333333.33333329, 1e30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000f\u000aA'\u0042\u0022\u005c\\\"/",
        "literals": [None, True, False],
    }

    assert arguments_digest(arguments) == canonical(
        '{"literals":[null,true,false],'
        '"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )


def test_keys_are_sorted_by_their_utf_16_code_units() -> None:
    # RFC 8785, section 3.2.3: an emoji comes before a letter of the basic plane.
    keys = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\u0080", "\u00f6"]
    ordered = ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]
    text = ",".join(f"{json.dumps(key, ensure_ascii=False)}:0" for key in ordered)

    assert arguments_digest(dict.fromkeys(keys, 0)) == canonical(f"{{{text}}}")


@pytest.mark.parametrize(
    ("number", "text"),
    [
        # RFC 8785, appendix B.
        (0.0, "0"),
        (-0.0, "0"),
        (5e-324, "5e-324"),
        (-5e-324, "-5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (9007199254740992.0, "9007199254740992"),
        (-9007199254740992.0, "-9007199254740992"),
        (295147905179352830000.0, "295147905179352830000"),
        (9.999999999999997e22, "9.999999999999997e+22"),
        (1e23, "1e+23"),
        (1.0000000000000001e23, "1.0000000000000001e+23"),
        (999999999999999700000.0, "999999999999999700000"),
        (999999999999999900000.0, "999999999999999900000"),
        (1e21, "1e+21"),
        (9.999999999999997e-7, "9.999999999999997e-7"),
        (0.000001, "0.000001"),
        (333333333.33333325, "333333333.33333325"),
        (1424953923781206.2, "1424953923781206.2"),
        # Integers that a double holds are written the same.
        (1, "1"),
        (1.0, "1"),
        (2**53 - 1, "9007199254740991"),
        (2**53, "9007199254740992"),
        (-(2**53), "-9007199254740992"),
        (295147905179352830000, "295147905179352830000"),
    ],
)
def test_numbers_are_written_as_javascript_writes_them(number: float, text: str) -> None:
    assert arguments_digest({"n": number}) == canonical(f'{{"n":{text}}}')


@pytest.mark.parametrize(
    "number", [2**53 + 1, -(2**53) - 1, 2**60, 10**21, 10**22 + 1, 10**400, 1234567890123456789]
)
def test_an_integer_that_javascript_would_round_keeps_its_digits(number: int) -> None:
    digest = arguments_digest({"n": number})

    assert digest == as_0_1_0({"n": number})
    assert digest not in {arguments_digest({"n": number + one}) for one in (-1, 1)}
    assert is_digest_of(digest, {"n": number})
    assert not is_digest_of(digest, {"n": number + 1})


def test_arguments_that_differ_only_in_how_json_may_spell_a_number_are_the_same() -> None:
    assert arguments_digest({"n": 1}) == arguments_digest({"n": 1.0})
    assert not is_same_json({"n": 1}, {"n": 1.0})
    assert is_same_json({"a": 1, "b": 2}, {"b": 2, "a": 1})


numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
plain = st.recursive(
    st.none() | st.booleans() | numbers | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(st.dictionaries(st.text(), plain, max_size=4))
def test_a_digest_is_still_that_of_what_was_stored_as_json(arguments: dict[str, Any]) -> None:
    read = json.loads(json.dumps(arguments))

    assert arguments_digest(read) == arguments_digest(arguments)
    assert is_digest_of(as_0_1_0(arguments), read)


@given(numbers, numbers)
def test_numbers_that_are_not_equal_have_different_digests(one: float, other: float) -> None:
    # But for a large integer and the double that is written with its digits: JSON cannot
    # tell one from the other.
    if one != other and float(one) != float(other):
        assert arguments_digest({"n": one}) != arguments_digest({"n": other})


def test_the_digest_of_0_1_0_is_known_and_tells_all_that_it_told() -> None:
    old = as_0_1_0({"n": 1, "text": "é"})

    assert is_digest_of(old, {"text": "é", "n": 1})
    assert not is_digest_of(old, {"text": "é", "n": 1.0})
    assert not is_digest_of(old, {"text": "e", "n": 1})
    assert Digests({"n": 1, "text": "é"}).known() == (arguments_digest({"n": 1, "text": "é"}), old)
    assert Digests({"n": 2**60}).known() == (as_0_1_0({"n": 2**60}),)


def test_a_digest_of_an_unknown_form_is_nobodys() -> None:
    form, _, found = arguments_digest({"n": 1}).rpartition(":")

    assert has_known_form(f"{form}:{found}")
    assert has_known_form(found)
    for digest in (f"sha3:{found}", f"x:{form}:{found}", f":{found}"):
        assert not has_known_form(digest)
        assert not is_digest_of(digest, {"n": 1})


def test_people_compare_the_hash_and_not_the_name_of_its_form() -> None:
    digest = arguments_digest({"n": 1})

    assert short_digest(digest) == digest.removeprefix("jcs-sha256:")[:12]
    assert short_digest("0123456789abcdef") == "0123456789ab"


def test_the_order_of_keys_does_not_matter() -> None:
    assert arguments_digest({"a": 1, "b": {"c": 2, "d": 3}}) == arguments_digest(
        {"b": {"d": 3, "c": 2}, "a": 1}
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1}, {"a": "1"}),
        ({"a": 1}, {"a": True}),
        ({"a": None}, {}),
        ({"a": [1, 2]}, {"a": "1,2"}),
        ({"a": "x "}, {"a": "x"}),
        ({"a": "é"}, {"a": "e\u0301"}),
    ],
)
def test_different_arguments_have_different_digests(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    assert arguments_digest(one) != arguments_digest(other)


def test_python_values_are_shown_as_json() -> None:
    plain, _ = shown_and_digest({"when": dt.date(2026, 1, 2), "where": Path("/tmp/x")})

    assert plain == {"when": "2026-01-02", "where": "/tmp/x"}


@pytest.mark.parametrize("value", [object(), "\ud800", b"\xff\xfe", lambda: None])
def test_a_value_without_json_form_is_refused_by_name(value: object) -> None:
    with pytest.raises(InvalidCallError, match="'odd'"):
        arguments_digest({"odd": value})


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan")])
def test_a_number_without_json_form_is_refused_by_its_place(value: float) -> None:
    with pytest.raises(InvalidCallError) as caught:
        shown_and_digest({"fine": 1, "odd": [{"deep": value}]})

    assert str(caught.value) == (
        "the arguments ('fine', 'odd') cannot be written as JSON: "
        "odd[0].deep is not a finite number; pass a string or None instead"
    )


async def test_a_gate_refuses_a_number_without_json_form() -> None:
    async with memory_backend() as backend, Gate.open(backend, run=RunRef("a", "s")) as gate:
        with pytest.raises(InvalidCallError, match="amount is not a finite number"):
            await gate.submit(ToolCall("pay", {"amount": float("inf")}))

        assert not await backend.store.list_requests()


def test_names_that_json_would_merge_are_refused() -> None:
    with pytest.raises(InvalidCallError, match="must be strings, not int"):
        arguments_digest({"x": {1: "rm -rf /", "1": "ls"}})


def test_arguments_that_are_too_large_are_refused_with_both_numbers() -> None:
    with pytest.raises(InvalidCallError, match=str(MAX_ARGUMENTS_BYTES)):
        arguments_digest({"text": "x" * MAX_ARGUMENTS_BYTES})


def test_a_loop_in_the_arguments_is_refused() -> None:
    loop: dict[str, Any] = {}
    loop["self"] = loop

    with pytest.raises(InvalidCallError):
        arguments_digest(loop)


def test_a_number_of_more_digits_than_python_writes_is_refused() -> None:
    with pytest.raises(InvalidCallError, match="too many digits"):
        arguments_digest({"n": 10**5_000})
