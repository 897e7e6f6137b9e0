"""The demo without a person: presses through both chats, every outcome compared."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from sayso.agent.verdict import CheckResult
from sayso.calls import ToolCall
from sayso.events import Outcome
from sayso_bots.demo.agent import Say, ask, dangerous_call, harmless_call, long_call
from sayso_bots.demo.chats import SlackChat, TelegramChat
from sayso_bots.demo.stage import Stage

_A_STEP_SECONDS = 20.0


@dataclass(slots=True)
class _Play:
    """A play under way; ``wrong`` counts what was not as it should be."""

    stage: Stage
    say: Say
    slack: SlackChat
    telegram: TelegramChat
    wrong: int = 0

    def check(self, fact: str, *, is_true: bool) -> None:
        """Tell whether something is as it should be."""
        self.wrong += 0 if is_true else 1
        self.say(f"  {'ok   ' if is_true else 'WRONG'} {fact}")


async def play(stage: Stage, say: Say) -> int:
    """Play all steps; how many facts were not as they should be."""
    playing = _Play(stage, say, SlackChat(stage.playground), TelegramChat(stage.playground))
    for step in (
        _allow_in_slack,
        _deny_in_telegram,
        _refuse_the_wrong_person,
        _always_in_slack,
        _always_in_telegram,
        _reveal_in_slack,
        _reveal_in_telegram,
    ):
        try:
            async with asyncio.timeout(_A_STEP_SECONDS):
                await step(playing)
        except (TimeoutError, LookupError) as error:
            playing.check(f"{step.__name__.strip('_')} went through: {error}", is_true=False)
    return playing.wrong


async def _allow_in_slack(playing: _Play) -> None:
    playing.say("Alice presses Allow in Slack.")
    verdict = await _asked(
        playing, ToolCall("read_file", {"path": "README.md"}), lambda: playing.slack.press("Allow")
    )
    await _expect(playing, verdict, Outcome.APPROVED, "slack:U0ALICE")


async def _deny_in_telegram(playing: _Play) -> None:
    playing.say("Alice presses Deny in Telegram.")
    verdict = await _asked(playing, dangerous_call(), lambda: playing.telegram.press("Deny"))
    await _expect(playing, verdict, Outcome.DENIED, "telegram:4242")


async def _refuse_the_wrong_person(playing: _Play) -> None:
    playing.say("Mallory presses Allow in both chats, then Bob does in Slack.")

    async def presses() -> None:
        await playing.slack.press("Allow", by="mallory")
        refused = await playing.slack.whisper("mallory")
        playing.check(f"Slack tells Mallory alone: {refused!r}", is_true="may not" in refused)
        refused = await playing.telegram.press("Allow", by="mallory")
        playing.check(f"Telegram tells Mallory alone: {refused!r}", is_true="may not" in refused)
        await playing.slack.press("Allow", by="bob")

    verdict = await _asked(playing, dangerous_call(release=43), presses)
    await _expect(playing, verdict, Outcome.APPROVED, "slack:U0BOB")


async def _always_in_slack(playing: _Play) -> None:
    playing.say("Alice presses Always in Slack; the same call then needs nobody.")
    verdict = await _asked(playing, harmless_call(), lambda: playing.slack.press("Always"))
    await _expect(playing, verdict, Outcome.APPROVED, "slack:U0ALICE")
    await _expect_unasked(playing, harmless_call())


async def _always_in_telegram(playing: _Play) -> None:
    playing.say("Alice presses Always in Telegram, in two steps; the same call then needs nobody.")
    call = ToolCall("read_file", {"path": "CHANGELOG.md"})

    async def presses() -> None:
        await playing.telegram.press("Always")
        await playing.telegram.press("Yes, Always")

    verdict = await _asked(playing, call, presses)
    await _expect(playing, verdict, Outcome.APPROVED, "telegram:4242")
    await _expect_unasked(playing, call)


async def _reveal_in_slack(playing: _Play) -> None:
    playing.say("A long script: Alice must see all of it in Slack before she can press Allow.")

    async def presses() -> None:
        await _see_all(playing, playing.slack)
        await playing.slack.press("Allow")

    verdict = await _asked(playing, long_call(), presses)
    await _expect(playing, verdict, Outcome.APPROVED, "slack:U0ALICE")


async def _reveal_in_telegram(playing: _Play) -> None:
    playing.say("The same script again, now in Telegram, and now Alice says no.")

    async def presses() -> None:
        await _see_all(playing, playing.telegram)
        offered = "Allow" in await playing.telegram.buttons("Allow")
        playing.check("Allow is offered now", is_true=offered)
        await playing.telegram.press("Deny")

    verdict = await _asked(playing, long_call(), presses)
    await _expect(playing, verdict, Outcome.DENIED, "telegram:4242")


async def _see_all(playing: _Play, chat: SlackChat | TelegramChat) -> None:
    """Press *Show all*, without which there is no Allow."""
    hidden = "Allow" not in await chat.buttons()
    playing.check("Allow is not offered yet", is_true=hidden)
    await chat.press("Show all")
    seen = await chat.revealed()
    playing.check("the line that matters can be read", is_true="DELETE FROM customers" in seen)


async def _asked(
    playing: _Play, call: ToolCall, presses: Callable[[], Awaitable[object]]
) -> CheckResult:
    """Let the agent ask while somebody presses."""
    playing.slack.next_card()
    playing.telegram.next_card()
    asking = asyncio.create_task(ask(playing.stage.gate, call))
    try:
        await presses()
        return await asking
    finally:
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)


async def _expect(playing: _Play, verdict: CheckResult, outcome: Outcome, actor: str) -> None:
    said = f"{verdict.tool} was {verdict.outcome.value} by {verdict.decided_by}"
    playing.check(said, is_true=(verdict.outcome, verdict.decided_by) == (outcome, actor))
    for name, chat in (("Slack", playing.slack), ("Telegram", playing.telegram)):
        shown = await chat.shows(outcome.value.capitalize(), actor)
        playing.check(f"the card in {name} says so and asks no more", is_true=shown)


async def _expect_unasked(playing: _Play, call: ToolCall) -> None:
    verdict = await ask(playing.stage.gate, call)
    unasked = verdict.approved and verdict.permission_id is None
    playing.check(f"{verdict.tool} was {verdict.reason}", is_true=unasked)
