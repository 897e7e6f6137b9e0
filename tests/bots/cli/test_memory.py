"""``sayso rules``, ``revoke`` and ``audit``, each a command of its own."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from datetime import timedelta

import pytest
from support.commands import Run

from sayso.calls import Project, RunRef, ToolCall
from sayso.clock import utc_now
from sayso.digests import arguments_digest, short_digest
from sayso.rules.rule import RememberedRule, Rule, literal_rule
from sayso.stores.redis import redis_backend
from sayso.testing import a_request, a_response, a_rule


async def _remember(
    url: str, rule: RememberedRule, *, uses: int = 1, project: str | Project = ""
) -> None:
    async with redis_backend(url) as backend:
        request = a_request(run=RunRef("deploy-bot", "s-1", project=project))
        await backend.store.open(request, seconds=30, inbox="", book=None)
        await backend.store.settle(request.question_id, a_response(request), remember=rule)
        for _ in range(uses):
            await backend.rules.use(request.run, rule.rule_id, digest="d" * 64)


@pytest.fixture
def rule(store_url: str) -> RememberedRule:
    stored = a_rule("bash", scope="agent")
    asyncio.run(_remember(store_url, stored))
    return stored


@pytest.fixture
def env(store_url: str) -> dict[str, str]:
    return {"SAYSO_STORE_URL": store_url}


def test_rules_are_listed(run: Run, env: dict[str, str], rule: RememberedRule) -> None:
    shown = run("rules", env=env)
    [listed] = json.loads(run("rules", "--json", env=env).out)

    assert shown.code == 0
    assert all(word in shown.out for word in (rule.rule_id, "bash", "slack:U0ALICE", "(all)"))
    assert (listed["id"], listed["scope"], listed["agent"]) == (rule.rule_id, "agent", "deploy-bot")
    assert (listed["session"], listed["uses"], listed["effect"]) == (None, 1, "allow")
    assert listed["lastUsedAt"]


def test_a_rule_that_holds_its_other_arguments_says_so(
    run: Run, env: dict[str, str], store_url: str
) -> None:
    program = Rule("bash", {"command": "ls"}, others_digest="ab" * 32)
    asyncio.run(_remember(store_url, replace(a_rule("bash"), rule=program)))

    [listed] = json.loads(run("rules", "--json", env=env).out)

    assert listed["othersDigest"] == "ab" * 32
    assert "command = ls, others abababababab" in run("rules", env=env).out


def test_a_stored_call_is_shown_by_its_values_without_secrets(
    run: Run, env: dict[str, str], store_url: str
) -> None:
    call = ToolCall("deploy", {"target": "staging*", "password": "hunter2hunter2"})
    asyncio.run(_remember(store_url, replace(a_rule("deploy"), rule=literal_rule(call))))

    shown = run("rules", env=env).out

    assert r"exactly target = staging\*, password = " in shown
    assert "hunter2" not in shown


def test_a_secret_is_hidden_although_its_pattern_has_backslashes_in_it(
    run: Run, env: dict[str, str], store_url: str
) -> None:
    key = "-----BEGIN PRIVATE KEY-----\nMIIabc+/=\n-----END PRIVATE KEY-----"
    call = ToolCall("write", {"text": key, "password": "a!" * 90, "mode": "a+"})
    asyncio.run(_remember(store_url, replace(a_rule("write"), rule=literal_rule(call))))

    table, as_json = run("rules", env=env).out, run("rules", "--json", env=env).out

    for shown in (table, as_json):
        assert "MIIabc" not in shown
        assert "a\\!" not in shown
    assert json.loads(as_json)[0]["params"]["mode"] == "a\\+"


def test_a_stored_call_that_is_longer_than_a_screen_is_shown_by_its_digest(
    run: Run, env: dict[str, str], store_url: str
) -> None:
    call = ToolCall("write", {"text": "x" * 5_000})
    asyncio.run(_remember(store_url, replace(a_rule("write"), rule=literal_rule(call))))

    assert (
        f"arguments {short_digest(arguments_digest(call.arguments))}" in run("rules", env=env).out
    )


def test_the_list_says_how_wide_a_rule_is_why_it_is_there_and_when_it_was_used(
    run: Run, env: dict[str, str], store_url: str
) -> None:
    used = replace(a_rule("bash", scope="tool-window"), reason="the release\nof Friday")
    asyncio.run(_remember(store_url, used))
    asyncio.run(_remember(store_url, a_rule("read", scope="agent"), uses=0))

    head, *rows = run("rules", env=env).out.splitlines()
    window = next(row for row in rows if "bash" in row)
    agent = next(row for row in rows if "read" in row)

    names = ["SCOPE", "USES", "LAST USED", "WHY"]
    assert [head.index(name) for name in names] == sorted(head.index(name) for name in names)
    assert window[head.index("SCOPE") :].startswith("tool-window ")
    assert agent[head.index("SCOPE") :].startswith("agent ")
    assert re.match(r"\d+s ago ", window[head.index("LAST USED") :])
    assert agent[head.index("LAST USED") :].startswith("never")
    assert window[head.index("WHY") :] == "the release⏎of Friday"


def test_a_rule_that_decided_nothing_for_14_days_is_pointed_out(
    run: Run, env: dict[str, str], store_url: str
) -> None:
    month = a_rule("bash", scope="project", lives=timedelta(days=30))
    idle = replace(month, stored_at=utc_now() - timedelta(days=14, hours=1))
    fresh = replace(a_rule("read"), stored_at=utc_now() - timedelta(days=13, hours=23))
    asyncio.run(_remember(store_url, idle, uses=0, project="/src/shop"))
    asyncio.run(_remember(store_url, fresh, uses=0))
    placed = Project("ci-7", "/workspace", "git.example.com/acme/shop")
    asyncio.run(_remember(store_url, a_rule("write", scope="project"), project=placed))

    listed = run("rules", env=env)
    by_tool = {one["tool"]: one for one in json.loads(run("rules", "--json", env=env).out)}

    row = next(row for row in listed.out.splitlines() if "bash" in row)
    assert "never (idle)" in row
    assert "(all on name:/src/shop)" in row
    assert "(all on ci-7:/workspace (git.example.com/acme/shop))" in listed.out
    assert listed.err.startswith("sayso: 1 of them decided nothing for 14 days")
    assert idle.rule_id in listed.err
    assert fresh.rule_id not in listed.err
    assert by_tool["bash"]["idle"] is True
    assert (by_tool["bash"]["project"], by_tool["bash"]["session"]) == ("name:/src/shop", None)
    assert (by_tool["read"]["idle"], by_tool["read"]["project"]) == (False, None)


def test_a_rule_is_revoked_once(run: Run, env: dict[str, str], rule: RememberedRule) -> None:
    revoked = run("revoke", rule.rule_id, env=env)
    again = run("revoke", rule.rule_id, "--json", env=env)
    left = run("rules", env=env)

    assert (revoked.code, again.code) == (0, 1)
    assert f"revoked {rule.rule_id}" in revoked.out
    assert json.loads(again.out) == {"ruleId": rule.rule_id, "revoked": False}
    assert "Nothing is remembered" in left.out


def test_the_audit_tells_what_happened(run: Run, env: dict[str, str], rule: RememberedRule) -> None:
    run("revoke", rule.rule_id, env=env)

    shown = run("audit", env=env)
    entries = json.loads(run("audit", "--json", "--last", "4", env=env).out)

    assert shown.code == 0
    assert "rule revoked" in shown.out
    assert "terraform" not in shown.out
    kinds = [entry["kind"] for entry in entries]
    assert kinds == ["approved", "rule_stored", "rule_used", "rule_revoked"]
    assert entries[-1]["by"].startswith("cli:")
    assert entries[2]["digest"] == "d" * 64


def test_an_empty_store_says_so(run: Run, env: dict[str, str]) -> None:
    assert "Nothing is remembered" in run("rules", env=env).out
    assert "Nothing has happened" in run("audit", env=env).out
    assert json.loads(run("audit", "--json", env=env).out) == []


@pytest.mark.parametrize("argv", [("audit", "--last", "0"), ("audit", "--last", "x"), ("revoke",)])
def test_wrong_usage_is_explained(run: Run, argv: tuple[str, ...]) -> None:
    done = run(*argv)

    assert done.code == 2
    assert done.err.startswith("sayso: ")


@pytest.mark.parametrize("argv", [("rules",), ("revoke", "x"), ("audit",)])
def test_a_memory_of_another_process_cannot_be_looked_at(run: Run, argv: tuple[str, ...]) -> None:
    done = run(*argv, "--store", "memory://")

    assert done.code == 2
    assert "lives inside another process" in done.err
