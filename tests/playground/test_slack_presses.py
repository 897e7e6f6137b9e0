import asyncio
import json
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from playground.listener import Listener, a_button, a_modal, some_blocks
from slack_sdk.errors import SlackApiError
from slack_sdk.signature import SignatureVerifier
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook.async_client import AsyncWebhookClient
from support.clock import Clock

from sayso_playground import DeliverTwice, Playground, SlackMessage


@pytest.fixture
async def card(playground: Playground, slack: AsyncWebClient) -> SlackMessage:
    await slack.chat_postMessage(channel="C0OPS", text="May I?", blocks=some_blocks())
    return await playground.slack.message_where(lambda m: bool(m.buttons))


async def test_a_press_carries_what_slack_sends(
    playground: Playground, listener: Listener, card: SlackMessage
) -> None:
    delivery = await playground.slack.press(card, "Allow", by="alice")

    payload = listener.heard[0].payload
    assert (delivery.status, delivery.error) == (200, None)
    assert payload["type"] == "block_actions"
    assert payload["user"] == {
        "id": "U0ALICE",
        "username": "alice",
        "name": "alice",
        "team_id": "T0ACME",
    }
    assert payload["team"]["id"] == "T0ACME"
    assert payload["api_app_id"] == "A0SAYSO"
    assert payload["channel"] == {"id": "C0OPS", "name": "ops"}
    assert payload["container"]["message_ts"] == payload["message"]["ts"] == card.ts
    assert payload["message"]["blocks"] == list(card.blocks)
    action = payload["actions"][0]
    assert (action["action_id"], action["block_id"], action["value"]) == ("allow", "row", "h1")
    assert {"token", "trigger_id", "response_url", "state"} <= set(payload)


async def test_a_press_is_signed(
    playground: Playground, listener: Listener, card: SlackMessage, clock: Clock
) -> None:
    class AtThatTime:
        def now(self) -> float:
            return clock.seconds()

    await playground.slack.press(card, "Allow", by="alice")

    heard = listener.heard[0]
    verifier = SignatureVerifier(playground.config.slack_signing_secret, AtThatTime())  # type: ignore[arg-type]
    assert heard.headers["content-type"] == "application/x-www-form-urlencoded"
    assert verifier.is_valid_request(heard.body, heard.headers)


async def test_the_signature_is_the_documented_one(playground: Playground) -> None:
    signed = playground.slack.sign(b"x=1", 1531420618)

    assert signed["X-Slack-Request-Timestamp"] == "1531420618"
    assert signed["X-Slack-Signature"].startswith("v0=")


async def test_an_answer_other_than_200_shows_the_person_an_error(
    playground: Playground, listener: Listener, card: SlackMessage
) -> None:
    async def refuse(_: dict[str, Any]) -> web.Response:
        return web.Response(status=503)

    listener.answer = refuse

    delivery = await playground.slack.press(card, "Allow", by="alice")

    assert (delivery.status, delivery.error) == (503, "the app answered 503")
    assert playground.slack.error_mark(card) == delivery.error


async def test_an_answer_that_comes_too_late_shows_the_person_an_error(
    impatient: Playground, listener: Listener
) -> None:
    async def wait(_: dict[str, Any]) -> web.Response:
        await listener.release.wait()
        return web.Response()

    listener.answer = wait
    (card,) = impatient.slack.messages()

    delivery = await impatient.slack.press(card, "Allow", by="alice")

    assert delivery.status is None
    assert "did not answer" in (delivery.error or "")


async def test_a_press_nobody_takes_shows_the_person_an_error(
    playground: Playground, card: SlackMessage
) -> None:
    playground.slack.deliver_to("http://127.0.0.1:9/nobody")

    delivery = await playground.slack.press(card, "Allow", by="alice")

    assert delivery.error == "the app could not be reached"


async def test_a_press_can_be_delivered_twice(
    playground: Playground, listener: Listener, card: SlackMessage
) -> None:
    playground.slack.misbehave("callback", DeliverTwice())

    await playground.slack.press(card, "Allow", by="alice")
    await playground.slack.press(card, "Allow", by="alice")

    first, second, third = (heard.body for heard in listener.heard)
    assert first == second != third


async def test_a_button_that_is_not_there_cannot_be_pressed(
    playground: Playground, card: SlackMessage
) -> None:
    with pytest.raises(LookupError, match="buttons are 'Allow'"):
        await playground.slack.press(card, "Deny", by="alice")


async def test_a_button_that_has_gone_can_still_be_pressed_by_a_slow_client(
    playground: Playground, listener: Listener, slack: AsyncWebClient, card: SlackMessage
) -> None:
    await slack.chat_update(channel="C0OPS", ts=card.ts, text="Allowed")

    await playground.slack.press(card, "Allow", by="bob")

    payload = listener.heard[0].payload
    assert payload["actions"][0]["action_id"] == "allow"
    assert payload["message"]["text"] == "Allowed"


async def test_a_payload_can_be_bent_before_it_is_signed(
    playground: Playground, listener: Listener, card: SlackMessage
) -> None:
    await playground.slack.press(card, "Allow", by="alice", alter=lambda p: p.update(team=None))

    assert listener.heard[0].payload["team"] is None


async def test_an_ephemeral_press_has_no_message_but_an_answer_address(
    playground: Playground, listener: Listener, slack: AsyncWebClient
) -> None:
    blocks = some_blocks(a_button("Dismiss"))
    await slack.chat_postEphemeral(channel="C0OPS", user="U0BOB", text="x", blocks=blocks)
    whisper = await playground.slack.ephemeral_where("bob")

    await playground.slack.press(whisper, "Dismiss", by="bob")

    payload = listener.heard[0].payload
    assert payload["container"]["is_ephemeral"] is True
    assert "message" not in payload
    answer = AsyncWebhookClient(payload["response_url"])
    await answer.send(text="gone", replace_original=True)
    assert [m.text for m in playground.slack.ephemerals("bob")] == ["gone"]


async def test_an_answer_address_works_five_times_within_30_minutes(
    playground: Playground, listener: Listener, card: SlackMessage, clock: Clock
) -> None:
    await playground.slack.press(card, "Allow", by="alice")
    await playground.slack.press(card, "Allow", by="alice")
    first, second = (AsyncWebhookClient(heard.payload["response_url"]) for heard in listener.heard)

    statuses = [(await first.send(text="no")).status_code for _ in range(6)]
    clock.pass_by(30 * 60 + 1)
    late = await second.send(text="no")

    assert statuses == [200] * 5 + [404]
    assert (late.status_code, "expired_url" in late.body) == (404, True)
    assert len(playground.slack.ephemerals("alice")) == 5


async def test_a_trigger_works_once_and_for_three_seconds(
    playground: Playground,
    listener: Listener,
    slack: AsyncWebClient,
    card: SlackMessage,
    clock: Clock,
) -> None:
    await playground.slack.press(card, "Allow", by="alice")
    await playground.slack.press(card, "Allow", by="alice")
    first, second = (heard.payload["trigger_id"] for heard in listener.heard)

    async def error_of(trigger_id: str) -> str:
        with pytest.raises(SlackApiError) as caught:
            await slack.views_open(trigger_id=trigger_id, view=a_modal())
        return str(caught.value.response["error"])

    await slack.views_open(trigger_id=first, view=a_modal())
    assert await error_of(first) == "exchanged_trigger_id"
    clock.pass_by(3.1)
    assert await error_of(second) == "expired_trigger_id"
    assert await error_of("1.2.x") == "invalid_trigger_id"


async def open_modal(
    playground: Playground, listener: Listener, slack: AsyncWebClient, card: SlackMessage
) -> None:
    async def answer(payload: dict[str, Any]) -> web.Response:
        await slack.views_open(trigger_id=payload["trigger_id"], view=a_modal())
        return web.Response()

    listener.answer = answer
    await playground.slack.press(card, "Allow", by="alice")


async def test_a_form_is_filled_in_and_sent(
    playground: Playground, listener: Listener, slack: AsyncWebClient, card: SlackMessage
) -> None:
    await open_modal(playground, listener, slack, card)
    listener.answer = Listener().answer
    view = await playground.slack.view_for("alice")

    delivery = await playground.slack.submit(view, {"reason": "too risky"}, by="alice")

    payload = listener.heard[-1].payload
    assert delivery.error is None
    assert payload["type"] == "view_submission"
    assert payload["view"]["state"]["values"]["why"]["reason"]["value"] == "too risky"
    assert playground.slack.view("alice") is None


async def test_errors_of_a_form_are_shown_and_it_stays_open(
    playground: Playground, listener: Listener, slack: AsyncWebClient, card: SlackMessage
) -> None:
    await open_modal(playground, listener, slack, card)

    async def complain(_: dict[str, Any]) -> web.Response:
        return web.json_response({"response_action": "errors", "errors": {"why": "longer"}})

    listener.answer = complain
    view = await playground.slack.view_for("alice")

    await playground.slack.submit(view, {"Reason": "no"}, by="alice")

    shown = playground.slack.view("alice")
    assert shown
    assert shown.errors == {"why": "longer"}
    values = listener.heard[-1].payload["view"]["state"]["values"]
    assert values["why"]["reason"] == {"type": "plain_text_input", "value": "no"}


async def test_a_form_that_is_closed_says_so_only_when_asked(
    playground: Playground, listener: Listener, slack: AsyncWebClient, card: SlackMessage
) -> None:
    await open_modal(playground, listener, slack, card)
    view = await playground.slack.view_for("alice")
    before = len(listener.heard)

    delivery = await playground.slack.close_view(view, by="alice")

    assert delivery is None
    assert len(listener.heard) == before


async def test_the_request_url_is_verified_with_a_challenge(
    playground: Playground, listener: Listener
) -> None:
    async def echo(payload: dict[str, Any]) -> web.Response:
        return web.json_response({"challenge": payload["challenge"]})

    silent = await playground.slack.verify_url()
    listener.answer = echo
    answered = await playground.slack.verify_url()

    assert silent.error == "the answer did not contain the challenge"
    assert answered.error is None


async def test_raw_bytes_arrive_as_they_are(playground: Playground, listener: Listener) -> None:
    headers = {"X-Slack-Signature": "v0=wrong", "Content-Type": "application/json"}

    await playground.slack.deliver_raw(b'{"type": "x"}', headers)

    assert listener.heard[0].body == b'{"type": "x"}'
    assert listener.heard[0].headers["x-slack-signature"] == "v0=wrong"


class SocketBot:
    """A Socket Mode client that acknowledges everything, or nothing."""

    def __init__(self, playground: Playground, *, acknowledges: bool = True) -> None:
        token = playground.config.slack_app_token
        web_client = AsyncWebClient(token, base_url=playground.slack_api_url)
        self.client = SocketModeClient(token, web_client=web_client)
        self.client.socket_mode_request_listeners.append(self._hear)
        self.heard: list[SocketModeRequest] = []
        self._acknowledges = acknowledges

    async def connect(self) -> None:
        await self.client.connect()  # type: ignore[no-untyped-call]  # the library's

    async def close(self) -> None:
        await self.client.close()  # type: ignore[no-untyped-call]  # the library's

    async def _hear(self, client: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        self.heard.append(request)
        if self._acknowledges:
            await client.send_socket_mode_response(SocketModeResponse(request.envelope_id))


async def test_a_press_over_a_socket_is_acknowledged_by_its_envelope(
    playground: Playground, card: SlackMessage
) -> None:
    playground.slack.deliver_to(None)
    bot = SocketBot(playground)
    await bot.connect()
    await playground.slack.socket.connected()

    delivery = await playground.slack.press(card, "Allow", by="alice")

    assert (delivery.status, delivery.error) == (200, None)
    assert (bot.heard[0].type, bot.heard[0].accepts_response_payload) == ("interactive", True)
    assert bot.heard[0].payload["user"]["id"] == "U0ALICE"
    await bot.close()


async def test_a_press_over_a_socket_that_is_not_acknowledged_shows_the_person_an_error(
    impatient: Playground,
) -> None:
    impatient.slack.deliver_to(None)
    (card,) = impatient.slack.messages()
    bot = SocketBot(impatient, acknowledges=False)
    await bot.connect()
    await impatient.slack.socket.connected()

    delivery = await impatient.slack.press(card, "Allow", by="alice")

    assert (delivery.status, delivery.error) == (None, "Slack could not reach the app")
    await bot.close()


async def test_a_press_without_any_socket_shows_the_person_an_error(
    playground: Playground, card: SlackMessage
) -> None:
    playground.slack.deliver_to(None)

    delivery = await playground.slack.press(card, "Allow", by="alice")

    assert delivery.error == "Slack could not reach the app"


async def test_waiting_ends_with_the_change_or_with_an_error(
    playground: Playground, slack: AsyncWebClient
) -> None:
    waiting = asyncio.create_task(playground.slack.message_where(lambda m: m.text == "later"))
    await slack.chat_postMessage(channel="C0OPS", text="later")

    assert (await waiting).text == "later"
    with pytest.raises(TimeoutError, match="no Slack message"):
        await playground.slack.message_where(lambda m: m.text == "never", timeout=0.01)


async def test_a_socket_ticket_works_once(playground: Playground) -> None:
    url = playground.slack.socket.new_url(playground.url)
    async with aiohttp.ClientSession() as client:
        async with client.ws_connect(url) as socket:
            hello = json.loads((await socket.receive()).data)

        with pytest.raises(aiohttp.WSServerHandshakeError):
            await client.ws_connect(url)

    assert hello["type"] == "hello"
