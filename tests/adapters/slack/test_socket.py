import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from support.clock import Clock
from support.desk_double import DeskDouble
from support.slack_forms import a_form, a_view
from support.slack_kit import Payload, a_card, a_config, a_press, fixture

from sayso.chats.places import Answer, Answered, Place
from sayso.errors import DeliveryError, StoreUnreachableError
from sayso.testing.builders import PATIENCE_SECONDS
from sayso_playground import Playground, PlaygroundConfig, RateLimited, ServerError
from sayso_slack import SlackAdapter, SlackConfig, SlackListener
from sayso_slack.socket_mode import Pace, SocketConnection, Take

APP_TOKEN = "xapp-1-A0SAYSO-playground"


@pytest.fixture
async def playground(clock: Clock) -> AsyncIterator[Playground]:
    config = PlaygroundConfig(clock=clock.seconds, slack_ack_seconds=0.5)
    async with Playground(config) as playground:
        yield playground


@pytest.fixture
async def listener(
    playground: Playground, desk: DeskDouble, clock: Clock
) -> AsyncIterator[SlackListener]:
    config = a_config(
        mode="socket",
        signing_secrets=(),
        app_token=APP_TOKEN,
        api_url=playground.slack_api_url,
    )
    async with (
        SlackAdapter(config) as adapter,
        SlackListener(config, adapter, desk, clock=clock) as listener,
    ):
        yield listener


@asynccontextmanager
async def connected(listener: SlackListener, playground: Playground) -> AsyncIterator[None]:
    task = asyncio.create_task(listener.run_socket())
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await playground.slack.socket.connected()
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_press_over_a_socket_goes_the_same_way(
    listener: SlackListener, adapter: SlackAdapter, playground: Playground, desk: DeskDouble
) -> None:
    ref = await adapter.show([a_card()], Place("slack", "C0OPS"))

    async with connected(listener, playground):
        delivery = await playground.slack.press(playground.slack.messages()[0], "Allow", by="alice")

    assert (delivery.status, delivery.body) == (200, "")
    [press] = desk.presses
    assert (press.choice, press.actor, press.message) == ("allow", "slack:U0ALICE", ref)
    assert press.delivery.startswith("slack:")


async def test_an_envelope_is_acknowledged_after_the_press_was_stored(
    listener: SlackListener, adapter: SlackAdapter, playground: Playground, desk: DeskDouble
) -> None:
    stored = asyncio.Event()
    desk.meanwhile = stored.wait
    await adapter.show([a_card()], Place("slack", "C0OPS"))
    async with connected(listener, playground):
        press = playground.slack.press(playground.slack.messages()[0], "Allow", by="alice")
        delivery = asyncio.create_task(press)
        await desk.pressed.wait()

        assert not delivery.done()
        stored.set()

        assert (await delivery).status == 200


async def test_a_press_that_is_not_stored_is_not_acknowledged(
    listener: SlackListener, adapter: SlackAdapter, playground: Playground, desk: DeskDouble
) -> None:
    desk.error = StoreUnreachableError("redis does not answer")
    await adapter.show([a_card()], Place("slack", "C0OPS"))

    async with connected(listener, playground):
        delivery = await playground.slack.press(playground.slack.messages()[0], "Allow", by="alice")

    assert delivery.status is None
    assert delivery.error


async def test_presses_of_strangers_are_refused_on_a_socket_too(
    listener: SlackListener, adapter: SlackAdapter, playground: Playground, desk: DeskDouble
) -> None:
    def from_elsewhere(payload: Payload) -> None:
        payload["user"]["team_id"] = "T0OTHER"

    await adapter.show([a_card()], Place("slack", "C0OPS"))

    async with connected(listener, playground):
        delivery = await playground.slack.press(
            playground.slack.messages()[0], "Allow", by="alice", alter=from_elsewhere
        )

    assert delivery.status is None
    assert not desk.presses


async def test_the_sample_in_slacks_documentation_presses_nothing(
    listener: SlackListener, desk: DeskDouble
) -> None:
    envelope = fixture("socket_mode_envelope_block_actions.json")

    answer = await listener.answer_envelope(envelope["envelope_id"], envelope["payload"])

    assert answer.status == 403
    assert not desk.presses


async def test_a_form_over_a_socket_is_answered_there(
    listener: SlackListener, playground: Playground, desk: DeskDouble
) -> None:
    view = playground.slack.state.open_view("U0ALICE", a_view(a_form()))
    async with connected(listener, playground):
        desk.error = StoreUnreachableError("redis does not answer")
        lost = await playground.slack.submit(view, {"It": "no"}, by="alice")
        kept = playground.slack.view("alice")
        desk.error = None
        desk.answer = Answer(Answered.INVALID, "no", {"it": "longer"})
        await playground.slack.submit(view, {"It": "no"}, by="alice")
        shown = playground.slack.view("alice")
        desk.answer = Answer(Answered.RECORDED, "Answered.")
        taken = await playground.slack.submit(view, {"It": "yes"}, by="alice")

    assert (lost.status, kept) == (None, view)
    assert shown
    assert shown.errors == {"sayso:in:it": "longer"}
    assert (taken.status, taken.body) == (200, "")
    assert playground.slack.view("alice") is None
    assert [press.inputs for press in desk.presses] == [{"it": "no"}, {"it": "no"}, {"it": "yes"}]


async def test_a_press_with_half_of_a_surrogate_pair_is_refused_and_no_fault_of_ours(
    listener: SlackListener, desk: DeskDouble
) -> None:
    press = a_press()
    press["actions"][0]["value"] = "h4ndle\ud800"

    answer = await listener.answer_envelope("e1", press)

    assert answer.status == 400
    assert not desk.presses


async def test_an_envelope_that_comes_twice_is_taken_once(
    listener: SlackListener, desk: DeskDouble
) -> None:
    statuses = [(await listener.answer_envelope("e1", a_press())).status for _ in range(2)]

    assert statuses == [200, 409]
    assert len(desk.presses) == 1


async def test_events_are_acknowledged(listener: SlackListener, playground: Playground) -> None:
    async with connected(listener, playground):
        delivery = await playground.slack.send_event({"type": "app_home_opened"})

    assert delivery.status == 200


async def test_the_presser_is_told_privately(
    listener: SlackListener, adapter: SlackAdapter, playground: Playground, desk: DeskDouble
) -> None:
    desk.answer = Answer(Answered.LATE, "Too late.")
    await adapter.show([a_card()], Place("slack", "C0OPS"))

    async with connected(listener, playground):
        await playground.slack.press(playground.slack.messages()[0], "Allow", by="alice")
        message = await playground.slack.ephemeral_where("alice")

    assert message.text == "Too late."


async def test_a_connection_that_slack_ends_is_opened_again(
    listener: SlackListener, adapter: SlackAdapter, playground: Playground, desk: DeskDouble
) -> None:
    await adapter.show([a_card()], Place("slack", "C0OPS"))

    async with connected(listener, playground):
        await playground.slack.socket.disconnect()
        await playground.slack.until(lambda: attempts(playground, 200) == 2)
        await playground.slack.socket.connected()
        delivery = await playground.slack.press(playground.slack.messages()[0], "Deny", by="alice")

    assert delivery.status == 200
    assert desk.presses[0].choice == "deny"


async def test_at_the_end_a_press_that_has_arrived_is_still_answered(
    listener: SlackListener, adapter: SlackAdapter, playground: Playground, desk: DeskDouble
) -> None:
    stored = asyncio.Event()
    desk.meanwhile = stored.wait
    await adapter.show([a_card()], Place("slack", "C0OPS"))
    running = asyncio.create_task(listener.run_socket())
    await playground.slack.socket.connected()
    press = playground.slack.press(playground.slack.messages()[0], "Allow", by="alice")
    delivery = asyncio.create_task(press)
    await desk.pressed.wait()

    running.cancel()
    assert not (await asyncio.wait({running}, timeout=0.1))[0]
    stored.set()

    assert (await delivery).status == 200
    await asyncio.gather(running, return_exceptions=True)


async def test_a_token_that_slack_refuses_is_an_error_that_names_it(
    playground: Playground, desk: DeskDouble, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    config = a_config(mode="socket", app_token="xapp-wrong-token", api_url=playground.slack_api_url)
    async with (
        SlackAdapter(config) as adapter,
        SlackListener(config, adapter, desk, clock=clock) as listener,
    ):
        with pytest.raises(DeliveryError, match="SLACK_APP_TOKEN") as caught:
            await listener.run_socket()

    assert "wrong-token" not in f"{caught.value}{caplog.text}"


async def test_a_busy_slack_is_asked_again(listener: SlackListener, playground: Playground) -> None:
    playground.slack.misbehave("apps.connections.open", RateLimited(0))

    async with connected(listener, playground):
        assert playground.slack.socket.connections == 1


async def test_addresses_and_tokens_of_sockets_are_not_written_down(
    listener: SlackListener, playground: Playground, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    async with connected(listener, playground):
        await playground.slack.send_event({"type": "app_home_opened", "text": "SECRET-EVENT"})

    assert "ticket=" not in caplog.text.replace("GET /slack/socket?ticket=", "")
    assert APP_TOKEN not in caplog.text
    assert "SECRET-EVENT" not in caplog.text


class DeadAddress:
    """Slack, whose second address never answers: slack_sdk keeps trying it."""

    def __init__(self) -> None:
        self.opened = 0
        self.made_anew = asyncio.Event()

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_post("/api/apps.connections.open", self.open)
        app.router.add_get("/socket/{number}", self.serve)
        return app

    async def open(self, request: web.Request) -> web.Response:
        self.opened += 1
        url = f"ws://{request.host}/socket/{self.opened}?ticket=SECRET"
        return web.json_response({"ok": True, "url": url})

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        number = int(request.match_info["number"])
        if number == 2:
            raise web.HTTPForbidden
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        if number == 3:
            self.made_anew.set()
            await socket.receive()
        return socket


def connect(config: SlackConfig, adapter: SlackAdapter, take: Take, **how: Any) -> SocketConnection:
    return SocketConnection(config, adapter.client, adapter.socket_url, take, **how)


async def test_a_connection_that_does_not_come_back_is_made_anew(
    listener: SlackListener, caplog: pytest.LogCaptureFixture
) -> None:
    slack, pace = DeadAddress(), Pace(ping=0.01, connect=1, away=0.05, retry=0.01)
    async with TestServer(slack.app()) as server:
        config = a_config(app_token=APP_TOKEN, api_url=str(server.make_url("/api/")))
        async with SlackAdapter(config) as adapter:
            take = listener.answer_envelope
            running = asyncio.create_task(connect(config, adapter, take, pace=pace).run())
            async with asyncio.timeout(PATIENCE_SECONDS):
                await slack.made_anew.wait()
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)

    assert slack.opened >= 3
    # The double's own log of requests is none of ours.
    logged = [one.getMessage() for one in caplog.records if one.name != "aiohttp.access"]
    library = [line for line in logged if line.startswith("Slack's library reports")]
    assert len(library) == len(set(library)) > 0
    assert any("opening a new one" in line for line in logged)
    assert not any("SECRET" in line for line in logged)


async def test_a_slack_that_stays_away_is_asked_ever_less_often_and_its_return_is_told(
    listener: SlackListener, playground: Playground, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "sayso_slack")
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    config = a_config(app_token=APP_TOKEN, api_url=playground.slack_api_url)
    playground.slack.misbehave("apps.connections.open", ServerError(503), times=8)
    async with SlackAdapter(config) as adapter:
        take = listener.answer_envelope
        running = asyncio.create_task(connect(config, adapter, take, pause=pause).run())
        async with asyncio.timeout(PATIENCE_SECONDS):
            await playground.slack.socket.connected()
        await playground.slack.send_event({"type": "app_home_opened"})
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    for took, meant in zip(pauses, [5, 10, 20, 40, 60, 60, 60, 60], strict=True):
        assert 0.75 * meant <= took <= 1.25 * meant
    assert "connected to Slack over Socket Mode again, after 8 failed attempts" in caplog.messages


def attempts(playground: Playground, status: int) -> int:
    calls = [call for call in playground.slack.calls if call.method == "apps.connections.open"]
    return [call.status for call in calls].count(status)


@pytest.mark.parametrize("envelope_id", [5, None, "", "\ud800", ["e1"]])
async def test_an_envelope_without_an_id_is_never_acknowledged_and_no_accident(
    listener: SlackListener, desk: DeskDouble, envelope_id: Any, caplog: pytest.LogCaptureFixture
) -> None:
    assert (await listener.answer_envelope(envelope_id, a_press())).status == 400
    assert not desk.presses
    assert not [one for one in caplog.records if one.exc_info]


async def test_envelopes_that_are_refused_are_counted_and_logged_once(
    listener: SlackListener, caplog: pytest.LogCaptureFixture
) -> None:
    statuses = {
        (await listener.answer_envelope("an-envelope", a_press(team={"id": "T0OTHER"}))).status
        for _ in range(300)
    }
    other = {
        (await listener.answer_envelope(f"envelope-{n}", a_press(team={"id": "T0OTHER"}))).status
        for n in range(300)
    }

    assert (statuses, other) == ({403, 409}, {403})
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 2
    assert all(line.endswith("(from Socket Mode)") for line in said)
    assert not any("PLACEHOLDER" in line for line in said)
