import pytest
from support.clock import Clock
from support.slack_kit import (
    FORM,
    TEAM,
    Client,
    a_card,
    callback,
    fixture,
    on_the_wire,
    post,
)

from sayso.chats.places import Place
from sayso.errors import (
    DeliveryError,
)
from sayso_playground import Playground
from sayso_slack import SlackAdapter
from sayso_slack.web_client import build_muffled_logger


async def test_slack_may_verify_the_address(
    playground: Playground, client: Client, clock: Clock
) -> None:
    playground.slack.deliver_to(str(client.make_url("/slack/events")))

    delivery = await playground.slack.verify_url()

    assert delivery.error is None
    assert delivery.status == 200
    unsigned = on_the_wire(fixture("url_verification.json"), "json")
    assert (await post(client, {"Content-Type": unsigned[0]}, unsigned[1]))[0] == 401


async def test_a_check_of_the_certificate_is_answered_when_it_is_signed(
    client: Client, clock: Clock
) -> None:
    check = {"ssl_check": "1", "token": "PLACEHOLDER"}

    assert await post(client, *callback(check, clock.seconds(), "form-fields")) == (200, "")
    assert (await post(client, {"Content-Type": FORM}, b"ssl_check=1"))[0] == 401


async def test_an_event_that_nobody_waits_for_is_taken_so_that_slack_goes_on(
    playground: Playground, client: Client
) -> None:
    playground.slack.deliver_to(str(client.make_url("/slack/events")))

    delivery = await playground.slack.send_event({"type": "app_home_opened", "user": "U0ALICE"})

    assert delivery.status == 200


async def test_a_repeated_event_is_taken_again(client: Client, clock: Clock) -> None:
    event = {**fixture("event_app_uninstalled.json"), "api_app_id": "A0SAYSO"}
    first = await post(client, *callback(event, clock.seconds(), "json"))
    headers, body = callback(event, clock.seconds() + 60, "json")
    again = await post(
        client, {**headers, "x-slack-retry-num": "1", "x-slack-retry-reason": "http_timeout"}, body
    )

    assert (first[0], again[0]) == (200, 200)


async def test_after_an_uninstall_nothing_is_shown_and_the_log_says_what_to_do(
    playground: Playground,
    client: Client,
    adapter: SlackAdapter,
    caplog: pytest.LogCaptureFixture,
) -> None:
    playground.slack.deliver_to(str(client.make_url("/slack/events")))

    delivery = await playground.slack.uninstall()

    assert delivery.status == 200
    assert "install it again" in caplog.text
    with pytest.raises(DeliveryError, match="uninstalled") as caught:
        await adapter.show([a_card()], Place("slack", "C0OPS"))
    assert caught.value.permanent
    assert not playground.slack.calls


@pytest.mark.parametrize(
    ("tokens", "is_dead"),
    [({"bot": ["U0SAYSO"]}, True), ({"oauth": ["U1"]}, False), (None, False)],
)
async def test_only_a_revoked_bot_token_stops_the_adapter(
    playground: Playground, client: Client, adapter: SlackAdapter, tokens: object, is_dead: bool
) -> None:
    playground.slack.deliver_to(str(client.make_url("/slack/events")))

    delivery = await playground.slack.send_event({"type": "tokens_revoked", "tokens": tokens})

    assert delivery.status == 200
    if is_dead:
        with pytest.raises(DeliveryError, match="revoked"):
            await adapter.show([a_card()], Place("slack", "C0OPS"))
    else:
        await adapter.show([a_card()], Place("slack", "C0OPS"))


async def test_an_uninstall_of_another_app_stops_nothing(
    client: Client, adapter: SlackAdapter, clock: Clock
) -> None:
    event = {**fixture("event_app_uninstalled.json"), "team_id": "T0OTHER"}

    assert (await post(client, *callback(event, clock.seconds(), "json")))[0] == 403
    await adapter.show([a_card()], Place("slack", "C0OPS"))


async def test_slacks_libraries_write_nothing_down(
    playground: Playground, client: Client, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    caplog.set_level("INFO", logger="aiohttp")
    for name in ("block_actions_dm.json", "view_submission_plain_text_input.json"):
        home = {"team": {"id": TEAM}, "api_app_id": "A0SAYSO", "user": {"id": "U1"}}
        document = {**fixture(name), **home, "enterprise": None}
        document["view"] = {**document.get("view", {}), "app_installed_team_id": TEAM}
        status, _ = await post(client, *callback(document, clock.seconds()))
        assert status == 404

    assert "PLACEHOLDER" not in caplog.text
    assert "xoxb" not in caplog.text
    talking = {record.name.partition(".")[0] for record in caplog.records}
    assert talking <= {"sayso_slack", "aiohttp", "asyncio"}


def test_a_library_in_trouble_is_heard_of_without_its_words(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    library = build_muffled_logger()

    try:
        raise ConnectionError("wss://slack.example/?ticket=SECRET")  # noqa: TRY301  as it happens
    except ConnectionError as error:
        library.exception(f"Failed to connect to {error}")
    library.warning("SECRET")
    library.info("SECRET")

    assert "reports ConnectionError in test_a_library_in_trouble" in caplog.text
    assert len(caplog.records) == 2
    assert "SECRET" not in caplog.text + "".join(capsys.readouterr())
