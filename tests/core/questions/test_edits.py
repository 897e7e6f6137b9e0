"""Edited arguments: what a person writes becomes what runs, or says what is wrong with it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.errors import InvalidInputError
from sayso.questions.edits import EDIT, edit_choice, edited
from sayso.testing import a_request
from sayso.text.secrets import redacted

TOKEN = "ghp_" + "a1B2" * 6
ARGUMENTS = {"command": "deploy", "count": 3, "api_key": "hunter2", "env": {"t": TOKEN, "x": [1]}}
SCHEMA = {
    "type": "object",
    "properties": {"command": {"type": "string"}, "count": {"type": "integer", "maximum": 5}},
    "required": ["command"],
    "additionalProperties": False,
}


def _shown(arguments: dict[str, Any]) -> str:
    choice = edit_choice(arguments, None)
    assert choice is not None
    assert choice.form is not None
    (field,) = choice.form.fields
    assert isinstance(field.initial, str)
    return field.initial


def _edit(text: str, arguments: dict[str, Any] | None = None, **how: Any) -> dict[str, Any]:
    return edited(arguments or ARGUMENTS, {"arguments": text}, how.get("schema"))


def _problem(text: str, arguments: dict[str, Any] | None = None, **how: Any) -> str:
    with pytest.raises(InvalidInputError) as error:
        _edit(text, arguments, **how)
    return error.value.problems["arguments"]


def test_what_is_edited_shows_no_secret_and_nothing_invisible() -> None:
    shown = _shown({**ARGUMENTS, "trick": "a\u202eb"})

    assert "hunter2" not in shown
    assert TOKEN not in shown
    assert "\u202e" not in shown
    assert json.loads(shown)["trick"] == "a\u202eb"


def test_what_is_left_alone_runs_as_it_was_with_its_secrets() -> None:
    assert _edit(_shown(ARGUMENTS)) == ARGUMENTS


def test_a_changed_value_is_changed_and_nothing_else() -> None:
    shown = json.loads(_shown(ARGUMENTS))
    shown["command"] = "deploy --dry-run"
    shown["env"]["x"].append(2)
    del shown["count"]

    assert _edit(json.dumps(shown)) == {
        "command": "deploy --dry-run",
        "api_key": "hunter2",
        "env": {"t": TOKEN, "x": [1, 2]},
    }


def test_a_hidden_value_can_be_replaced_as_a_whole() -> None:
    shown = json.loads(_shown(ARGUMENTS)) | {"api_key": "other"}

    assert _edit(json.dumps(shown))["api_key"] == "other"


def test_true_is_not_one() -> None:
    changed = _edit('{"flags": [true], "count": 1.0}', {"flags": [1], "count": 1})

    assert json.dumps(changed) == '{"flags": [true], "count": 1.0}'


@pytest.mark.parametrize("name", ["command", "new"])
def test_a_hidden_value_cannot_be_moved_or_built_upon(name: str) -> None:
    shown = json.loads(_shown(ARGUMENTS))
    shown[name] = shown["api_key"] + "!"

    assert "hidden value" in _problem(json.dumps(shown))


def test_what_surrounds_a_hidden_value_in_a_text_cannot_be_changed_alone() -> None:
    arguments = {"command": f"curl -H 'Bearer {TOKEN}' https://a.example"}
    shown = json.loads(_shown(arguments))
    shown["command"] = shown["command"].replace("a.example", "b.example")

    assert "hidden value" in _problem(json.dumps(shown), arguments)


def _target(host: str, password: str) -> dict[str, str]:
    return {"host": host, "password": password}


PROD, TEST = _target("prod", "prodpass"), _target("test", "testpass")
TARGETS = {"targets": [PROD, TEST]}


def _edit_targets(picks: list[int], arguments: dict[str, Any] = TARGETS) -> list[Any]:
    shown = json.loads(_shown(arguments))["targets"]
    picked = _edit(json.dumps({"targets": [shown[one] for one in picks]}), arguments)
    targets: list[Any] = picked["targets"]
    return targets


@pytest.mark.parametrize(
    ("picks", "left"),
    [([1], [TEST]), ([1, 0], [TEST, PROD]), ([0, 1, 0], [PROD, TEST, PROD]), ([], [])],
)
def test_an_element_of_a_list_keeps_its_own_secrets_wherever_it_stands(
    picks: list[int], left: list[Any]
) -> None:
    assert _edit_targets(picks) == left


@pytest.mark.parametrize("where", [0, 1])
def test_a_changed_element_of_a_list_takes_no_secret_over(where: int) -> None:
    shown = json.loads(_shown(TARGETS))
    shown["targets"][where]["host"] = "elsewhere"

    assert "hidden value" in _problem(json.dumps(shown), TARGETS)


def test_an_added_element_takes_no_secret_over() -> None:
    shown = json.loads(_shown(TARGETS))
    shown["targets"].append({"host": "new", "password": shown["targets"][0]["password"]})

    assert "hidden value" in _problem(json.dumps(shown), TARGETS)


def test_elements_that_look_alike_keep_their_secrets_only_where_they_stood() -> None:
    alike = {"targets": [_target("a", "11111111"), _target("a", "22222222"), PROD]}
    shown = json.loads(_shown(alike))["targets"]
    other = {"targets": [shown[0], shown[1], _target("b", "new")]}

    changed = _edit(json.dumps(other), alike)["targets"]

    assert changed == [*alike["targets"][:2], _target("b", "new")]
    for picks in ([1, 2], [0], [0, 2, 1], [0, 1, 0], [2, 0, 1]):
        with pytest.raises(InvalidInputError, match="hidden value"):
            _edit_targets(picks, alike)


def test_elements_that_are_alike_in_truth_may_be_moved() -> None:
    assert _edit_targets([1], {"targets": [PROD, PROD]}) == [PROD]


@given(
    st.lists(st.sampled_from(["11111111", "22222222", "hunter2", ""]), min_size=1, max_size=4),
    st.data(),
)
def test_no_move_in_a_list_gives_one_elements_secret_to_another(
    passwords: list[str], data: st.DataObject
) -> None:
    arguments = {"targets": [_target(f"h{n}", word) for n, word in enumerate(passwords)]}
    picks = data.draw(st.lists(st.integers(0, len(passwords) - 1), max_size=5))

    assert _edit_targets(picks, arguments) == [arguments["targets"][one] for one in picks]


@pytest.mark.parametrize("text", ["{“command”: “ls”}", '{"command": “ls”}', '{"command”: "ls"}'])
def test_the_quotes_that_phones_put_in_are_named(text: str) -> None:
    assert 'write straight quotes ("), not curly ones: line 1' in _problem(text)


def test_the_first_quote_that_is_wrong_is_named_although_more_is() -> None:
    assert "write straight quotes" in _problem("{“command”: “ls”,}")


def test_an_element_may_name_its_parts_in_another_order() -> None:
    shown = json.loads(_shown(TARGETS))["targets"]
    turned = [dict(reversed(one.items())) for one in reversed(shown)]

    assert _edit(json.dumps({"targets": turned}), TARGETS) == {"targets": [TEST, PROD]}


def test_curly_quotes_within_a_text_are_no_problem() -> None:
    assert _edit('{"command": "say “hi”"}')["command"] == "say “hi”"
    assert "not JSON" in _problem('{"command": "say “hi”",,}')


def test_lines_of_name_and_value_change_only_those() -> None:
    changed = _edit('command = terraform plan -out="a=b"\n\ncount=4\n')

    assert changed == {**ARGUMENTS, "command": 'terraform plan -out="a=b"', "count": 4}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "not JSON: Expecting property name enclosed in double quotes at line 1, column 2"),
        ('{"a": 1, "a": 2}', "appears twice"),
        ('{"a": NaN}', "NaN is not JSON"),
        ('{"a": [1e999]}', "this must be a finite number"),
        ("[1]", "line 1 is neither JSON nor name=value"),
        ("deploy it", "line 1 is neither JSON nor name=value"),
        ("comand=x", "there is no argument 'comand', only api_key, command, count, env"),
        ("count=three", "'count' is not a string, so its value must be JSON"),
        ("count=1\ncount=2", "'count' is given twice"),
        ('{"a":' * 5_000, "nested too deeply"),
    ],
)
def test_what_cannot_be_read_says_why(text: str, told: str) -> None:
    assert told in _problem(text)


def test_what_does_not_fit_the_tool_says_where_and_no_value() -> None:
    problem = _problem('{"count": 9, "secret": "hunter3"}', schema=SCHEMA)

    assert "/count: " in problem
    assert "command" in problem
    assert "hunter3" not in problem


def test_what_fits_the_tool_passes() -> None:
    assert _edit('{"command": "x", "count": 5}', schema=SCHEMA) == {"command": "x", "count": 5}


@pytest.mark.parametrize(
    "schema", [{"type": "nonsense"}, {"$ref": "http://127.0.0.1:9/"}, {"pattern": "(?=a)"}]
)
def test_a_schema_that_cannot_be_used_allows_nothing(schema: dict[str, Any]) -> None:
    problem = _problem('{"command": "x"}', schema=schema)

    assert problem.startswith("nothing can be edited: the schema of the arguments")


def test_a_hostile_pattern_takes_no_time() -> None:
    schema = {"properties": {"command": {"pattern": "^(a+)+$"}}}

    assert "/command" in _problem(json.dumps({"command": "a" * 2_000 + "b"}), schema=schema)


def test_a_schema_that_can_be_asked_makes_a_field_of_each_argument() -> None:
    arguments = {"command": "terraform apply", "count": 3}
    choice = edit_choice(arguments, SCHEMA)

    assert choice is not None
    assert choice.form is not None
    assert [(field.name, field.initial) for field in choice.form.fields] == [
        ("command", "terraform apply"),
        ("count", 3),
    ]
    changed = edited(arguments, choice.form.read({"command": "ls", "count": "5"}), SCHEMA)
    assert changed == {"command": "ls", "count": 5}
    with pytest.raises(InvalidInputError):
        choice.form.read({"command": "ls", "count": "6"})


def test_a_field_that_is_left_alone_keeps_its_value_as_it_was_written() -> None:
    number = {"type": "number"}
    inner = {"type": "object", "properties": {"y": number, "z": number}}
    schema = {"type": "object", "properties": {"whole": number, "part": number, "in": inner}}
    arguments = {"whole": 5, "part": 5.0, "in": {"y": 1.0, "z": 2}}
    choice = edit_choice(arguments, schema)

    assert choice is not None
    assert choice.form is not None
    raw = {"whole": "5.0", "part": "5", "in": '{"y": 1, "z": 3}'}
    changed = edited(arguments, choice.form.read(raw), schema)
    assert json.dumps(changed) == '{"whole": 5, "part": 5.0, "in": {"y": 1.0, "z": 3}}'


@pytest.mark.parametrize(
    "arguments",
    [
        {"command": "x", "other": 1},
        {"command": "x", "count": "three"},
        {"command": f"use {TOKEN}"},
        {"command": "a\u202eb"},
    ],
)
def test_what_a_form_of_fields_cannot_hold_is_edited_as_json(arguments: dict[str, Any]) -> None:
    choice = edit_choice(arguments, SCHEMA)

    assert choice is not None
    assert choice.form is not None
    assert [field.name for field in choice.form.fields] == ["arguments"]


@pytest.mark.parametrize(
    ("empty", "more"),
    [(None, {"type": ["string", "null"]}), ([], {"type": "array", "items": {"enum": ["a"]}})],
)
def test_an_argument_that_is_empty_stays_when_another_is_edited(
    empty: object, more: dict[str, Any]
) -> None:
    schema = {"type": "object", "properties": {"env": {"type": "string"}, "more": more}}
    arguments = {"env": "production", "more": empty}
    choice = edit_choice(arguments, schema)

    assert choice is not None
    assert choice.form is not None
    assert [field.name for field in choice.form.fields] == ["env", "more"]
    changed = edited(arguments, choice.form.read({"env": "staging"}), schema)
    assert changed == {"env": "staging", "more": empty}


def test_arguments_too_long_to_edit_are_not_offered() -> None:
    assert edit_choice({"text": "x" * 4_000}, None) is None
    assert edit_choice({}, None) is None
    choice = edit_choice(ARGUMENTS, None)
    assert choice is not None
    assert (choice.key, choice.needs_sight) == (EDIT, True)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8) | st.just(TOKEN),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "password", "token", TOKEN]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["a", "b", "api_key", TOKEN]), _JSON, min_size=1))
def test_whatever_is_left_alone_runs_as_it_was(arguments: dict[str, Any]) -> None:
    assert _edit(_shown(arguments), arguments) == arguments


@given(
    st.dictionaries(st.sampled_from(["a", "b", "api_key"]), _JSON, min_size=1),
    st.dictionaries(st.sampled_from(["a", "b", "c"]), _JSON),
)
def test_nothing_hidden_shows_up_anywhere_else(
    arguments: dict[str, Any], changes: dict[str, Any]
) -> None:
    wanted = {**redacted(arguments), **redacted(changes)}
    try:
        changed = _edit(json.dumps(wanted), arguments)
    except InvalidInputError:
        return
    assert redacted(changed) == wanted


def test_a_response_cannot_claim_another_digest_for_what_it_changed() -> None:
    response = a_request().approve(
        by="slack:U0ALICE", at=a_request().expires_at, modified_arguments={"command": "ls"}
    )
    told = response.model_dump() | {"modified_arguments": {"command": "rm -rf /"}}

    with pytest.raises(ValueError, match="not that of the modified arguments"):
        type(response).model_validate(told)
