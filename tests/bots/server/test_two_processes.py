"""The main job: `sayso serve` in one process, `sayso ask` in another, Redis between them."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

import pytest
import pytest_asyncio
from support.commands import (
    ROUTES,
    SLACK,
    TELEGRAM,
    Process,
    env_of,
    process,
    served,
)
from support.live import is_live
from support.playing import a_playground

from sayso.calls import new_id
from sayso_playground import Playground, SlackMessage, TelegramMessage

pytestmark = pytest.mark.asyncio(loop_scope="module")


@dataclass(frozen=True)
class World:
    """Bots at work, and what it takes to ask them something."""

    playground: Playground
    store_url: str

    def ask(self, *argv: str) -> AbstractAsyncContextManager[Process]:
        """``sayso ask`` on a machine that knows the store and nothing else."""
        return process("ask", "--quiet", *argv, env={"SAYSO_STORE_URL": self.store_url})

    def command(self, *argv: str) -> AbstractAsyncContextManager[Process]:
        return process(*argv, env={"SAYSO_STORE_URL": self.store_url})

    async def slack_card(self, text: str) -> SlackMessage:
        return await self.playground.slack.message_where(lambda message: text in message.all_text)

    async def telegram_card(self, text: str) -> TelegramMessage:
        return await self.playground.telegram.message_where(lambda message: text in message.text)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(redis_url: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    config = tmp_path_factory.mktemp("bots") / "sayso.toml"
    config.write_text(ROUTES)
    store_url = f"{redis_url}{'&' if '?' in redis_url else '?'}namespace=bots-{new_id()}"
    async with a_playground() as playground:
        env = env_of(playground, SAYSO_STORE_URL=store_url)
        async with served(playground, config, env):
            yield World(playground, store_url)


async def test_allow_in_slack_ends_the_question_with_0(world: World) -> None:
    async with world.ask("run_command", "--arg", "command=ls one", "--timeout", "30s") as asking:
        card = await world.slack_card("ls one")
        await world.playground.slack.press(card, "Allow", by="alice")
        done = await asking.ended()

    assert (done.code, done.out, done.err) == (0, "approved by slack:U0ALICE\n", "")
    other = await world.telegram_card("Approved")
    assert "alice" in other.text
    assert not is_live(other.buttons)


async def test_deny_in_telegram_ends_the_question_with_1(world: World) -> None:
    async with world.ask(
        "run_command", "--arg", "command=ls two", "--timeout", "30s", "--json", "--source", "ci"
    ) as asking:
        card = await world.telegram_card("ls two")
        await world.playground.telegram.press(card, "Deny", by="alice")
        done = await asking.ended()

    verdict = json.loads(done.out)
    assert (done.code, done.err) == (1, "")
    assert verdict["outcome"] == "denied"
    assert verdict["approved"] is False
    assert verdict["arguments"] == {"command": "ls two"}
    assert verdict["decidedBy"] == "telegram:4242"
    assert verdict["requestId"]


async def test_silence_ends_the_question_with_3(world: World) -> None:
    async with world.ask("run_command", "--arg", "command=ls three", "--timeout", "1s") as asking:
        done = await asking.ended()

    assert (done.code, done.out) == (3, "expired\n")
    assert done.err == "sayso: expired: nobody answered in time\n"


async def test_a_question_that_can_be_shown_nowhere_ends_at_once_with_3_and_the_reason(
    world: World,
) -> None:
    async with world.ask("nowhere_tool", "--timeout", "30s") as asking:
        done = await asking.ended()

    assert (done.code, done.out) == (3, "undeliverable\n")
    assert done.err.startswith("sayso: undeliverable: slack:C0RANDOM: ")
    assert "/invite @sayso" in done.err


async def test_the_wrong_person_decides_nothing(world: World) -> None:
    async with world.ask("run_command", "--arg", "command=ls four", "--timeout", "30s") as asking:
        card = await world.slack_card("ls four")
        await world.playground.slack.press(card, "Allow", by="mallory")
        told = await world.playground.slack.ephemeral_where("mallory")
        await world.playground.slack.press(card, "Deny", by="alice")
        done = await asking.ended()

    assert "may not" in told.all_text
    assert done.code == 1


async def test_whoever_wants_it_does_not_approve_what_a_script_asks(world: World) -> None:
    wanted = ("--requested-by", "slack:U0ALICE")
    async with world.ask(
        "run_command", "--arg", "command=ls own", "--timeout", "30s", *wanted
    ) as asking:
        card = await world.telegram_card("ls own")
        refused = await world.playground.telegram.press(card, "Allow", by="alice")
        await world.playground.telegram.press(card, "Deny", by="alice")
        done = await asking.ended()
    async with world.command("audit", "--json", "--last", "3") as auditing:
        listed = json.loads((await auditing.ended()).out)

    assert (refused.toast or "").startswith("You asked for this")
    assert done.code == 1
    refusal = next(entry for entry in listed if entry["kind"] == "press_refused")
    assert (refusal["refusal"], refusal["by"]) == ("own_request", "telegram:4242")


async def test_a_waiting_request_is_listed_shown_and_cancelled(world: World) -> None:
    async with world.ask(
        "deploy", "--arg", "replicas:=3", "--agent", "ci", "--session", "s-9", "--timeout", "30s"
    ) as asking:
        await world.slack_card("deploy")
        await world.telegram_card("deploy")
        async with world.command("pending", "--json") as listing:
            (found,) = json.loads((await listing.ended()).out)
        async with world.command("pending") as listing:
            table = (await listing.ended()).out
        async with world.command("show", found["requestId"]) as showing:
            shown = (await showing.ended()).out
        async with world.command(
            "cancel", found["requestId"], "--reason", "not today"
        ) as cancelling:
            cancelled = await cancelling.ended()
        done = await asking.ended()

    assert found["request"]["arguments"] == {"replicas": 3}
    assert {copy["place"] for copy in found["copies"]} == {SLACK, TELEGRAM}
    assert table.splitlines()[0].split() == [
        "REQUEST", "ID", "TOOL", "AGENT", "SESSION", "EXPIRES", "IN", "SHOWN", "IN"
    ]  # fmt: skip
    assert all(word in table for word in (found["requestId"], "deploy", "ci", "s-9", SLACK))
    assert all(word in shown for word in ("replicas: 3", "open, expires in", TELEGRAM))
    assert (cancelled.code, cancelled.out) == (0, f"cancelled {found['requestId']}\n")
    assert (done.code, done.out) == (3, "cancelled by cli:tester@" + done.out.partition("@")[2])
    assert done.err == "sayso: cancelled: not today\n"


async def test_cancelling_too_late_says_who_was_first(world: World) -> None:
    async with world.ask(
        "run_command", "--arg", "command=ls five", "--timeout", "30s", "--json"
    ) as asking:
        card = await world.slack_card("ls five")
        await world.playground.slack.press(card, "Allow", by="alice")
        permission_id = json.loads((await asking.ended()).out)["requestId"]
    async with world.command("cancel", permission_id) as cancelling:
        done = await cancelling.ended()
    async with world.command("pending") as listing:
        nothing = await listing.ended()

    assert done.code == 1
    assert done.out.startswith("not cancelled: it was already approved by slack:U0ALICE at ")
    assert nothing.out == "Nothing waits. `sayso ask TOOL` asks something.\n"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
async def test_a_stopped_question_is_withdrawn(
    number: signal.Signals, code: int, world: World
) -> None:
    async with world.ask(
        "run_command", "--arg", f"command=stop with {code}", "--timeout", "30s"
    ) as asking:
        await world.slack_card(f"stop with {code}")
        async with world.command("pending") as listing:
            assert "run_command" in (await listing.ended()).out
        asking.process.send_signal(number)
        done = await asking.ended()
    card = await world.playground.slack.message_where(
        lambda m: f"stop with {code}" in m.all_text and "Cancelled" in m.all_text
    )

    assert (done.code, done.out) == (code, "")
    assert done.err == "sayso: withdrawn; the cards say so\n"
    assert not is_live(card.buttons)


async def test_a_stopped_question_is_a_verdict_for_programs(world: World) -> None:
    async with world.ask("run_command", "--arg", "command=stop it", "--json") as asking:
        await world.slack_card("stop it")
        asking.process.send_signal(signal.SIGINT)
        done = await asking.ended()

    verdict = json.loads(done.out)
    assert done.code == 130
    assert (verdict["outcome"], verdict["approved"]) == ("cancelled", False)
    assert verdict["requestId"]
    assert verdict["arguments"] == {"command": "stop it"}
    assert done.err == "sayso: withdrawn; the cards say so\n"


async def test_unknown_ids_are_told_apart_from_trouble(world: World) -> None:
    async with world.command("show", "no-such-id") as showing:
        done = await showing.ended()

    assert done.code == 1
    assert done.err.startswith("sayso: no request 'no-such-id'")


async def test_many_questions_at_once_get_their_own_answers(world: World) -> None:
    async def asked(name: str, button: str) -> int:
        async with world.ask(
            "run_command", "--arg", f"command=many-{name}-", "--timeout", "30s"
        ) as asking:
            card = await world.telegram_card(f"many-{name}-")
            await world.playground.telegram.press(card, button, by="alice")
            return (await asking.ended()).code

    codes = await asyncio.gather(asked("a", "Allow"), asked("b", "Deny"), asked("c", "Allow"))

    assert list(codes) == [0, 1, 0]
