import asyncio
import json

import aiohttp
import pytest
from support.clock import Clock
from support.desk_double import DeskDouble
from support.slack_kit import (
    Client,
    a_card,
    a_config,
    a_press,
    callback,
    post,
    served,
)

from sayso.chats.places import Answer, Answered, MessageRef, Place
from sayso.errors import (
    ReplayedCallbackError,
    StoreUnreachableError,
)
from sayso.testing.builders import PATIENCE_SECONDS
from sayso_playground import Playground, RateLimited, Slow
from sayso_slack import SlackAdapter, SlackListener


async def test_a_press_reaches_the_desk_and_is_acknowledged_with_nothing(
    client: Client, desk: DeskDouble, clock: Clock
) -> None:
    status, text = await post(client, *callback(a_press(), clock.seconds()))

    assert (status, text) == (200, "")
    [press] = desk.presses
    assert (press.handle, press.choice, press.actor) == ("h4ndle", "allow", "slack:U0ALICE")
    assert press.confirmed


async def test_a_press_is_acknowledged_after_it_was_stored_and_never_before(
    client: Client, desk: DeskDouble, clock: Clock
) -> None:
    stored = asyncio.Event()
    desk.meanwhile = stored.wait
    answer = asyncio.create_task(post(client, *callback(a_press(), clock.seconds())))
    await desk.pressed.wait()

    assert not answer.done()
    stored.set()

    assert await answer == (200, "")


async def test_a_press_that_is_not_stored_is_an_error_the_user_sees(
    client: Client, desk: DeskDouble, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    desk.error = StoreUnreachableError("redis://127.0.0.1 does not answer")

    status, text = await post(client, *callback(a_press(), clock.seconds()))

    assert status == 503
    assert json.loads(text)["status"] == 503
    assert "does not answer" in caplog.text


async def test_a_desk_that_takes_too_long_is_an_error_the_user_sees(
    adapter: SlackAdapter, desk: DeskDouble, clock: Clock
) -> None:
    desk.meanwhile = asyncio.Event().wait
    listener = SlackListener(a_config(), adapter, desk, clock=clock, press_seconds=0.01)

    answer = await listener.answer(*callback(a_press(), clock.seconds()))

    assert answer.status == 503


async def test_a_desk_that_fails_is_an_error_that_tells_slack_nothing(
    client: Client, desk: DeskDouble, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    desk.error = ZeroDivisionError("oh")

    status, text = await post(client, *callback(a_press(), clock.seconds()))

    assert status == 500
    assert "oh" not in text
    assert "a press in Slack was not taken: the desk failed" in caplog.text


async def test_the_very_same_callback_is_taken_once(
    client: Client, desk: DeskDouble, clock: Clock
) -> None:
    headers, body = callback(a_press(), clock.seconds())
    statuses = [(await post(client, headers, body))[0] for _ in range(2)]
    clock.pass_by(299)
    statuses.append((await post(client, headers, body))[0])

    assert statuses == [200, 409, 409]
    assert len(desk.presses) == 1


async def test_two_presses_of_the_same_button_are_two_callbacks(
    client: Client, desk: DeskDouble, clock: Clock
) -> None:
    await post(client, *callback(a_press(), clock.seconds()))
    await post(client, *callback(a_press(trigger_id="other"), clock.seconds()))

    first, second = desk.presses
    assert first.delivery != second.delivery


async def test_a_replay_that_only_the_store_knows_of_is_refused(
    client: Client, desk: DeskDouble, clock: Clock
) -> None:
    desk.error = ReplayedCallbackError("the very same press was here before")

    status, _ = await post(client, *callback(a_press(), clock.seconds()))

    assert status == 409


async def test_a_delivery_is_no_signature(client: Client, desk: DeskDouble, clock: Clock) -> None:
    headers, body = callback(a_press(), clock.seconds())
    await post(client, headers, body)

    delivery = desk.presses[0].delivery
    assert len(delivery) > 40
    assert delivery.removeprefix("slack:") not in headers["X-Slack-Signature"]


NOBODY_WAITS = "Approved and recorded, but nobody is waiting for it right now."


@pytest.mark.parametrize(
    ("answer", "is_told"),
    [
        (Answer(Answered.LATE, "Too late: this was already denied by bob."), True),
        (Answer(Answered.REFUSED, "You may not decide this one. It stays open."), True),
        (Answer(Answered.UNKNOWN, "This card is no longer known."), True),
        (Answer(Answered.SHOWN, "Shown."), True),
        (Answer(Answered.SHOWN, ""), False),
        (Answer(Answered.CONFIRM, "This would remember: x"), False),
        (Answer(Answered.RECORDED, "Approved."), False),
        (Answer(Answered.UNHEARD, NOBODY_WAITS), True),
    ],
)
async def test_the_presser_is_told_privately_what_the_card_does_not_say(
    playground: Playground,
    adapter: SlackAdapter,
    desk: DeskDouble,
    clock: Clock,
    answer: Answer,
    is_told: bool,
) -> None:
    desk.answer = answer
    async with SlackListener(a_config(), adapter, desk, clock=clock) as listener:
        found = await listener.answer(*callback(a_press(), clock.seconds()))

    assert found.status == 200
    texts = [message.text for message in playground.slack.ephemerals("alice")]
    assert texts == ([answer.text] if is_told else [])
    assert not playground.slack.messages()


async def test_a_reply_in_a_thread_is_answered_in_the_thread(
    playground: Playground, adapter: SlackAdapter, desk: DeskDouble, clock: Clock
) -> None:
    desk.answer = Answer(Answered.LATE, "Too late.")
    container = {"message_ts": "2.1", "channel_id": "C0OPS", "thread_ts": "1.1"}
    async with SlackListener(a_config(), adapter, desk, clock=clock) as listener:
        await listener.answer(*callback(a_press(container=container), clock.seconds()))

    assert playground.slack.ephemerals("alice")[0].thread_ts == "1.1"


async def test_the_answer_does_not_wait_for_the_whisper_and_the_end_does(
    playground: Playground, adapter: SlackAdapter, desk: DeskDouble, clock: Clock
) -> None:
    desk.answer = Answer(Answered.LATE, "Too late.")
    playground.slack.misbehave("chat.postEphemeral", Slow(0.1))
    listener = SlackListener(a_config(), adapter, desk, clock=clock)

    answer = await listener.answer(*callback(a_press(), clock.seconds()))

    assert answer.status == 200
    assert not playground.slack.ephemerals("alice")
    await listener.close()
    assert playground.slack.ephemerals("alice")


async def test_a_whisper_that_fails_spoils_nothing(
    playground: Playground, adapter: SlackAdapter, desk: DeskDouble, clock: Clock
) -> None:
    desk.answer = Answer(Answered.LATE, "Too late.")
    playground.slack.misbehave("chat.postEphemeral", RateLimited(30))
    async with SlackListener(a_config(), adapter, desk, clock=clock) as listener:
        assert (await listener.answer(*callback(a_press(), clock.seconds()))).status == 200


async def test_a_press_in_the_playground_goes_the_whole_way(
    playground: Playground, client: Client, adapter: SlackAdapter, desk: DeskDouble
) -> None:
    playground.slack.deliver_to(str(client.make_url("/slack/events")))
    ref = await adapter.show([a_card()], Place("slack", "C0OPS"))

    [message] = playground.slack.messages()
    delivery = await playground.slack.press(message, "Always", by="alice")

    assert (delivery.status, delivery.body, delivery.error) == (200, "", None)
    [press] = desk.presses
    assert (press.choice, press.message) == ("always", ref)


async def test_a_press_in_a_direct_message_names_where_the_card_stands(
    playground: Playground, client: Client, adapter: SlackAdapter, desk: DeskDouble
) -> None:
    playground.slack.deliver_to(str(client.make_url("/slack/events")))
    ref = await adapter.show([a_card()], Place("slack", "U0ALICE"))

    await playground.slack.press(playground.slack.messages()[0], "Deny", by="alice")

    assert desk.presses[0].message == ref


async def test_a_client_that_hangs_up_loses_no_press(
    listener: SlackListener, desk: DeskDouble, clock: Clock
) -> None:
    stored, done = asyncio.Event(), asyncio.Event()

    async def store() -> None:
        await stored.wait()
        done.set()

    desk.meanwhile = store
    headers, body = callback(a_press(), clock.seconds())
    async with served(listener) as url, aiohttp.ClientSession() as session:
        answer = asyncio.create_task(session.post(url, data=body, headers=headers).__aenter__())
        await desk.pressed.wait()
        answer.cancel()
        await asyncio.gather(answer, return_exceptions=True)
        stored.set()

        async with asyncio.timeout(PATIENCE_SECONDS):
            await done.wait()


async def test_a_flood_of_presses_is_answered_also_when_not_all_can_be_told(
    desk: DeskDouble, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    slack_is_slow, told = asyncio.Event(), 0

    class SlowAdapter(SlackAdapter):
        async def whisper(self, actor: str, message: MessageRef, text: str) -> None:
            nonlocal told
            told += 1
            await slack_is_slow.wait()

    desk.answer = Answer(Answered.LATE, "Too late.")
    config = a_config()
    async with SlackListener(config, SlowAdapter(config), desk, clock=clock) as listener:
        for number in range(1_010):
            document = a_press(trigger_id=str(number))
            assert (await listener.answer(*callback(document, clock.seconds()))).status == 200
        await asyncio.sleep(0)
        slack_is_slow.set()

    assert told == 1_000
    assert caplog.text.count("too many to tell (from slack:U0ALICE)") == 1
