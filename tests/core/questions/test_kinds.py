"""The one list of kinds: every file of a kind is in it, and ours are never replaced."""

from __future__ import annotations

import json
import pkgutil
from datetime import UTC, datetime
from typing import Literal

import pytest

import sayso.questions
from sayso.errors import UnreadableEventError
from sayso.events import Event, Resolution, UserInputRequest
from sayso.questions.continuation import ContinuationResponseEvent
from sayso.questions.kinds import kind, kinds
from sayso.questions.wire import decode


class Impostor(Resolution):
    """Says that it is one of ours."""

    type: Literal["CONTINUATION_RESPONSE"] = "CONTINUATION_RESPONSE"


class Parcel(Event):
    """A kind of a test's own."""

    type: Literal["PARCEL_OF_A_TEST"] = "PARCEL_OF_A_TEST"
    weight: int


def test_every_file_that_defines_a_kind_is_in_the_list() -> None:
    files = {
        f"sayso.questions.{found.name}" for found in pkgutil.iter_modules(sayso.questions.__path__)
    }
    listed = {found.__module__ for found in kinds(Event).values()} & files

    for name in files - listed:
        module = __import__(name, fromlist=["_"])
        own = [one for one in vars(module).values() if getattr(one, "__module__", "") == name]
        assert not [one for one in own if isinstance(one, type) and issubclass(one, Event)], name


def test_a_kind_of_ones_own_is_known_once_its_class_is_defined() -> None:
    found = decode(json.dumps({"type": "PARCEL_OF_A_TEST", "sourceName": "a", "weight": 3}))

    assert found == Parcel(source_name="a", weight=3)
    assert kinds(UserInputRequest).get("PARCEL_OF_A_TEST") is None


def test_no_other_class_stands_in_for_a_kind_that_comes_with_sayso() -> None:
    assert kind("CONTINUATION_RESPONSE") is ContinuationResponseEvent
    assert kinds(Resolution)["CONTINUATION_RESPONSE"] is ContinuationResponseEvent


@pytest.mark.parametrize(
    ("said", "source_name", "why"),
    [
        ({"type": "NOBODY_KNOWS_THIS", "sourceName": "a"}, "a", "has the type 'NOBODY_KNOWS_THIS'"),
        ({"type": "NOBODY_KNOWS_THIS", "sourceName": 5}, "", "has the type 'NOBODY_KNOWS_THIS'"),
        ({"type": "PARCEL_OF_A_TEST", "sourceName": "a"}, "a", "weight: Field required"),
        ({"type": "REQUEST_EXPIRED", "sourceName": "a"}, "a", "requestId: Field required"),
        ({"type": 5, "sourceName": "a"}, "", "type: Input should be a valid string"),
        ({"sourceName": "a"}, "", "type: Field required"),
        ([], "", "event: "),
    ],
)
def test_what_cannot_be_read_says_who_sent_it_and_why(
    said: object, source_name: str, why: str
) -> None:
    with pytest.raises(UnreadableEventError, match="event") as raised:
        decode(json.dumps(said))

    assert raised.value.source_name == source_name
    assert why in str(raised.value)


def test_what_is_not_json_is_not_an_event() -> None:
    for data in (b"", b"{", b"\xff", datetime.now(UTC).isoformat()):
        with pytest.raises(UnreadableEventError, match="not an event"):
            decode(data)
