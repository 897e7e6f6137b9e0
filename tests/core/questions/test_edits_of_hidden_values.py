"""Edits of arguments in which a value is hidden, or an agent wrote what looks like one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sayso.errors import InvalidInputError
from sayso.questions.edits import edited
from sayso.text.secrets import redacted

TOKEN = "ghp_" + "a1B2" * 6
FORGED = "[redacted: 9 characters] and [redacted: 2 characters]"


def _edit(text: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return edited(arguments, {"arguments": text}, None)


def _problem(text: str, arguments: dict[str, Any]) -> str:
    with pytest.raises(InvalidInputError) as error:
        _edit(text, arguments)
    return error.value.problems["arguments"]


def test_what_only_looks_hidden_can_be_edited_like_any_other_text() -> None:
    edits = {"text": f"{FORGED}!", "more": "[redacted: 5 characters]"}

    assert _edit(json.dumps(edits), {"text": FORGED}) == edits
    assert _edit(f"text={FORGED}!", {"text": FORGED}) == {"text": f"{FORGED}!"}


@pytest.mark.parametrize("before", [FORGED, [FORGED], [[FORGED], 1], {"deep": FORGED}])
def test_a_mark_of_the_agents_own_may_stay_in_its_place_beside_a_hidden_value(before: Any) -> None:
    arguments = {"text": before, "api_key": "hunter2"}
    changed = json.loads(json.dumps(before).replace(" and ", " or "))

    wanted = json.dumps({"text": changed, "api_key": "[redacted: 7 characters]"})

    assert _edit(wanted, arguments) == {"text": changed, "api_key": "hunter2"}


@pytest.mark.parametrize(
    "text",
    [
        "[redacted: 7 characters] and",
        f"{FORGED} and [redacted: 7 characters]",
        f"{FORGED} and [redacted: 9 characters]",
        f"{FORGED} and [redacted: 7",
        ["[redacted: 7 characters]"],
    ],
)
def test_a_mark_of_the_agents_own_lets_no_hidden_value_move_to_it(text: Any) -> None:
    shown = json.dumps({"text": text, "api_key": "x"})

    assert "hidden value" in _problem(shown, {"text": FORGED, "api_key": "hunter2"})


def test_a_mark_that_looks_like_a_hidden_one_beside_it_stays_only_with_it() -> None:
    arguments = {"all": ["[redacted: 28 characters]", TOKEN]}
    shown = redacted(arguments)

    assert shown == {"all": ["[redacted: 28 characters]"] * 2}
    assert _edit(json.dumps(shown), arguments) == arguments
    for moved in (["[redacted: 28 characters]"], ["[redacted: 28 characters] x", "y"]):
        assert "hidden value" in _problem(json.dumps({"all": moved}), arguments)


def test_an_unknown_name_is_refused_without_telling_a_name_that_is_a_secret() -> None:
    problem = _problem("b=1", {"a": 0, TOKEN: 1})

    assert "only [redacted: 28 characters], a;" in problem
