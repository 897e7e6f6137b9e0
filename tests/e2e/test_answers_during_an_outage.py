"""Answers that are given while the bots cannot reach the store: none is lost, none counts twice."""

from __future__ import annotations

import asyncio

from e2e.hands import SlackHands, TelegramHands, both_cards
from e2e.outages import Breakable

from sayso.testing.builders import PATIENCE_SECONDS

WHERE = "Which region should the replica run in?"
PLANE = {
    "type": "object",
    "properties": {
        "seats": {"type": "integer", "minimum": 1, "maximum": 9, "title": "Seats"},
        "class": {"enum": ["first", "second"], "title": "Class"},
    },
    "required": ["seats", "class"],
}


async def test_a_form_in_slack_stays_open_and_can_be_sent_again(breakable: Breakable) -> None:
    scene, slack = breakable.scene, SlackHands(breakable.scene.playground)
    waiting = scene.ask(scene.gate.clarify(WHERE))
    view = await slack.opened("Answer…")

    breakable.outage.begin()
    failed = await slack.sent(view, {"Your answer": "ap"})

    # Slack shows words of its own for an app that does not answer 200, and leaves the form open.
    assert (failed.status, failed.error) == (503, "the app answered 503")
    assert "nothing was stored: press again" in failed.body
    assert slack.shown() == view
    assert not waiting.done()
    breakable.outage.end()
    async with asyncio.timeout(PATIENCE_SECONDS):
        while (again := await slack.sent(view, {"Your answer": "ap"})).status != 200:
            assert again.status == 503
        assert (await waiting).answer == "ap"


def was_refused(telegram: TelegramHands) -> bool:
    """Whether the bots did not take an update, which Telegram will deliver again."""
    return any(503 in update.statuses for update in telegram.telegram.updates.pending)


async def test_a_reply_in_telegram_counts_as_soon_as_the_store_is_back(
    breakable: Breakable,
) -> None:
    scene, telegram = breakable.scene, TelegramHands(breakable.scene.playground)
    waiting = scene.ask(scene.gate.clarify(WHERE))
    await telegram.press("Answer…")
    prompt = await telegram.prompt("Your answer")

    breakable.outage.begin()
    telegram.telegram.reply(prompt, "ap", by="alice")
    await telegram.telegram.until(lambda: was_refused(telegram))

    assert not waiting.done()
    breakable.outage.end()
    async with asyncio.timeout(PATIENCE_SECONDS):
        assert (await waiting).answer == "ap"
    await both_cards(scene, "Answered by alice")


async def test_a_form_sent_off_in_telegram_counts_as_soon_as_the_store_is_back(
    breakable: Breakable,
) -> None:
    scene, telegram = breakable.scene, TelegramHands(breakable.scene.playground)
    waiting = scene.ask(scene.gate.collect(PLANE, text="Which flight?"))
    await telegram.press("Fill in…")
    await telegram.write("Seats", "2")
    await telegram.answer("Class", "first")
    summary = await telegram.telegram.message_where(lambda m: "Send" in m.buttons)

    breakable.outage.begin()
    sending = asyncio.create_task(telegram.telegram.press(summary, "Send", by="alice", timeout=10))
    await telegram.telegram.until(lambda: was_refused(telegram))
    (query,) = [
        query for query in telegram.telegram.queries.values() if "Send" in query.message.buttons
    ]
    await telegram.telegram.until(lambda: query.answered)

    told = "Not recorded: the store cannot be reached. Trying again for two minutes."
    assert (query.toast, query.alert) == (told, True)
    assert not waiting.done()
    breakable.outage.end()
    async with asyncio.timeout(PATIENCE_SECONDS):
        assert (await waiting).data == {"seats": 2, "class": "first"}
        assert (await sending).statuses == (503, 200)
    await both_cards(scene, "Answered by alice")
