from collections.abc import Awaitable
from typing import Any

import aiohttp
import pytest
from playground.listener import a_button, some_blocks
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from sayso_playground import Playground


async def error_of(call: Awaitable[Any]) -> str:
    with pytest.raises(SlackApiError) as caught:
        await call
    return str(caught.value.response["error"])


async def answer_of(call: Awaitable[AsyncSlackResponse]) -> dict[str, Any]:
    data = (await call).data
    assert isinstance(data, dict)
    return data


def rich(text: str) -> dict[str, Any]:
    leaf = {"type": "text", "text": text}
    part = {"type": "rich_text_preformatted", "elements": [leaf]}
    return {"type": "rich_text", "elements": [part]}


async def test_the_bot_learns_who_it_is(slack: AsyncWebClient) -> None:
    me = await answer_of(slack.auth_test())
    bot = await answer_of(slack.bots_info(bot=me["bot_id"]))

    assert (me["team_id"], me["user_id"]) == ("T0ACME", "U0SAYSO")
    assert bot["bot"]["app_id"] == "A0SAYSO"


async def test_a_message_is_posted_with_ids_for_its_blocks(
    playground: Playground, slack: AsyncWebClient
) -> None:
    sent = await answer_of(
        slack.chat_postMessage(channel="C0OPS", text="May I?", blocks=some_blocks())
    )

    message = await playground.slack.message_where(lambda m: m.text == "May I?")
    assert message.ts == sent["ts"]
    assert message.buttons == {"Allow": "allow"}
    assert all(block["block_id"] for block in sent["message"]["blocks"])


async def test_a_message_to_a_user_lands_in_the_direct_message(slack: AsyncWebClient) -> None:
    sent = await answer_of(slack.chat_postMessage(channel="U0BOB", text="psst"))

    assert sent["channel"] == "D0BOB"


async def test_tokens_are_checked(playground: Playground, slack: AsyncWebClient) -> None:
    nobody = AsyncWebClient(base_url=playground.slack_api_url)
    stranger = AsyncWebClient("xoxb-other", base_url=playground.slack_api_url)

    assert await error_of(nobody.auth_test()) == "not_authed"
    assert await error_of(stranger.auth_test()) == "invalid_auth"
    assert await error_of(slack.api_call("apps.connections.open")) == "not_allowed_token_type"


async def test_an_unknown_method_is_refused(slack: AsyncWebClient) -> None:
    assert await error_of(slack.api_call("chat.shout")) == "unknown_method"


@pytest.mark.parametrize(
    ("channel", "error"),
    [
        ("C0NOWHERE", "channel_not_found"),
        ("C0PRIVATE", "channel_not_found"),
        ("C0RANDOM", "not_in_channel"),
    ],
)
async def test_a_channel_the_bot_is_not_in_is_refused(
    slack: AsyncWebClient, channel: str, error: str
) -> None:
    assert await error_of(slack.chat_postMessage(channel=channel, text="x")) == error


async def test_what_is_missing_is_named(slack: AsyncWebClient) -> None:
    with pytest.raises(SlackApiError) as caught:
        await slack.api_call("chat.postMessage", json={"text": "x"})

    assert caught.value.response["error"] == "invalid_arguments"
    assert "channel" in caught.value.response["response_metadata"]["messages"][0]


async def test_a_message_without_text_and_blocks_is_refused(slack: AsyncWebClient) -> None:
    call = slack.api_call("chat.postMessage", json={"channel": "C0OPS", "text": " "})

    assert await error_of(call) == "no_text"


async def test_bad_blocks_are_refused_with_reasons(slack: AsyncWebClient) -> None:
    blocks = some_blocks(a_button("x" * 76))

    with pytest.raises(SlackApiError) as caught:
        await slack.chat_postMessage(channel="C0OPS", text="x", blocks=blocks)

    assert caught.value.response["error"] == "invalid_blocks"
    assert "less than 76" in caught.value.response["response_metadata"]["messages"][0]


async def test_more_than_12000_characters_in_legal_blocks_are_refused(
    slack: AsyncWebClient,
) -> None:
    blocks = [{"type": "section", "text": {"type": "plain_text", "text": "x" * 2500}}] * 5

    error = await error_of(slack.chat_postMessage(channel="C0OPS", text="x", blocks=blocks))

    assert error == "msg_blocks_too_long"


async def test_an_update_with_text_only_removes_the_blocks(
    playground: Playground, slack: AsyncWebClient
) -> None:
    sent = await answer_of(
        slack.chat_postMessage(channel="C0OPS", text="May I?", blocks=some_blocks())
    )

    await slack.chat_update(channel="C0OPS", ts=sent["ts"], text="Allowed")

    (message,) = playground.slack.messages("C0OPS")
    assert (message.text, message.blocks, message.edited) == ("Allowed", (), True)


async def test_an_update_that_cannot_be_is_refused(
    playground: Playground, slack: AsyncWebClient
) -> None:
    sent = await answer_of(slack.chat_postMessage(channel="C0OPS", text="x", blocks=[rich("x")]))
    whisper = await answer_of(slack.chat_postEphemeral(channel="C0OPS", user="U0BOB", text="x"))
    theirs = playground.slack.say("C0OPS", "mine", by="alice")

    async def update(ts: str, **arguments: Any) -> str:
        return await error_of(slack.chat_update(channel="C0OPS", ts=ts, **arguments))

    assert await update("1.2", text="x") == "message_not_found"
    assert await update(whisper["message_ts"], text="x") == "message_not_found"
    assert await update(theirs.ts, text="x") == "cant_update_message"
    assert await update(sent["ts"], text="x" * 4001) == "msg_too_long"
    assert await update(sent["ts"], text="x", blocks=some_blocks()) == "block_mismatch"


async def test_an_ephemeral_is_seen_by_one_person(
    playground: Playground, slack: AsyncWebClient
) -> None:
    await slack.chat_postEphemeral(channel="C0OPS", user="U0BOB", text="only you")

    assert [m.text for m in playground.slack.ephemerals("bob")] == ["only you"]
    assert playground.slack.ephemerals("alice") == []
    assert playground.slack.messages("C0OPS") == []


async def test_an_ephemeral_for_a_stranger_is_refused(slack: AsyncWebClient) -> None:
    call = slack.chat_postEphemeral(channel="C0OPS", user="U0NOBODY", text="x")

    assert await error_of(call) == "user_not_in_channel"


async def test_channels_and_user_groups_can_be_read(slack: AsyncWebClient) -> None:
    ops = await answer_of(slack.conversations_info(channel="C0OPS"))
    random = await answer_of(slack.conversations_info(channel="C0RANDOM"))
    groups = await answer_of(slack.usergroups_list())
    users = await answer_of(slack.usergroups_users_list(usergroup=groups["usergroups"][0]["id"]))

    assert (ops["channel"]["is_member"], random["channel"]["is_member"]) == (True, False)
    assert groups["usergroups"][0]["handle"] == "oncall"
    assert users["users"] == ["U0ALICE"]


async def test_a_reading_method_ignores_a_json_body(slack: AsyncWebClient) -> None:
    call = slack.api_call("conversations.info", json={"channel": "C0OPS"})

    assert await error_of(call) == "invalid_arguments"


async def test_calls_are_recorded_without_the_token(
    playground: Playground, slack: AsyncWebClient
) -> None:
    await slack.chat_postMessage(channel="C0OPS", text="hello")
    async with aiohttp.ClientSession() as client:
        url = f"{playground.slack_api_url}auth.test"
        await client.post(url, data={"token": "xoxb-playground"})

    posted, tested = playground.slack.calls
    assert (posted.method, posted.arguments["text"], posted.status) == (
        "chat.postMessage",
        "hello",
        200,
    )
    assert (tested.arguments, tested.error) == ({}, None)


async def test_after_an_uninstall_the_token_is_dead(
    playground: Playground, slack: AsyncWebClient
) -> None:
    delivery = await playground.slack.uninstall()

    assert delivery.status == 200
    assert await error_of(slack.auth_test()) == "account_inactive"
