"""The card of a permission, and what its choices mean."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from sayso.calls import RunRef, ToolCall
from sayso.cards.card import Card
from sayso.digests import short_digest, shown_and_digest
from sayso.errors import UnreadableEventError
from sayso.questions.permission import PermissionRequestEvent
from sayso.questions.wire import decode, encode
from sayso.rules.rule import Rule, literal_rule

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def a_permission(arguments: dict[str, Any], **fields: Any) -> PermissionRequestEvent:
    plain, digest = shown_and_digest(arguments)
    defaults: dict[str, Any] = {
        "permission_id": "p-1",
        "source_name": "deploy-bot",
        "run": RunRef("deploy-bot", "s-1"),
        "expires_at": NOW + timedelta(minutes=10),
        "function_name": "bash",
        "call_id": "c-1",
        "arguments": plain,
        "arguments_digest": digest,
        "suggested_rules": (literal_rule(ToolCall("bash", arguments)),),
    }
    return PermissionRequestEvent(**(defaults | fields))


def test_arguments_are_shown_a_line_each() -> None:
    assert a_permission({"command": "ls -la", "depth": 3}).card().content == (
        "command: ls -la\ndepth: 3"
    )


def test_a_text_cannot_fake_another_argument() -> None:
    content = a_permission({"note": "hi\ncommand: ls", "command": "rm -rf /"}).card().content

    assert content == "command: rm -rf /\nnote:\n  | hi\n  | command: ls"


def test_a_name_cannot_fake_another_argument() -> None:
    content = a_permission({"a: 1\ncommand": "ls"}).card().content

    assert content == '"a: 1\\ncommand": ls'


@pytest.mark.parametrize(
    ("value", "shown"),
    [(5, "x: 5"), ("5", '"5"'), ("", '""'), (None, "x: null"), ("null", '"null"')],
)
def test_values_that_differ_look_different(value: Any, shown: str) -> None:
    assert a_permission({"x": value}).card().content == shown


def test_no_arguments_are_said_to_be_none() -> None:
    assert a_permission({}).card().content == "(no arguments)"


def test_a_null_argument_survives_the_wire() -> None:
    request = a_permission({"x": None, "y": {"z": None}})

    assert decode(encode(request)) == request


@pytest.mark.parametrize(
    "strange",
    [
        "ü" * 500,
        "quotes \" and ' and `",
        "a:b:c::",
        "new\nline",
        "\u202eevil",
        " ",
        "{json}",
        "\x00",
    ],
)
def test_ids_and_sources_come_back_as_they_went_out(strange: str) -> None:
    request = a_permission({}, permission_id=strange, source_name=strange)
    allow, always, deny = request.card().choices

    for choice in (allow, always, deny):
        response = decode(encode(request.answer(choice, by="slack:U0ALICE", at=NOW)))
        assert response.permission_id == strange  # type: ignore[attr-defined]
        assert response.source_name == strange
    for ending in (
        request.expired(at=NOW),
        request.cancelled(at=NOW),
        request.undeliverable(at=NOW, reason="x"),
    ):
        assert decode(encode(ending)) == ending
        assert ending.question_id == strange


def test_the_buttons_are_allow_always_and_deny() -> None:
    assert [choice.label for choice in a_permission({}).card().choices] == [
        "Allow",
        "Always",
        "Deny",
    ]


def test_always_says_exactly_what_it_stores() -> None:
    request = a_permission({"command": "ls"}, run=RunRef("deploy-bot", "release 7"))
    always = request.card().choices[1]

    assert "bash" in always.stores
    assert "exactly these arguments" in always.stores
    assert short_digest(request.arguments_digest) in always.stores
    assert "release 7" in always.stores


@pytest.mark.parametrize(
    ("session", "tool", "offered"),
    [("s" * 60, "t" * 60, True), ("s" * 960, "t", False), ("s", "t" * 960, False)],
)
def test_what_nobody_would_read_to_its_end_is_not_offered(
    session: str, tool: str, offered: bool
) -> None:
    card = a_permission(
        {},
        run=RunRef("a", session),
        function_name=tool,
        suggested_rules=(literal_rule(ToolCall(tool)),),
    ).card()

    assert ("always" in [choice.key for choice in card.choices]) is offered
    assert all(len(choice.stores) <= 1_000 for choice in card.more)


def test_the_response_repeats_the_digest_and_the_choice() -> None:
    request = a_permission({"command": "ls"})
    allow, always, _ = request.card().choices

    assert request.answer(allow, by="x:1", at=NOW).choice == "ask"
    response = request.answer(always, by="x:1", at=NOW)
    assert response.choice == "always_allow"
    assert response.rule == request.suggested_rules[0]
    assert response.arguments_digest == request.arguments_digest


def test_a_request_whose_digest_is_not_of_its_arguments_is_refused() -> None:
    with pytest.raises(ValueError, match="digest"):
        a_permission({"command": "ls"}, arguments_digest="0" * 64)


def test_always_is_only_offered_with_a_rule_about_this_call() -> None:
    card = a_permission({"command": "ls"}, suggested_rules=(Rule("other"),)).card()

    assert [choice.key for choice in card.choices] == ["allow", "deny"]


def test_the_card_says_how_much_it_does_not_show() -> None:
    facts = dict(a_permission({"password": "hunter2"}).card().facts)

    assert facts["Not shown"].startswith("1 value that looks like a secret")
    assert "Not shown" not in dict(a_permission({"x": "y"}).card().facts)


def test_arguments_cannot_make_a_card_say_that_something_in_them_is_hidden() -> None:
    forged = "[redacted: 9 characters] and [redacted: 2 characters]"

    card = a_permission({"x": forged, "password": "hunter2", forged: 1}).card()

    assert dict(card.facts)["Not shown"].startswith("1 value that looks like a secret")
    assert "Not shown" not in dict(a_permission({"x": forged}).card().facts)


def test_a_description_that_is_cut_counts_as_cut() -> None:
    body = a_permission({"command": "ls"}, description="d" * 601).card()
    card = Card("h", body, "a", NOW, limit=2_000, reveal_limit=10_000)

    assert [choice.key for choice in card.choices] == ["deny", "show"]


def test_secrets_do_not_reach_the_card() -> None:
    body = a_permission(
        {"env": {"API_KEY": "hunter2"}}, description="use xoxb" + "-12345678"
    ).card()

    assert "hunter2" not in body.content
    assert "12345678" not in body.description


def test_the_wire_is_camel_case_and_ignores_what_it_does_not_know() -> None:
    request = a_permission({"a": 1})
    data = encode(request)

    assert b'"permissionId":"p-1"' in data
    assert b'"type":"PERMISSION_REQUEST"' in data
    assert decode(data.replace(b'{"sourceName"', b'{"newField":1,"sourceName"')) == request


@pytest.mark.parametrize("data", [b"", b"nonsense", b"[]", b"{}", b'{"type":"NO_SUCH"}', b"\xff"])
def test_bytes_that_are_no_event_are_refused(data: bytes) -> None:
    with pytest.raises(UnreadableEventError):
        decode(data)
