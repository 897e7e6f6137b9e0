"""The door for the Claude Agent SDK: what every door promises, and what is its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest
from claude_agent_sdk import (
    PermissionResultAllow,
    PermissionUpdate,
    ToolPermissionContext,
    query,
)
from claude_agent_sdk.types import PermissionBehavior, PermissionRuleValue
from e2e.asked import Asked, asked
from e2e.hands import SlackHands
from support.agent_pages import begun, programs
from support.claude_agent_sdk_doors import Asking, Calling, a_project, environment
from support.claude_model import calls, model_served, says
from support.conformance import DoorContract, KilledContract
from support.doors import agents_handle
from support.scenes import cards

from sayso import Decision, Gate, Rule, RulePolicy, RunRef, ToolCall
from sayso.digests import arguments_digest
from sayso.rules.matchers import ShellMatcher
from sayso_agents.claude_agent_sdk import can_use_tool

TESTS_AND_LOOKS = "npm test && git status"


class Noting:
    """In place of a handle: notes how it is asked, and allows."""

    def __init__(self) -> None:
        self.how: dict[str, Any] = {}
        self.run = RunRef("agent", "s-1")
        self._real = agents_handle("memory://", policy=RulePolicy(default="allow"))

    def for_session(self, *named: Any, **more: Any) -> Any:
        with self._real as real:
            self.run = real.for_session(*named, **more).run
        return self

    async def check(self, call: ToolCall, **how: Any) -> Any:
        self.how = how
        with agents_handle("memory://", policy=RulePolicy(default="allow")) as real:
            return await real.check(call)


def adding(
    *contents: str | None, tool: str = "Bash", behavior: PermissionBehavior = "allow"
) -> PermissionUpdate:
    """What Claude Code would add to its own settings."""
    rules = [PermissionRuleValue(tool, one) for one in contents]
    return PermissionUpdate("addRules", rules, behavior, destination="localSettings")


async def suggested(tool: str, arguments: dict[str, Any], *updates: PermissionUpdate) -> list[Rule]:
    noting = Noting()
    decide = can_use_tool(cast("Gate", noting))
    context = ToolPermissionContext(suggestions=list(updates), tool_use_id="toolu_1")
    result = await decide(tool, arguments, context)
    assert isinstance(result, PermissionResultAllow)
    rules: list[Rule] = noting.how["suggest"]
    return rules


class TestClaudeAgentSDK(DoorContract):
    door = Calling()


class TestClaudeCode(KilledContract):
    """The same promises where the real command makes the calls, as far as they hang on it."""

    door = Asking()
    test_allowed = DoorContract.test_an_allowed_call_runs_once_and_the_model_has_its_result
    test_denied = DoorContract.test_the_model_hears_the_reason_of_a_denial_and_no_account
    test_edited = DoorContract.test_an_edited_call_runs_as_edited_or_not_at_all
    test_cancelled = DoorContract.test_a_run_that_is_cancelled_withdraws_its_card
    test_failing = DoorContract.test_nothing_runs_where_our_own_code_raises

    async def test_always_is_kept_by_us_and_claude_code_stores_nothing(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        async with model_served() as model:
            with a_project(model) as options:
                options.can_use_tool = can_use_tool(sayso, session="customer-7")
                written = [
                    [calls("Bash", f"toolu_{number}", command="mkdir -p made", description="make")]
                    for number in range(2)
                ]
                model.plays(*written, [says("Done.")])
                running = scene.ask(self._all(options))
                assert "mkdir -p made" in await slack.card()
                await slack.press("Always")
                assert await running > 0

                assert Path(str(options.cwd), "made").is_dir()
                assert [*Path(str(options.cwd)).rglob("settings*.json")] == []
        assert set(model.results) == {"toolu_0", "toolu_1"}
        assert cards(scene) == 1

    async def _all(self, options: Any) -> int:
        return len([one async for one in query(prompt="Go", options=options)])


async def test_claude_codes_own_rules_stay_as_they_are() -> None:
    with agents_handle("memory://", policy=RulePolicy(default="allow")) as sayso:
        context = ToolPermissionContext(suggestions=[adding("npm test *")], tool_use_id="toolu_1")
        result = await can_use_tool(sayso)("Bash", {"command": "npm test"}, context)

    assert result == PermissionResultAllow(updated_input={"command": "npm test"})
    assert isinstance(result, PermissionResultAllow)
    assert result.updated_permissions is None


async def test_a_suggestion_that_we_understand_is_a_width_of_the_card() -> None:
    call = {"command": TESTS_AND_LOOKS, "description": "test"}
    both = Rule(
        "Bash",
        matchers={"command": ShellMatcher((("git", "status"), ("npm", "test")))},
        others_digest=arguments_digest({}),
        talk=("description", "timeout"),
    )

    assert await suggested("Bash", call, adding("npm test *", "git status *")) == [both]
    assert await suggested("Bash", call, adding("npm test:*", "git status:*")) == [both]


@pytest.mark.parametrize(
    "update",
    [
        adding("npm *", "git *"),
        adding("npm test *", "git status"),
        adding("rm *"),
        adding("npm test && git *"),
        adding(" *"),
        adding(None),
        adding("npm test *"),
        adding("npm test *", "git status *", behavior="deny"),
        adding("npm test *", "git status *", tool="PowerShell"),
        PermissionUpdate("setMode", mode="bypassPermissions", destination="session"),
        PermissionUpdate("addDirectories", directories=["/"], destination="session"),
        PermissionUpdate("addRules", None, "allow"),
    ],
)
async def test_a_suggestion_that_is_wider_than_we_understand_or_offered_anyway_is_left_out(
    update: PermissionUpdate,
) -> None:
    assert await suggested("Bash", {"command": TESTS_AND_LOOKS}, update) == []


async def test_a_card_says_why_claude_code_asks_and_which_sub_agent_it_is() -> None:
    noting = Noting()
    context = ToolPermissionContext(
        tool_use_id="toolu_1",
        agent_id="a1",
        description="run the tests",
        decision_reason="This command requires approval",
        blocked_path="/etc",
    )
    await can_use_tool(cast("Gate", noting), session="s-9")("Bash", {"command": "ls"}, context)

    assert noting.run.session_id == "s-9"
    assert noting.how["path"] == ("sub-agent a1",)
    assert noting.how["description"].splitlines() == [
        "run the tests",
        "This command requires approval",
        "Outside of its folders: /etc",
    ]


async def test_what_a_policy_puts_in_is_what_runs() -> None:
    async def policy(call: ToolCall, context: object) -> Decision:
        return Decision.ALLOW.with_arguments({"command": "ls", "timeout": 5})

    with agents_handle("memory://", policy=policy) as sayso:
        context = ToolPermissionContext(tool_use_id="toolu_1")
        result = await can_use_tool(sayso)("Bash", {"command": "ls"}, context)

    assert result == PermissionResultAllow(updated_input={"command": "ls", "timeout": 5})


@pytest.mark.parametrize(
    ("button", "printed"),
    [
        ("Allow", "release 42 is out"),
        ("Deny", "The call of mcp__shop__deploy was denied by a person. It did not run."),
    ],
)
async def test_the_program_on_the_page_asks_and_does_as_was_said(
    store_url: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    button: str,
    printed: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (program,) = programs("claude-agent-sdk")
    names: dict[str, Any] = {}
    async with asked(store_url) as scene, model_served() as model:
        deploy = calls("mcp__shop__deploy", "toolu_1", release=42)
        model.plays([deploy], lambda: [says(model.results["toolu_1"])])
        for name, value in environment(tmp_path, model.url).items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("SAYSO_STORE_URL", store_url)
        begun(program, names)
        running = scene.ask(names["main"]())
        await SlackHands(scene.playground).press(button)
        await running
        assert capsys.readouterr().out.splitlines()[-1] == printed
    names["sayso"].close()
