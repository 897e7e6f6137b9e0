"""Every way to decide on a call, from the agent's check to its verdict, the cards and the audit.

As in ``test_every_question.py``: everything is real but Slack and Telegram, on both stores,
decided at both platforms.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from e2e.asked import REASONS, RUN, Asked, asked
from e2e.hands import Hands, SlackHands, TelegramHands, both_cards, both_with_details, hands_at

from sayso import CheckResult, Outcome, ToolCall
from sayso.calls import new_id
from sayso.clock import utc_now
from sayso.digests import arguments_digest, short_digest
from sayso.questions.permission import PermissionRequestEvent
from sayso.testing.builders import PATIENCE_SECONDS

CALL = ToolCall("deploy", {"environment": "production", "release": 42})
DIGEST = arguments_digest(CALL.arguments)
STAGING = {"environment": "staging", "release": 42}
SCRIPT = "\n".join(f"UPDATE prices SET amount = {number};" for number in range(400))
SCHEMA = {
    "type": "object",
    "properties": {
        "environment": {"enum": ["production", "staging"], "title": "Environment"},
        "release": {"type": "integer", "minimum": 1, "title": "Release"},
    },
    "required": ["environment", "release"],
}


@pytest.fixture
async def scene(store: str) -> AsyncIterator[Asked]:
    """Agent, bots and platforms, on each store."""
    async with asked(store) as opened:
        yield opened


def told(verdict: CheckResult) -> tuple[Outcome, str, str | None]:
    """What a verdict says of its end."""
    return verdict.outcome, verdict.reason, verdict.decided_by


async def test_a_call_is_allowed_once(scene: Asked, hands: Hands) -> None:
    waiting = scene.ask(scene.gate.check(CALL, description="All checks passed."))
    card = await hands.card()
    assert "All checks passed." in card
    assert "production" in card

    await hands.press("Allow")

    assert told(await waiting) == (Outcome.APPROVED, "", hands.actor())
    await both_cards(scene, "Approved by alice")


async def test_a_call_is_denied(scene: Asked, hands: Hands) -> None:
    waiting = scene.ask(scene.gate.check(CALL))

    await hands.press("Deny")

    assert told(await waiting) == (Outcome.DENIED, "", hands.actor())
    await both_cards(scene, "Denied by alice")


@pytest.mark.parametrize("reason", ["Release 41 is *still* <rolling> & out", REASONS[1]])
async def test_a_call_is_denied_with_a_reason_of_ones_own_or_a_ready_made_one(
    scene: Asked, hands: Hands, reason: str
) -> None:
    waiting = scene.ask(scene.gate.check(CALL))

    await hands.fill_in("Deny with a reason…", {"Reason": reason})

    verdict = await waiting
    assert told(verdict) == (Outcome.DENIED, reason, hands.actor())
    assert reason in verdict.as_tool_result()
    for text in await both_cards(scene, "Denied by alice"):
        assert reason in text


@pytest.mark.parametrize("platform", ["slack", "telegram"])
async def test_a_denial_waits_for_its_reason_no_longer_than_the_settings_say(
    store: str, platform: str
) -> None:
    async with asked(store, reason_wait="0.5s") as scene:
        hands = hands_at(platform, scene.playground)
        waiting = scene.ask(scene.gate.check(CALL))

        in_so_long = "Without a reason it is denied in 0.5 seconds."
        assert in_so_long in await said_when_asked_for_a_reason(hands)

        async with asyncio.timeout(PATIENCE_SECONDS):
            assert told(await waiting) == (Outcome.DENIED, "", hands.actor())
        late = f"Too late: this was already denied by alice ({hands.actor()})."
        assert late in await said_to_a_late_reason(hands)
        await both_cards(scene, "Denied by alice")


async def said_when_asked_for_a_reason(hands: Hands) -> str:
    """Press the button for it, and read what only the presser is told."""
    if isinstance(hands, SlackHands):
        await hands.press("Deny with a reason…")
        return str((await hands.slack.view_for("alice")).view)
    assert isinstance(hands, TelegramHands)
    return (await hands.pressed("Deny with a reason…")).toast or ""


async def said_to_a_late_reason(hands: Hands) -> str:
    """What the form says of a reason that comes after the denial."""
    if isinstance(hands, SlackHands):
        view = await hands.slack.view_for("alice")
        await hands.sent(view, {"Reason": "too risky"})
        over = hands.shown()
        await hands.slack.close_view(over, by="alice")
        return str(over.view)
    assert isinstance(hands, TelegramHands)
    board = await hands.telegram.message_where(lambda m: "Too late" in m.text and not m.buttons)
    reply = hands.telegram.reply(board, "too risky", by="alice")
    return await hands.told(reply)


async def test_changes_of_a_call_are_asked_for(scene: Asked, hands: Hands) -> None:
    waiting = scene.ask(scene.gate.check(CALL))

    await hands.fill_in("Ask for changes…", {"What should change": "to staging first"})

    verdict = await waiting
    assert told(verdict) == (Outcome.DENIED, "to staging first", hands.actor())
    assert verdict.asks_for_changes
    for text in await both_cards(scene, "Denied by alice"):
        assert "Asked for changes" in text
        assert "to staging first" in text


async def edited_everywhere(
    scene: Asked, verdict: CheckResult, actor: str, before: dict[str, Any], after: dict[str, Any]
) -> None:
    """CheckResult, cards and audit know what was asked about and what is allowed in its place."""
    assert told(verdict) == (Outcome.APPROVED, "", actor)
    assert (verdict.asked_arguments, verdict.arguments) == (before, after)
    assert "with changed arguments" in verdict.as_tool_result()
    for text in await both_cards(scene, "Approved by alice"):
        for shown in (*map(str, before.values()), *map(str, after.values())):
            assert shown in text
    for text in await both_with_details(scene, "Approved by alice"):
        assert f"Digest of that {short_digest(arguments_digest(after))}" in text
        assert short_digest(arguments_digest(before)) in text
    (entry,) = [one for one in await scene.backend.audit.read(10) if one.kind == "approved"]
    assert entry.digest == arguments_digest(before)
    assert entry.changed_digest == arguments_digest(after)
    assert entry.by == actor


@pytest.mark.parametrize("written", [json.dumps(STAGING), "environment = staging"])
async def test_arguments_are_edited_as_json_or_line_by_line_and_that_is_allowed(
    scene: Asked, hands: Hands, written: str
) -> None:
    waiting = scene.ask(scene.gate.check(CALL))

    await hands.fill_in("Edit arguments…", {"Arguments": written})

    await edited_everywhere(scene, await waiting, hands.actor(), dict(CALL.arguments), STAGING)


def with_schema() -> PermissionRequestEvent:
    """The call of a tool whose schema is known."""
    return PermissionRequestEvent(
        source_name="deploy-bot",
        run=RUN,
        expires_at=utc_now() + timedelta(seconds=30),
        permission_id=new_id(),
        function_name=CALL.name,
        call_id=CALL.call_id,
        arguments=dict(CALL.arguments),
        arguments_digest=DIGEST,
        arguments_schema=SCHEMA,
    )


async def test_arguments_are_edited_as_the_fields_of_the_tools_schema(
    scene: Asked, hands: Hands
) -> None:
    request = with_schema()
    await scene.gate.emit(request)
    fields = {"Environment": "staging", "Release": "41"}

    await hands.fill_in("Edit arguments…", fields, send="Allow with these")

    verdict = await scene.gate.resume(request.permission_id)
    after = {"environment": "staging", "release": 41}
    await edited_everywhere(scene, verdict, hands.actor(), dict(CALL.arguments), after)


async def test_an_edited_field_must_fit_the_tools_schema(scene: Asked, hands: Hands) -> None:
    request = with_schema()
    await scene.gate.emit(request)
    told_at_it = "this must be at least 1"

    if isinstance(hands, SlackHands):
        view = await hands.opened("Edit arguments…")
        await hands.sent(view, {"Release": "0"})
        assert hands.shown().errors == {"sayso:in:release": told_at_it}
        await hands.sent(hands.shown(), {"Release": "41"})
    else:
        assert isinstance(hands, TelegramHands)
        await hands.press("Edit arguments…")
        await hands.answer("Environment", "Keep: production")
        await hands.write("Release", "0")
        await hands.write(told_at_it, "41")
        await hands.press_form("Is all of this right?", "Allow with these")

    verdict = await scene.gate.resume(request.permission_id)
    assert verdict.arguments == {"environment": "production", "release": 41}


async def test_arguments_that_are_too_long_for_the_card_are_seen_in_full_and_allowed(
    scene: Asked, hands: Hands
) -> None:
    waiting = scene.ask(scene.gate.check(ToolCall("run_sql", {"script": SCRIPT})))
    assert "before it can be allowed" in await hands.card()
    assert not await hands.offers("Allow")
    assert await hands.offers("Deny")

    seen = await hands.see_everything()
    await hands.press("Allow")

    assert all(line in seen for line in SCRIPT.splitlines())
    assert told(await waiting) == (Outcome.APPROVED, "", hands.actor())
    await both_cards(scene, "Approved by alice")


async def test_what_is_unfolded_while_it_is_shown_in_full_can_be_allowed_all_the_same(
    scene: Asked, hands: Hands
) -> None:
    waiting = scene.ask(scene.gate.check(ToolCall("run_sql", {"script": SCRIPT})))
    await hands.see_everything()
    await hands.press("More…")

    await hands.press("Allow")

    assert told(await waiting) == (Outcome.APPROVED, "", hands.actor())


async def test_a_call_that_was_seen_in_full_here_is_still_cut_there(
    scene: Asked, slack: SlackHands, telegram: TelegramHands
) -> None:
    scene.ask(scene.gate.check(ToolCall("run_sql", {"script": SCRIPT})))

    await slack.see_everything()
    await slack.slack.message_where(lambda message: "Allow" in message.buttons)

    assert not await telegram.offers("Allow")


async def test_a_call_is_submitted_and_its_edit_resumed_by_a_new_process(
    scene: Asked, hands: Hands
) -> None:
    permission_id = await scene.gate.submit(CALL)
    assert isinstance(permission_id, str)

    await hands.fill_in("Edit arguments…", {"Arguments": "environment = staging"})

    async with scene.later() as gate:
        verdict = await gate.resume(permission_id)
    await edited_everywhere(scene, verdict, hands.actor(), dict(CALL.arguments), STAGING)


async def test_a_call_is_submitted_and_its_reason_resumed_by_a_new_process(
    scene: Asked, hands: Hands
) -> None:
    permission_id = await scene.gate.submit(CALL)
    assert isinstance(permission_id, str)

    await hands.fill_in("Deny with a reason…", {"Reason": REASONS[0]})

    async with scene.later() as gate:
        verdict = await gate.resume(permission_id)
    assert told(verdict) == (Outcome.DENIED, REASONS[0], hands.actor())
    await both_cards(scene, "Denied by alice")
