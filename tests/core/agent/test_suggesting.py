"""Whoever asks can suggest rules of its own: they are offered with Always, and never wider."""

from __future__ import annotations

from typing import Any

import pytest

from sayso import Gate, InvalidCallError, Rule, RunRef, ToolCall
from sayso.events import PermissionRequestEvent
from sayso.rules.rule import PatternRule
from sayso.stores.backend import Backend
from sayso.testing import Stage

CALL = ToolCall("bash", {"command": "npm test unit"}, "call-1")
NPM_TEST = PatternRule("bash", {"command": "npm test *"})
RUN = RunRef("deploy-bot", "s-42")


async def the_request(backend: Backend) -> PermissionRequestEvent:
    [record] = await backend.store.list_requests()
    assert isinstance(record.request, PermissionRequestEvent)
    return record.request


async def test_a_suggested_rule_is_offered_in_our_words_and_stored_only_by_a_press() -> None:
    async with Stage(answers={"bash": ["allow", "always-2", "deny"]}) as stage:
        for _ in range(2):
            assert (await stage.gate.check(CALL, suggest=[NPM_TEST])).approved
        # The first press stored nothing, or nobody had been asked again.
        assert len(stage.prompts) == 2
        assert "always-2" in stage.prompts[0].choices
        other = ToolCall("bash", {"command": "npm test all"})
        assert (await stage.gate.check(other)).line == "remembered always allow"
        assert not (await stage.gate.check(ToolCall("bash", {"command": "npm publish"}))).approved


async def test_the_card_says_what_a_suggested_rule_covers_and_offers_this_very_call_first(
    backend: Backend,
) -> None:
    async with Gate.open(backend, run=RUN) as gate:
        await gate.submit(CALL, suggest=[NPM_TEST])

    request = await the_request(backend)
    body = request.card()
    stores = {choice.key: choice.stores for choice in (*body.choices, *body.more)}
    assert '"npm test *"' in stores["always-2"]
    assert "exactly" in stores["always"]
    assert request.suggested_rules[1] == Rule("bash", {"command": "npm test *"})


async def test_what_is_suggested_is_literal_unless_it_is_a_pattern(backend: Backend) -> None:
    call = ToolCall("bash", {"command": "ls *"})
    async with Gate.open(backend, run=RUN) as gate:
        await gate.submit(call, suggest=[Rule("bash", {"command": "ls *"})])

    rule = (await the_request(backend)).suggested_rules[1]
    assert rule.matches(call)
    assert not rule.matches(ToolCall("bash", {"command": "ls /etc"}))


@pytest.mark.parametrize(
    "rule",
    [
        Rule("bash", {"command": "npm test *"}),
        PatternRule("bash", {"command": "npm publish *"}),
        Rule("deploy"),
        Rule("bash", {"cwd": "/"}),
    ],
)
@pytest.mark.parametrize("door", ["check", "submit", "check_batch", "submit_batch"])
async def test_a_suggested_rule_that_is_not_about_the_call_is_an_error(
    backend: Backend, rule: Rule, door: str
) -> None:
    async with Gate.open(backend, run=RUN) as gate:
        asked: Any = [CALL] if door.endswith("batch") else CALL
        with pytest.raises(InvalidCallError, match="not about this call"):
            await getattr(gate, door)(asked, suggest=[rule])

    assert await backend.store.list_requests() == []


async def test_two_rules_are_suggested_at_most(backend: Backend) -> None:
    async with Gate.open(backend, run=RUN) as gate:
        with pytest.raises(ValueError, match="at most 2"):
            await gate.check(CALL, suggest=[NPM_TEST] * 3)

    assert await backend.store.list_requests() == []


async def test_a_rule_for_the_whole_tool_is_offered_for_minutes_only(backend: Backend) -> None:
    async with Gate.open(backend, run=RUN) as gate:
        call = ToolCall("deploy", {"target": "staging"})
        await gate.submit(call, suggest=[Rule("deploy"), PatternRule("deploy", {"target": "*"})])

    body = (await the_request(backend)).card()
    scopes = {choice.key: choice.scope for choice in (*body.choices, *body.more) if choice.stores}
    assert scopes["window"] == "tool-window"
    assert not {"always-2", "always-3"} & scopes.keys()


async def test_in_a_batch_a_rule_is_offered_for_the_calls_it_is_about(backend: Backend) -> None:
    deploy = ToolCall("deploy", {}, "call-2")
    async with Gate.open(backend, run=RUN) as gate:
        await gate.submit_batch([CALL, deploy], suggest=[NPM_TEST])

    rules = {
        record.request.function_name: record.request.suggested_rules
        for record in await backend.store.list_requests()
        if isinstance(record.request, PermissionRequestEvent)
    }
    assert Rule("bash", {"command": "npm test *"}) in rules["bash"]
    assert all(rule.tool == "deploy" for rule in rules["deploy"])
