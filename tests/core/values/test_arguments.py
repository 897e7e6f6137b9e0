"""A call's arguments as the values of its card: names outside, each text as what it is."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.values import Value
from sayso.values.arguments import raw_values, shown_arguments, values_of
from sayso.values.kinds import is_diff, kind_of
from sayso.values.layout import laid_out

PATCH = "--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n-a = 30\n+a = 300\n b = 1\n"
MANIFEST = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: shop\nspec:\n  replicas: 0\n"


def test_the_name_stands_outside_and_the_value_alone() -> None:
    notes, environment, dry = values_of(
        {
            "notes": "release 42  environment: staging  dry_run: true",
            "environment": "production",
            "dry_run": False,
        }
    )

    assert (notes.name, notes.text) == ("notes", "release 42  environment: staging  dry_run: true")
    assert (environment.name, environment.text) == ("environment", "production")
    assert (dry.name, dry.text, dry.is_short) == ("dry_run", "false", True)


def test_the_one_text_of_a_tool_needs_no_name_and_any_other_value_does() -> None:
    assert values_of({"command": "git status"}) == (Value("", "git status"),)
    assert values_of({"force": True}) == (Value("force", "true"),)


def test_what_is_not_like_a_name_stands_in_the_box_with_its_value() -> None:
    (value,) = values_of({"Approved by alice\n✅": "x"})

    assert value.name == ""
    assert value.text == '"Approved by alice\\n✅": x'


def test_a_number_and_a_text_of_digits_do_not_look_alike() -> None:
    number, text, empty, nothing = values_of({"a": 5, "b": "5", "c": "", "d": None})

    assert [one.text for one in (number, text, empty, nothing)] == ["5", '"5"', '""', "null"]


def test_a_list_of_short_values_is_one_line() -> None:
    to, nested = values_of({"to": ["a@x.example", "b@x.example"], "deep": [{"a": 1}]})

    assert (to.kind, to.text) == ("list", '["a@x.example", "b@x.example"]')
    assert (nested.kind, nested.text) == ("json", '[\n  {\n    "a": 1\n  }\n]')


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("SELECT * FROM users WHERE id = 1", "sql"),
        ("drop table users;", "sql"),
        ("DELETE FROM orders", "sql"),
        (MANIFEST, "yaml"),
        (PATCH, "diff"),
        ("*** Begin Patch\n*** Update File: x\n-a\n+b\n*** End Patch", "diff"),
        ("#!/bin/sh\nrm -rf build\n", "shell"),
        ("#!/usr/bin/env python3\nprint(1)\n", "code"),
        ("POST https://x.example/pay HTTP/1.1\nHost: x.example\n", "http"),
    ],
)
def test_a_text_that_is_surely_of_a_kind_is_set_as_such(text: str, kind: str) -> None:
    assert kind_of(text) == kind


@pytest.mark.parametrize(
    "text",
    [
        "Select a file from the list",
        "Update the docs and set the date",
        "Note: buy milk",
        "Dear Bob,\nSubject: lunch\nWhen: noon\n",
        "@@ -1,9 +1,9 @@\n-a\n+b",
        "GET well soon",
        "#!important",
        "delete from memory what you know",
    ],
)
def test_in_doubt_a_text_is_plain(text: str) -> None:
    assert kind_of(text) == "text"


def test_a_kind_that_is_told_counts_more_than_the_value() -> None:
    (value,) = values_of({"command": "select * from t;"}, {"command": "shell"})

    assert value.kind == "shell"


def test_what_is_talk_stands_last() -> None:
    values = values_of({"description": "Look", "cwd": "/tmp"}, talk=("description",))

    assert [one.name for one in values] == ["cwd", "description"]


def test_what_is_written_to_a_file_is_code_in_its_language() -> None:
    path, content = values_of({"file_path": "a/b.py", "content": "import os\nprint(1)\n"})

    assert path.name == "file_path"
    assert (content.kind, content.language) == ("code", "python")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=12,
)


@given(st.dictionaries(st.text(max_size=5), json_values) | st.lists(json_values))
def test_json_that_is_laid_out_is_the_same_json(value: Any) -> None:
    for written in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=1)):
        laid = laid_out(written)
        assert laid is not None
        assert json.loads(laid) == value


def test_numbers_and_names_that_stand_twice_stay_as_they_were_written() -> None:
    assert laid_out('{"a":1.00,"a":1e5,"b":"\\u0041"}') == (
        '{\n  "a": 1.00,\n  "a": 1e5,\n  "b": "\\u0041"\n}'
    )


def test_json_in_a_text_says_that_it_is_a_text() -> None:
    (value,) = values_of({"body": json.dumps({"replicas": 0, "image": "x" * 60})})

    assert (value.kind, value.note) == ("json", "JSON in a string")


def test_a_hunk_with_fewer_lines_than_it_counts_is_no_difference() -> None:
    assert is_diff(PATCH)
    assert not is_diff(PATCH.replace(" b = 1\n", ""))


def test_arguments_as_one_text_have_each_name_with_its_value() -> None:
    assert shown_arguments({"a": 1, "b": "x\ny"}) == "a: 1\nb:\n  | x\n  | y"


def test_nothing_is_raw_where_nothing_is_told_as_a_difference() -> None:
    assert raw_values({"command": "ls"}) == ()
