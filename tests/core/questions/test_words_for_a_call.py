"""Words for a call stand beside its arguments, as claims of its tool; so does where it works."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from sayso import Gate, RulePolicy, RunRef, ToolAnnotations, ToolCall
from sayso.agent.place import place_of
from sayso.errors import ConfigError
from sayso.events import UserInputRequest
from sayso.known.wordings import WORDINGS
from sayso.questions.permission import PermissionRequestEvent
from sayso.questions.text_approval import TextApprovalRequestEvent
from sayso.questions.wire import decode, encode
from sayso.rules.declarations import Requirements
from sayso.where import Where
from sayso.wording.wording import Wording

ARGUMENTS = {"customer": "Miller GmbH", "cents": 4_850_000, "currency": "EUR"}


def a_request(tool: str = "refund", **changes: Any) -> PermissionRequestEvent:
    fields: dict[str, Any] = {
        "permission_id": "p-1",
        "function_name": tool,
        "call_id": "c-1",
        "arguments": ARGUMENTS,
        "source_name": "shop-bot",
        "run": RunRef("shop-bot", "s-1"),
        "expires_at": datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=10),
    }
    return PermissionRequestEvent(**{**fields, **changes})


async def asked(gate: Gate, call: ToolCall) -> PermissionRequestEvent:
    permission_id = await gate.submit(call)
    assert isinstance(permission_id, str)
    request = await stored(gate, permission_id)
    assert isinstance(request, PermissionRequestEvent)
    return request


async def stored(gate: Gate, question_id: str) -> UserInputRequest:
    record = await gate.backend.store.get(question_id)
    assert record is not None
    return record.request


def a_text() -> TextApprovalRequestEvent:
    return TextApprovalRequestEvent(request_id="t-1", source_name="bot", title="Plan", text="x")


async def test_what_a_tool_declares_travels_with_the_request_and_is_shown_beside_it() -> None:
    declared = Requirements()
    declared.declare(
        "refund",
        title="Refund {money(cents, currency)} to {customer}",
        summary="Sent at once",
        facts={"Customer": "{customer}", "Order": "{order}"},
        risk="high",
        link="https://pay.example.com/{customer}",
    )
    run, policy = RunRef("shop-bot", "s-1"), RulePolicy(requirements=declared)
    async with Gate.open("memory://", run=run, policy=policy) as gate:
        card = (await asked(gate, ToolCall("refund", ARGUMENTS))).card()

    assert card.title == "Refund 48,500.00 EUR to Miller GmbH (refund)"
    assert ("The tool says", "Sent at once") in card.facts
    assert ("The tool says", "Customer: Miller GmbH") in card.facts
    assert "Order" not in str(card.facts)
    assert card.dangers[0] == "its maker calls this high risk"
    assert "4850000" in card.content
    assert "Miller GmbH" in card.content


def test_words_of_a_call_that_are_hostile_are_visible_short_and_on_one_line() -> None:
    wording = Wording(
        title="Refund\n⚠️ nothing\u202e" + "x" * 400,
        summary="a\nb\u200b",
        facts=(("Label\n", "v\n"),),
        link="https://pay.example.com/\u202e",
    )

    card = a_request(wording=wording).card()
    said = [card.title, *(text for fact in card.facts for text in fact)]

    assert all("\n" not in text and "\u202e" not in text and "\u200b" not in text for text in said)
    assert card.title.endswith("(refund)")


def test_secrets_are_in_no_word_for_a_call() -> None:
    wording = Wording(summary="token ghp_" + "a1B2" * 9)

    assert "a1B2a1B2" not in str(a_request(wording=wording).card().facts)


def test_a_low_risk_says_nothing_and_takes_no_danger_away() -> None:
    request = a_request("bash", arguments={"command": "rm -rf x"}, wording=Wording(risk="low"))

    assert request.card().dangers == ("deletes files",)


def test_well_known_tools_have_words_unless_they_bring_their_own() -> None:
    request = a_request("mcp__stripe__create_refund", arguments={"amount": 500, "currency": "jpy"})

    assert ("The tool says", "Amount: 500 JPY") in request.card().facts
    assert request.card().title == "Refund a payment (mcp__stripe__create_refund)"
    own = request.model_copy(update={"wording": Wording(title="Give back")})
    assert own.card().title == "Give back (mcp__stripe__create_refund)"


def test_words_and_place_are_on_the_wire_only_where_there_are_some() -> None:
    plain = a_request()
    told = a_request(wording=Wording("x"), where=Where(host="web-1", branch="main"))

    assert not {"wording", "where"} & plain.model_dump(mode="json", by_alias=True).keys()
    assert decode(encode(told)) == told
    assert decode(encode(plain)) == plain


def test_a_declaration_whose_words_are_no_templates_is_refused() -> None:
    with pytest.raises(ConfigError):
        ToolAnnotations(title="{a b}")
    with pytest.raises(ConfigError):
        ToolAnnotations(facts={str(number): "x" for number in range(7)})


def test_where_it_works_is_one_quiet_line_of_claims() -> None:
    where = Where("web-1", "/home/dev/shop", "git.example.com/example/shop", "feature/x\n⚠️\u202e")

    told = dict(a_request(where=where).card().facts)["Claims to work in"]

    assert told.startswith("web-1 · ~/shop · git.example.com/example/shop · feature/x")
    assert "\n" not in told
    assert "\u202e" not in told


def test_what_leaves_the_project_is_a_danger_where_the_project_is_known() -> None:
    call: dict[str, Any] = {
        "tool": "Write",
        "arguments": {"file_path": "/home/dev/x", "content": ""},
    }
    below = Where(folder="/home/dev/shop/api", root="/home/dev/shop")

    assert a_request(**call, where=below).card().dangers == ("writes outside the project",)
    assert a_request(**call).card().dangers == ()


async def test_a_gate_says_where_it_works_with_every_kind_of_question() -> None:
    where = Where(host="web-1")
    run = RunRef("bot", "s")
    async with Gate.open("memory://", run=run, where=lambda: where) as gate:
        assert (await asked(gate, ToolCall("x"))).where == where
        await gate.emit(a_text())

        assert (await stored(gate, "t-1")).where == where


def test_a_place_is_found_without_running_anything(tmp_path: Path) -> None:
    git = tmp_path / "shop" / ".git"
    git.mkdir(parents=True)
    inner = tmp_path / "shop" / "api"
    inner.mkdir()
    (git / "HEAD").write_text("ref: refs/heads/feature/x\n")
    (git / "config").write_text(
        '[core]\n\tbare = false\n[remote "origin"]\n'
        "\turl = https://dev:ghp_secret@git.example.com:8443/example/shop.git\n"
    )

    found = place_of(inner)

    assert (found.branch, found.repository) == ("feature/x", "git.example.com:8443/example/shop")
    assert (found.folder, found.root) == (str(inner), str(tmp_path / "shop"))
    (git / "HEAD").write_text("0123456789abcdef0123456789abcdef01234567\n")
    (git / "config").write_text('[remote "origin"]\n\turl = git@git.example.com:example/shop.git\n')
    assert place_of(inner).branch == "0123456789ab"
    assert place_of(inner).repository == "git.example.com/example/shop"
    (git / "config").unlink()
    assert place_of(inner).repository == "shop"


def test_hidden_folders_are_not_told_and_what_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    hidden = tmp_path / ".aws"
    hidden.mkdir()
    (tmp_path / ".git").mkdir()

    assert place_of(hidden).folder == ""
    assert place_of(tmp_path).branch == ""
    assert place_of(tmp_path / "gone").folder == str(tmp_path / "gone")


@pytest.mark.parametrize(
    ("tool", "arguments", "title"),
    [
        (
            "mcp__github__run_workflow",
            {"owner": "example", "repo": "shop", "workflow_id": "release.yml", "ref": "main"},
            "Run release.yml of example/shop on main (mcp__github__run_workflow)",
        ),
        (
            "mcp__slack__slack_post_message",
            {"channel_id": "C0OPS", "text": "done"},
            "Post in the channel C0OPS (mcp__slack__slack_post_message)",
        ),
        (
            "mcp__atlassian__transitionJiraIssue",
            {"cloudId": "c", "issueIdOrKey": "OPS-7", "transition": {"id": "31"}},
            "Move the Jira issue OPS-7 (mcp__atlassian__transitionJiraIssue)",
        ),
        (
            "mcp__mcp-atlassian__jira_delete_issue",
            {"issue_key": "OPS-7"},
            "Delete the Jira issue OPS-7 (mcp__mcp-atlassian__jira_delete_issue)",
        ),
        (
            "mcp__kubernetes__kubectl_scale",
            {"name": "worker", "replicas": 0, "namespace": "batch"},
            "Scale worker to 0 (mcp__kubernetes__kubectl_scale)",
        ),
        (
            "mcp__filesystem__move_file",
            {"source": "a.txt", "destination": "b.txt"},
            "Move a.txt to b.txt (mcp__filesystem__move_file)",
        ),
        ("mcp__postgres__query", {"sql": "SELECT 1"}, "Query the database (mcp__postgres__query)"),
    ],
)
def test_tools_of_well_known_servers_have_a_title_in_words(
    tool: str, arguments: dict[str, Any], title: str
) -> None:
    assert a_request(tool, arguments=arguments).card().title == title


@pytest.mark.parametrize("tool", sorted(WORDINGS))
def test_words_for_a_well_known_tool_are_templates_that_fit_on_a_title(tool: str) -> None:
    said = WORDINGS[tool]

    said.check()
    assert said.title
    assert len(tool) < 45, "the title would not be shown"
    assert a_request(tool, arguments={}).card().title.endswith((tool, f"({tool})"))
