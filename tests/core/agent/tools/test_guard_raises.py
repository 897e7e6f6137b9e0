"""A guard that raises: for whoever wants an exception where a call may not run."""

from __future__ import annotations

import pytest

from sayso import Rule, RulePolicy, ToolBlocked
from sayso.testing import Stage

RAN: list[str] = []


async def test_a_guard_may_raise_tool_blocked_with_the_reason_and_the_outcome() -> None:
    async with Stage(answers={"deploy": ["deny", "allow"]}) as stage:

        @stage.gate.guard(raises=True)
        async def deploy(target: str) -> str:
            """Deploy."""
            RAN.append(target)
            return f"deployed to {target}"

        with pytest.raises(ToolBlocked) as blocked:
            await deploy("production")
        assert await deploy("staging") == "deployed to staging"

    assert RAN == ["staging"]
    assert (blocked.value.tool, blocked.value.outcome) == ("deploy", "denied")
    assert str(blocked.value) == "deploy is blocked: it was denied"


async def test_a_guard_that_raises_says_why_and_tells_a_no_from_silence() -> None:
    policy = RulePolicy(deny=[Rule("format_disk")])
    async with Stage(policy=policy, answers={"pay": None}) as stage:

        @stage.gate.guard(raises=True)
        def pay() -> None:
            """Pay."""

        @stage.gate.guard(raises=True)
        def format_disk() -> None:
            """Format the disk."""

        with pytest.raises(ToolBlocked) as silence:
            await pay()
        with pytest.raises(ToolBlocked) as forbidden:
            await format_disk()

    assert (silence.value.outcome, silence.value.reason) == ("expired", "nobody answered in time")
    assert (forbidden.value.outcome, forbidden.value.reason) == ("denied", "denied by deny rule 1")


async def test_without_it_a_guard_answers_with_a_text() -> None:
    async with Stage(answers={"deploy": "deny"}) as stage:

        @stage.gate.guard
        async def deploy() -> str:
            """Deploy."""
            return "deployed"

        assert "was denied" in str(await deploy())
