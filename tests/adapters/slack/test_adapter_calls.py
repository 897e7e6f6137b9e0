import json
from collections.abc import Callable

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import BaseTestServer, TestServer
from support.clock import Clock
from support.slack_kit import a_card, a_config, an_ending

from sayso.chats.adapter import Adapter
from sayso.chats.places import MessageRef, Place, Press
from sayso.errors import DeliveryError
from sayso_playground import (
    DropConnection,
    Playground,
    RateLimited,
    ServerError,
    SlackMessage,
)
from sayso_slack import SlackAdapter, SlackConfig

OPS = Place("slack", "C0OPS")


def arguments(playground: Playground, method: str) -> dict[str, object]:
    return dict(next(call for call in playground.slack.calls if call.method == method).arguments)


async def test_it_is_what_the_desk_expects_of_an_adapter(adapter: SlackAdapter) -> None:
    port: Adapter = adapter

    assert (port.platform, port.limits.content, port.limits.reveal) == ("slack", 2_900, 150_000)


async def test_a_card_is_posted_and_its_reference_names_channel_and_message(
    adapter: SlackAdapter, playground: Playground
) -> None:
    ref = await adapter.show([a_card()], OPS)

    [message] = playground.slack.messages("C0OPS")
    assert ref == MessageRef(OPS, message.ts)
    assert list(message.buttons) == ["Allow", "Always", "Deny", "More…"]
    assert "thread_ts" not in arguments(playground, "chat.postMessage")


async def test_a_place_with_a_thread_is_a_reply(
    adapter: SlackAdapter, playground: Playground
) -> None:
    ref = await adapter.show([a_card()], Place("slack", "C0OPS", "1700000000.000100"))

    assert playground.slack.messages()[0].thread_ts == "1700000000.000100"
    assert ref.place == Place("slack", "C0OPS", "1700000000.000100")


async def test_a_card_for_a_person_stands_in_the_channel_that_presses_name(
    adapter: SlackAdapter, playground: Playground
) -> None:
    ref = await adapter.show([a_card()], Place("slack", "U0ALICE"))

    assert ref.place.address == playground.slack.messages()[0].channel == "D0ALICE"


async def test_an_ended_card_replaces_the_open_one_however_often(
    adapter: SlackAdapter, playground: Playground
) -> None:
    ref = await adapter.show([a_card()], OPS)

    for _ in range(2):
        await adapter.update(ref, [a_card(an_ending())])

    [message] = playground.slack.messages()
    assert list(message.buttons) == ["Details"]
    assert "Approved" in message.all_text
    assert "command: git status" in message.all_text


async def test_an_update_parses_as_little_as_the_message_did(
    adapter: SlackAdapter, playground: Playground
) -> None:
    await adapter.update(await adapter.show([a_card()], OPS), [a_card(an_ending())])

    for method in ("chat.postMessage", "chat.update"):
        sent = arguments(playground, method)
        assert (sent["parse"], sent["mrkdwn"], sent["link_names"]) == ("none", False, False)


async def test_show_all_opens_a_dialog_with_everything(
    adapter: SlackAdapter, playground: Playground
) -> None:
    card = a_card(content="long " * 1_000)
    ref = await adapter.show([card], OPS)

    await adapter.reveal(a_pressed(playground, ref), card)

    view = playground.slack.view("alice")
    assert view
    assert "long long" in json.dumps(view.view)


async def test_a_dialog_that_comes_too_late_says_to_press_again(
    adapter: SlackAdapter, playground: Playground, clock: Clock
) -> None:
    press = a_pressed(playground, await adapter.show([a_card()], OPS))
    clock.pass_by(4)

    with pytest.raises(DeliveryError, match=r"expired_trigger_id: .*press again") as caught:
        await adapter.reveal(press, a_card())

    assert caught.value.permanent
    assert press.ticket not in str(caught.value)


@pytest.mark.parametrize("ticket", ["", "1.2.unknown"])
async def test_a_dialog_needs_the_ticket_of_its_press(adapter: SlackAdapter, ticket: str) -> None:
    press = Press("h", "show", "slack:U0ALICE", MessageRef(OPS, "1.1"), ticket=ticket)

    with pytest.raises(DeliveryError, match="press again"):
        await adapter.reveal(press, a_card())


async def test_a_dialog_too_large_for_slack_is_not_even_tried(
    adapter: SlackAdapter, playground: Playground
) -> None:
    press = Press("h", "show", "slack:U0ALICE", MessageRef(OPS, "1.1"), ticket="1.2.3")

    with pytest.raises(DeliveryError, match="too large"):
        await adapter.reveal(press, a_card(content="語" * 100_000))

    assert not playground.slack.calls


async def test_a_rate_limit_says_how_long_to_wait_and_nothing_is_retried(
    adapter: SlackAdapter, playground: Playground
) -> None:
    playground.slack.misbehave("chat.postMessage", RateLimited(17))

    with pytest.raises(DeliveryError, match="rate limited") as caught:
        await adapter.show([a_card()], OPS)

    assert (caught.value.retry_after, caught.value.permanent) == (17, False)
    assert len(playground.slack.calls) == 1


@pytest.mark.parametrize("fault", [ServerError(503), ServerError(500), DropConnection()])
async def test_trouble_of_slacks_own_passes_and_is_tried_once(
    adapter: SlackAdapter, playground: Playground, fault: ServerError | DropConnection
) -> None:
    playground.slack.misbehave("chat.postMessage", fault)

    with pytest.raises(DeliveryError) as caught:
        await adapter.show([a_card()], OPS)

    assert not caught.value.permanent
    assert len(playground.slack.calls) == 1
    assert await adapter.show([a_card()], OPS)


@pytest.mark.parametrize(
    ("place", "fix"),
    [
        ("C0RANDOM", "not_in_channel: invite the bot there: /invite @sayso"),
        ("C0PRIVATE", "/invite"),
    ],
)
async def test_a_channel_without_the_bot_is_final_and_names_the_fix(
    adapter: SlackAdapter, place: str, fix: str
) -> None:
    await adapter.identity()

    with pytest.raises(DeliveryError, match=fix) as caught:
        await adapter.show([a_card()], Place("slack", place))

    assert caught.value.permanent


async def test_a_wrong_token_is_named_by_its_setting_and_never_quoted(
    playground: Playground,
) -> None:
    config = a_config(bot_token="xoxb-wrong-token", api_url=playground.slack_api_url)

    async with SlackAdapter(config) as adapter:
        with pytest.raises(DeliveryError, match="SLACK_BOT_TOKEN is not valid") as caught:
            await adapter.show([a_card()], OPS)

    assert caught.value.permanent
    assert "xoxb-wrong-token" not in str(caught.value)


async def test_a_message_that_is_gone_is_not_updated_for_ever(
    adapter: SlackAdapter, playground: Playground
) -> None:
    ref = await adapter.show([a_card()], OPS)
    playground.slack.state.delete(playground.slack.messages()[0])

    with pytest.raises(DeliveryError, match="message_not_found") as caught:
        await adapter.update(ref, [a_card(an_ending())])

    assert caught.value.permanent


async def test_a_message_of_somebody_else_cannot_be_updated(
    adapter: SlackAdapter, playground: Playground
) -> None:
    message = playground.slack.say("C0OPS", "hello", by="alice")

    with pytest.raises(DeliveryError, match="cant_update_message"):
        await adapter.update(MessageRef(OPS, message.ts), [a_card()])


@pytest.mark.parametrize(
    ("status", "body", "permanent", "words"),
    [
        (200, {"ok": False, "error": "missing_scope", "needed": "chat:write"}, True, "chat:write"),
        (200, {"ok": False, "error": "is_archived"}, True, "archived"),
        (200, {"ok": False, "error": "edit_window_closed"}, True, "edit"),
        (200, {"ok": False, "error": "invalid_arguments"}, True, "report this as a bug"),
        (200, {"ok": False, "error": "block_mismatch"}, True, "stays as it is"),
        (200, {"ok": False, "error": "something_new"}, True, "something_new"),
        (200, {"ok": False, "error": "{bot.__class__}"}, True, "__class__"),
        (200, {"ok": False, "error": "internal_error"}, False, "internal_error"),
        (200, {"ok": False, "error": "ratelimited"}, False, "ratelimited"),
        (200, {"ok": False, "error": ["x"]}, False, "HTTP 200"),
        (200, {}, False, "HTTP 200"),
        (200, "not json", False, "chat.postMessage"),
        (502, "<html>Bad Gateway</html>", False, "HTTP 502"),
        (429, "slow down", False, "rate limited"),
    ],
)
async def test_every_answer_becomes_a_delivery_error(
    status: int, body: object, permanent: bool, words: str
) -> None:
    async def refuse(_: web.Request) -> web.Response:
        if isinstance(body, str):
            return web.Response(status=status, text=body)
        return web.json_response(body, status=status)

    app = web.Application()
    app.router.add_route("*", "/api/{method}", refuse)
    async with TestServer(app) as server, SlackAdapter(at(server)) as adapter:
        with pytest.raises(DeliveryError, match=words) as caught:
            await adapter.show([a_card()], OPS)

    assert caught.value.permanent is permanent
    assert (caught.value.retry_after is not None) is ("rate" in words)


async def test_a_server_that_is_away_passes() -> None:
    server = TestServer(web.Application())
    await server.start_server()
    config = at(server)
    await server.close()

    async with SlackAdapter(config) as adapter:
        with pytest.raises(DeliveryError, match="lost its connection") as caught:
            await adapter.show([a_card()], OPS)

    assert not caught.value.permanent


@pytest.mark.parametrize("group", ["oncall", "S0ONCALL"])
async def test_a_user_group_is_read_by_its_handle_and_by_its_id(
    adapter: SlackAdapter, group: str
) -> None:
    assert set(await adapter.members(group)) == {"slack:U0ALICE"}


@pytest.mark.parametrize("group", ["nobody", "S0NOBODY"])
async def test_a_group_that_is_not_there_is_an_error_and_not_empty(
    adapter: SlackAdapter, group: str
) -> None:
    with pytest.raises(DeliveryError, match="user group"):
        await adapter.members(group)


async def test_a_group_that_was_disabled_approves_nothing() -> None:
    async def groups(request: web.Request) -> web.Response:
        if request.match_info["method"] == "usergroups.list":
            old = {"id": "S0OLD", "handle": "oncall", "date_delete": 1_700_000_000}
            new = {"id": "S0NEW", "handle": "oncall", "date_delete": 0}
            return web.json_response({"ok": True, "usergroups": [old, new]})
        return web.json_response({"ok": True, "users": [f"U0IN{request.query['usergroup']}"]})

    app = web.Application()
    app.router.add_get("/api/{method}", groups)
    async with TestServer(app) as server, SlackAdapter(at(server)) as adapter:
        assert set(await adapter.members("oncall")) == {"slack:U0INS0NEW"}


async def test_the_token_says_which_workspace_and_app_it_is(
    playground: Playground,
) -> None:
    config = a_config(api_url=playground.slack_api_url, team_id="", app_id="")

    async with SlackAdapter(config) as adapter:
        assert adapter.workspace.team_id == ""
        identity = await adapter.identity()

        assert (identity.team_id, identity.app_id) == ("T0ACME", "A0SAYSO")
        assert (identity.bot_id, identity.user_id) == ("B0SAYSO", "U0SAYSO")
        assert (adapter.workspace.team_id, adapter.workspace.app_id) == ("T0ACME", "A0SAYSO")


async def test_an_app_that_cannot_be_learned_stays_unknown(playground: Playground) -> None:
    playground.slack.misbehave("bots.info", ServerError(500))
    config = a_config(api_url=playground.slack_api_url, app_id="")

    async with SlackAdapter(config) as adapter:
        assert (await adapter.identity()).app_id == ""


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        ("C0OPS", None),
        ("U0ALICE", None),
        ("U0GHOST", "slack:U0GHOST — users.info: user_not_found"),
        ("C0RANDOM", "/invite @sayso there"),
        ("C0PRIVATE", "channel_not_found"),
        ("C0NOWHERE", "channel_not_found"),
    ],
)
async def test_a_place_is_checked_before_anybody_asks(
    adapter: SlackAdapter, place: str, problem: str | None
) -> None:
    await adapter.identity()

    found = await adapter.can_post(Place("slack", place))

    assert problem in found if isinstance(found, str) and problem else found is problem


async def test_a_whisper_reaches_one_person_as_plain_text(
    adapter: SlackAdapter, playground: Playground
) -> None:
    ref = await adapter.show([a_card()], OPS)

    await adapter.whisper("slack:U0BOB", ref, "Too late <!channel>")

    [message] = playground.slack.ephemerals("bob")
    assert message.blocks[0]["text"]["type"] == "plain_text"
    assert message.text == "Too late &lt;!channel&gt;"
    assert not playground.slack.ephemerals("alice")


async def test_whispers_that_fail_are_logged_once_a_minute_for_each_person(
    adapter: SlackAdapter, playground: Playground, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(5):
        await adapter.whisper("slack:U0STRANGER", MessageRef(OPS, "1.1"), "Too late")

    assert caplog.text.count("somebody could not be told privately") == 1
    assert "(from slack:U0STRANGER)" in caplog.text


async def test_once_uninstalled_nothing_is_tried_until_the_token_works_again(
    adapter: SlackAdapter, playground: Playground
) -> None:
    adapter.revoke("the app was uninstalled")

    with pytest.raises(DeliveryError, match="uninstalled") as caught:
        await adapter.show([a_card()], OPS)
    assert caught.value.permanent
    assert not playground.slack.calls

    await adapter.identity()
    assert await adapter.show([a_card()], OPS)


@pytest.mark.parametrize("trim", [str, lambda url: url.rstrip("/")])
async def test_the_api_address_may_end_with_a_slash(
    playground: Playground, trim: Callable[[str], str]
) -> None:
    async with SlackAdapter(a_config(api_url=trim(playground.slack_api_url))) as adapter:
        assert await adapter.show([a_card()], OPS)


async def test_a_session_that_was_handed_in_stays_open(playground: Playground) -> None:
    async with aiohttp.ClientSession() as session:
        config = a_config(api_url=playground.slack_api_url)
        async with SlackAdapter(config, session=session) as adapter:
            await adapter.show([a_card()], OPS)

        assert not session.closed


async def test_outside_its_block_it_says_so() -> None:
    with pytest.raises(RuntimeError, match="async with"):
        await SlackAdapter(a_config()).show([a_card()], OPS)


def at(server: BaseTestServer) -> SlackConfig:
    return a_config(api_url=str(server.make_url("/api/")))


def a_pressed(playground: Playground, ref: MessageRef) -> Press:
    message: SlackMessage = playground.slack.messages()[-1]
    payload = playground.slack.block_actions(message, "Deny", by="alice")
    return Press("h4ndle", "show", "slack:U0ALICE", ref, ticket=payload["trigger_id"])
