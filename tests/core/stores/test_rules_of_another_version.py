"""Rules that a newer Sayso has stored or offers: never taken for wider ones than they are."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from typing import Any, Literal

import pytest
from redis.asyncio import Redis

from sayso import Gate, Outcome, Rule, RulePolicy, RunRef, ToolCall
from sayso.clock import utc_now
from sayso.policy.decision import Decision, PolicyContext
from sayso.questions.permission import PermissionRequestEvent
from sayso.questions.permission_answer import PermissionResponseEvent
from sayso.questions.wire import decode, encode
from sayso.stores.backend import Backend
from sayso.stores.redis import redis_backend
from sayso.testing import a_request, a_response
from sayso.testing.builders import a_rule

RUN = RunRef("deploy-bot", "s-1")
LS = ToolCall("bash", {"command": "ls"})
PWD = ToolCall("bash", {"command": "pwd"})


@pytest.fixture
async def backend(store_url: str) -> AsyncIterator[Backend]:
    async with redis_backend(store_url) as backend:
        yield backend


async def remember(backend: Backend, effect: Literal["allow", "deny"], call: ToolCall) -> str:
    rule = replace(a_rule(effect=effect), rule=Rule(call.name, {"command": "ls"}))
    request = a_request(run=RUN)
    await backend.store.open(request, seconds=60, inbox="", book=None)
    await backend.store.settle(request.permission_id, a_response(request), remember=rule)
    return rule.rule_id


async def rewrite(store_url: str, old: str, new: str) -> None:
    """Write the stored rules as another version would."""
    url, _, namespace = store_url.rpartition("namespace=")
    async with Redis.from_url(url.rstrip("?&")) as client:
        [book] = [key async for key in client.scan_iter(match=f"sayso:{{{namespace}}}:book:*")]
        stored: Any = await client.hgetall(book)
        for name, value in stored.items():
            if name.startswith(b"r:"):
                assert old.encode() in value
                await client.hset(book, name, value.replace(old.encode(), new.encode()))


NEWER = [('"params":{"command":"ls"}', '"when":{"command":"ls"}'), ('"ls"', '"ls("')]
NEWER += [('"uses":0', '"uses":0,"place":"slack:C0OPS"')]
NEWER += [('"argumentsDigest":null', f'"argumentsDigest":"sha9:{"0" * 64}"')]
NEWER += [('"othersDigest":null', f'"othersDigest":"sha9:{"0" * 64}"')]


@pytest.mark.parametrize(("old", "new"), NEWER)
async def test_an_always_allow_that_cannot_be_read_allows_nothing(
    backend: Backend, store_url: str, old: str, new: str
) -> None:
    await remember(backend, "allow", LS)
    await rewrite(store_url, old, new)

    policy = RulePolicy(allow=[Rule("bash", {"command": "pwd"})])
    async with Gate.open(backend, run=RUN, policy=policy, timeout=0.3) as gate:
        assert (await gate.check(LS)).outcome is Outcome.EXPIRED
        assert (await gate.check(PWD)).line == "allow rule 1"


@pytest.mark.parametrize(("old", "new"), [*NEWER, ('"effect":"deny"', '"effect":"never"')])
async def test_while_an_always_deny_cannot_be_read_every_call_is_denied(
    backend: Backend, store_url: str, old: str, new: str
) -> None:
    rule_id = await remember(backend, "deny", LS)
    await rewrite(store_url, old, new)

    async with Gate.open(backend, run=RUN, policy=RulePolicy(default="allow")) as gate:
        denied = await gate.check(PWD)
        await backend.rules.revoke(rule_id, by="cli:me")
        allowed = await gate.check(PWD)

    assert (denied.outcome, denied.line) == (Outcome.DENIED, "remembered always deny")
    assert f"sayso revoke {rule_id}" in denied.reason
    assert allowed.line == "default"


async def test_an_approval_does_not_pass_an_always_deny_that_cannot_be_read(
    backend: Backend, store_url: str
) -> None:
    async with Gate.open(backend, run=RUN) as gate:
        submitted = await gate.submit(LS)
        assert isinstance(submitted, str)
        await remember(backend, "deny", LS)
        await rewrite(store_url, *NEWER[0])
        record = await backend.store.get(submitted)
        assert record is not None
        assert isinstance(record.request, PermissionRequestEvent)
        await backend.store.settle(submitted, a_response(record.request))

        assert (await gate.resume(submitted)).line == "remembered always deny"


async def test_a_policys_own_question_is_not_put_while_an_always_deny_cannot_be_read(
    backend: Backend, store_url: str
) -> None:
    async def own(call: ToolCall, context: PolicyContext) -> Decision:
        assert context.ask is not None
        until = utc_now() + timedelta(seconds=1)
        request = a_request(run=context.run).model_copy(update={"expires_at": until})
        endings.append((await context.ask(request)).outcome)
        return Decision.ALLOW

    endings: list[Outcome] = []
    await remember(backend, "deny", LS)
    await rewrite(store_url, *NEWER[0])

    async with Gate.open(backend, run=RUN, policy=own) as gate:
        verdict = await gate.check(PWD)

    assert verdict.line == "remembered always deny"
    assert endings == [Outcome.CANCELLED]


async def test_rules_are_listed_beside_one_that_cannot_be_read(
    backend: Backend, store_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    unreadable = await remember(backend, "allow", LS)
    await rewrite(store_url, *NEWER[0])
    readable = await remember(backend, "deny", LS)

    kept = await backend.rules.all()

    assert [one.remembered.rule_id for one in kept] == [readable]
    assert unreadable in caplog.text


@pytest.mark.parametrize(
    "newer",
    [{"tool": "bash", "when": {"command": "ls"}}, {"tool": "bash", "params": {"x": "("}}, 1],
)
def test_what_cannot_be_read_among_offered_rules_is_not_offered(newer: Any) -> None:
    request = a_request(tool="bash", arguments=LS.arguments)
    written = json.loads(encode(request))
    written["suggestedRules"].append(newer)

    read = decode(json.dumps(written))

    # None of them: the key of a choice must be that of the same rule in every process.
    assert read == request.model_copy(update={"suggested_rules": ()})


def test_an_answer_counts_although_the_rule_it_stored_cannot_be_read() -> None:
    response = a_response().model_copy(update={"rule": Rule("bash")})
    written = json.loads(encode(response))
    written["rule"]["when"] = {}

    read = decode(json.dumps(written))

    assert isinstance(read, PermissionResponseEvent)
    assert (read.approved, read.rule) == (True, None)
