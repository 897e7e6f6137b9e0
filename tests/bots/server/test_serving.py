"""`sayso serve`: what it says at the start, how it answers, how it stops."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
from support.commands import (
    PEOPLE,
    ROUTES,
    Done,
    Run,
    deliver_to,
    env_of,
    served,
)

from sayso import Gate, RunRef, ToolCall
from sayso.stores.memory import memory_backend
from sayso.testing import until
from sayso_bots.cli.serve import summary
from sayso_bots.config.settings import build_settings
from sayso_bots.config.source import parse_source
from sayso_bots.server.server import Serving, serving
from sayso_playground import Playground, ServerError

ROUTE = '[[route]]\nto = ["slack:C0OPS"]\napprovers = ["slack:U0ALICE"]\n'
RUN = RunRef("an-agent", "a-session")


async def failed(run: Run, playground: Playground, toml: str, **env: str) -> Done:
    """``sayso serve``, which ends by itself because something is wrong."""
    environment = env_of(playground, SAYSO_STORE_URL="memory://")
    environment |= env
    return await asyncio.to_thread(run, "serve", env=environment, toml=toml)


@asynccontextmanager
async def bots(playground: Playground, toml: str = ROUTES, **env: str) -> AsyncIterator[Serving]:
    """The bots in this process, on memory."""
    environment = env_of(playground, SAYSO_STORE_URL="memory://")
    settings = build_settings(parse_source(toml, {**environment, **env}))
    async with serving(settings) as working:
        deliver_to(playground, working.url)
        yield working


async def get(url: str) -> tuple[int, Mapping[str, object]]:
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        return answer.status, await answer.json()


# Bad input at the edges


async def test_a_wrong_slack_token_is_one_line(run: Run, playground: Playground) -> None:
    done = await failed(run, playground, ROUTE, SLACK_BOT_TOKEN="xoxb-wrong-of-a-test")

    assert done.code == 2
    assert done.err == (
        "sayso: slack: auth.test: invalid_auth: SLACK_BOT_TOKEN is not valid: copy the Bot User "
        "OAuth Token (xoxb-…) from OAuth & Permissions in your Slack app\n"
    )


async def test_a_wrong_telegram_token_is_one_line(run: Run, playground: Playground) -> None:
    done = await failed(run, playground, ROUTES, TELEGRAM_BOT_TOKEN="4000000000:wrong-of-a-test")

    assert done.code == 2
    assert done.err == (
        "sayso: telegram: TELEGRAM_BOT_TOKEN is not valid: get the current one from @BotFather\n"
    )


async def test_a_wrong_app_token_is_one_line(run: Run, playground: Playground) -> None:
    done = await failed(
        run,
        playground,
        ROUTE,
        SAYSO_SLACK_MODE="socket",
        SLACK_APP_TOKEN="xapp-1-A0SAYSO-wrong-of-a-test",
    )

    assert done.code == 2
    assert done.err.startswith("sayso: slack: SLACK_APP_TOKEN is not valid; slack.mode =")
    assert done.err.count("\n") == 1


async def test_a_channel_the_bot_is_not_in_is_one_line(run: Run, playground: Playground) -> None:
    done = await failed(
        run, playground, '[[route]]\nto = ["slack:C0RANDOM"]\napprovers = ["slack:U0ALICE"]\n'
    )

    assert done.code == 2
    assert done.err == (
        "sayso: no place of any [[route]] can be used: slack:C0RANDOM — "
        "the bot is not in the channel: /invite @sayso there\n"
    )


async def test_a_port_in_use_is_one_line(run: Run, playground: Playground) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = await failed(run, playground, ROUTE, SAYSO_PORT=str(port))

    assert done.code == 2
    assert done.err == (
        f"sayso: port {port} on 127.0.0.1 is in use; stop what listens there, "
        "set server.port or SAYSO_PORT to another one, or server.reuse_port = true in all that "
        "share it\n"
    )


async def test_an_address_of_another_machine_is_one_line(run: Run, playground: Playground) -> None:
    done = await failed(run, playground, ROUTE, SAYSO_HOST="192.0.2.1")

    assert (done.code, done.err) == (
        2,
        (
            "sayso: cannot listen on 192.0.2.1; "
            "set server.host or SAYSO_HOST to an address of this machine\n"
        ),
    )


async def test_an_unknown_setting_and_an_unset_secret_are_one_line_each(
    run: Run, playground: Playground
) -> None:
    done = await failed(run, playground, ROUTE + "tim = 1\n", SLACK_SIGNING_SECRET="")

    assert done.code == 2
    assert done.err.splitlines() == [
        (
            "sayso: SLACK_SIGNING_SECRET is not set; it is the Signing Secret under Basic "
            "Information of your Slack app"
        ),
        "sayso: sayso.toml line 4: route 1.tim is not a setting; did you mean timeout?",
    ]


async def test_platforms_that_cannot_be_reached_are_one_line_and_no_wrong_setting(
    run: Run, playground: Playground
) -> None:
    away = "http://127.0.0.1:1"
    done = await failed(run, playground, ROUTE, SAYSO_SLACK_API_URL=away, TELEGRAM_BOT_TOKEN="")

    # A service manager does not start again what ended with 2.
    assert done.code == 1
    assert done.err.endswith("; see the network and slack.api_url or SAYSO_SLACK_API_URL\n")
    assert done.err.count("\n") == 1


async def test_a_wrong_token_is_a_wrong_setting_although_another_platform_is_away(
    run: Run, playground: Playground
) -> None:
    away = "http://127.0.0.1:1"
    wrong = {"TELEGRAM_BOT_TOKEN": "4000000000:wrong-of-a-test"}
    done = await failed(run, playground, ROUTES, SAYSO_SLACK_API_URL=away, **wrong)

    assert done.code == 2
    assert done.err.startswith("sayso: telegram: TELEGRAM_BOT_TOKEN is not valid")


# At work


async def test_the_start_says_where_who_and_what_is_wrong(playground: Playground) -> None:
    toml = PEOPLE + ROUTES.replace(PEOPLE, "") + '[[route]]\nto = ["slack:C0OPS"]\n'
    environment = env_of(playground, SAYSO_STORE_URL="memory://")
    settings = build_settings(parse_source(toml, environment))
    async with serving(settings) as working:
        said = list(summary(settings, working))

    assert said == [
        f"sayso serves on {working.url} (settings from {Path.cwd()}/sayso.toml)",
        "  store     memory://",
        "  slack     acme (T0ACME) as @sayso, presses at POST /slack/events",
        "  telegram  @sayso_bot, presses at POST /telegram/webhook",
        "  routes    3, the first that matches:",
        ("    tool nowhere_* → slack:C0RANDOM; may approve: alice (slack:U0ALICE, telegram:4242)"),
        (
            "    everything → slack:C0OPS, telegram:-1001234567890; "
            "may approve: alice (slack:U0ALICE, telegram:4242)"
        ),
        "    everything → slack:C0OPS; may approve: NOBODY",
        "warning: route 3 is never used: route 2 takes everything first",
        (
            "warning: route 3 has no approvers: NOBODY may approve what is shown in slack:C0OPS; "
            'add approvers = ["slack:U0ALICE"] or a person'
        ),
        (
            "warning: store: SAYSO_STORE_URL is memory://: only this process is served; "
            "`sayso ask` needs Redis"
        ),
        ("warning: place: slack:C0RANDOM — the bot is not in the channel: /invite @sayso there"),
        (
            "warning: webhook: none is registered; "
            "`sayso webhook set https://…/telegram/webhook` does it"
        ),
    ]


async def test_either_platform_works_alone(playground: Playground) -> None:
    only_slack = {"TELEGRAM_BOT_TOKEN": ""}
    only_telegram = {"SLACK_BOT_TOKEN": ""}
    to_telegram = '[[route]]\nto = ["telegram:4242"]\napprovers = ["telegram:4242"]\n'
    async with bots(playground, ROUTE, **only_slack) as one:
        assert list(one.platforms) == ["slack"]
    async with bots(playground, to_telegram, **only_telegram) as other:
        assert list(other.platforms) == ["telegram"]


async def test_it_is_alive_and_ready(playground: Playground) -> None:
    ready = {"ready": True, "problems": {}, "degraded": []}
    async with bots(playground) as working:
        assert await get(f"{working.url}/healthz") == (200, {"alive": True})
        assert await get(f"{working.url}/readyz") == (200, ready)
        assert await get(f"{working.url}/readyz?strict=1") == (200, ready)


async def test_a_platform_that_is_away_at_the_start_does_not_stop_the_other(
    playground: Playground,
) -> None:
    playground.slack.misbehave("auth.test", ServerError(503))
    async with bots(playground) as working, memory_backend():
        assert "HTTP 503" in working.platforms["slack"]
        status, _ = await get(f"{working.url}/readyz")

    assert status == 200


async def test_presses_are_taken_soon_after_a_platform_that_refused_at_the_start_answers(
    playground: Playground,
) -> None:
    playground.slack.misbehave("auth.test", ServerError(503), times=2)
    settings = build_settings(parse_source(ROUTES, env_of(playground, SAYSO_STORE_URL="memory://")))
    async with (
        memory_backend() as backend,
        serving(settings, backend=backend) as working,
        Gate.open(backend, run=RUN) as gate,
    ):
        deliver_to(playground, working.url)
        asked = asyncio.create_task(gate.check(ToolCall("x", {})))
        card = await playground.slack.message_where(lambda m: "Allow" in m.buttons)

        async def is_taken() -> bool:
            return (await playground.slack.press(card, "Allow", by="alice")).error is None

        async with asyncio.timeout(6):
            await until(is_taken)

        assert (await asked).decided_by == "slack:U0ALICE"


async def test_unsigned_calls_are_turned_away(playground: Playground) -> None:
    async with bots(playground) as working, aiohttp.ClientSession() as session:
        slack = await session.post(f"{working.url}/slack/events", data={"payload": "{}"})
        telegram = await session.post(f"{working.url}/telegram/webhook", json={})

    assert (slack.status, telegram.status) == (401, 401)


async def test_socket_mode_and_polling_need_no_address(playground: Playground) -> None:
    toml = ROUTES + '[slack]\nmode = "socket"\n[telegram]\nmode = "polling"\n'
    environment = env_of(playground, SLACK_APP_TOKEN=playground.config.slack_app_token)
    settings = build_settings(parse_source(toml, {**environment, "SAYSO_STORE_URL": "memory://"}))
    async with (
        memory_backend() as backend,
        serving(settings, backend=backend),
        Gate.open(backend, run=RUN) as gate,
    ):
        await playground.slack.socket.connected()
        first = asyncio.create_task(gate.check(ToolCall("x", {"n": "one"})))
        card = await playground.slack.message_where(lambda m: "one" in m.all_text)
        await playground.slack.press(card, "Allow", by="alice")
        second = asyncio.create_task(gate.check(ToolCall("x", {"n": "two"})))
        other = await playground.telegram.message_where(lambda m: "two" in m.text)
        await playground.telegram.press(other, "Deny", by="alice")

        assert (await first).decided_by == "slack:U0ALICE"
        assert (await second).decided_by == "telegram:4242"


async def test_a_blocked_bot_ends_the_request_undeliverable_and_says_why(
    playground: Playground,
) -> None:
    toml = '[[route]]\nto = ["telegram:4242"]\napprovers = ["telegram:4242"]\n'
    environment = env_of(playground, SLACK_BOT_TOKEN="", SAYSO_STORE_URL="memory://")
    playground.telegram.block("alice")
    async with memory_backend() as backend:
        settings = build_settings(parse_source(toml, environment))
        async with serving(settings, backend=backend), Gate.open(backend, run=RUN) as gate:
            verdict = await gate.check(ToolCall("x"))

    assert verdict.outcome.value == "undeliverable"
    assert "blocked by the user: the person has to unblock the bot" in verdict.reason


async def test_no_secret_is_printed(playground: Playground, tmp_path: Path) -> None:
    config = tmp_path / "sayso.toml"
    config.write_text(ROUTES)
    env = env_of(playground, SAYSO_STORE_URL="memory://")
    async with served(playground, config, env) as working:
        async with aiohttp.ClientSession() as session:
            headers = {"X-Slack-Signature": "v0=00", "X-Slack-Request-Timestamp": "abc"}
            url = next(line.split()[3] for line in working.lines if "serves on" in line)
            await session.post(f"{url}/slack/events", data=b"token=of-a-test", headers=headers)
        working.process.send_signal(signal.SIGTERM)
        done = await working.ended()

    said = "\n".join(working.lines) + done.err
    secrets = [env[name] for name in env if name.endswith(("TOKEN", "SECRET"))]
    assert [secret for secret in (*secrets, "of-a-test") if secret in said] == []
