"""An agent and a worker, each as its user of ``deploy/redis.acl``, ask and decide as always."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest
from e2e.asked import RUN, asked
from e2e.hands import Hands, SlackHands, TelegramHands, both_cards
from support.redis_users import Users, redis_users

from sayso import Gate, Outcome, Rule, RulePolicy, ToolCall
from sayso.events import PermissionRequestEvent
from sayso.testing.builders import PATIENCE_SECONDS
from sayso_playground import Playground

CALL = ToolCall("deploy", {"to": "live"})
LISTED = ToolCall("list", {"of": "files"})
HANDS: dict[str, Callable[[Playground], Hands]] = {"slack": SlackHands, "telegram": TelegramHands}


@pytest.fixture
def users() -> Iterator[Users]:
    with redis_users() as opened:
        yield opened


@pytest.mark.parametrize("platform", HANDS)
async def test_an_agent_asks_as_one_user_and_people_decide_through_another(
    users: Users, platform: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with (
        asyncio.timeout(PATIENCE_SECONDS),
        asked(users.workers) as scene,
        Gate.open(users.agents, run=RUN, timeout=20) as gate,
        gate.events() as events,
    ):
        hands = HANDS[platform](scene.playground)

        waiting = scene.ask(gate.check(CALL))
        await hands.press("Allow")
        approved = await waiting
        await both_cards(scene, "Approved by alice")
        waiting = scene.ask(gate.check(CALL, key="once"))
        await hands.press("Deny")
        denied = await waiting
        again = await gate.check(CALL, key="once")
        answering = scene.ask(gate.clarify("Where?", options=("eu", "us")))
        await hands.press("eu")

        assert approved.approved
        assert (denied.outcome, again.outcome) == (Outcome.DENIED, Outcome.DENIED)
        assert (await answering).answer == "eu"
        assert isinstance(await anext(events), PermissionRequestEvent)
    assert "permit" not in caplog.text


async def test_an_agent_withdraws_resumes_uses_and_counts_as_its_own_user(
    users: Users, caplog: pytest.LogCaptureFixture
) -> None:
    policy = RulePolicy(allow=[Rule("list")])
    async with (
        asyncio.timeout(PATIENCE_SECONDS),
        asked(users.workers) as scene,
        Gate.open(users.agents, run=RUN, timeout=20, policy=policy, audit_rules=True) as gate,
    ):
        hands = SlackHands(scene.playground)

        listed = await gate.check(LISTED)
        leaving = scene.ask(gate.check(CALL))
        await hands.card()
        leaving.cancel()
        await hands.ended("Cancelled")
        submitted = await gate.submit(CALL)
        assert isinstance(submitted, str)
        await SlackHands(scene.playground, new=True).press("Allow")
        resumed = await gate.resume(submitted)
        in_time = datetime.now(UTC) + timedelta(minutes=1)
        used = await gate.backend.store.consume_approval(submitted, "me", until=in_time)
        reported = await gate.backend.store.report_outcome(submitted, "succeeded")
        expired = await gate.check(CALL, timeout=0.2)

        assert listed.approved
        assert expired.outcome is Outcome.EXPIRED
        assert resumed.approved
        assert used is not None
        assert reported is not None
        kinds = [entry.kind for entry in await scene.backend.audit.read(50)]
        for kind in ("rule_allowed", "expired", "cancelled", "approved", "used", "ran"):
            assert kind in kinds
    assert "permit" not in caplog.text
