"""Calls that come together are shown together: gathered, never lost, never held up for long."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import timedelta
from typing import Any

from support.bundle_room import RUN, a_call, a_room, line, states
from support.chat_double import ChatDouble, press_on, working

from sayso import Gate, RunRef, ToolCall
from sayso.cards.bundle import MOST_IN_BUNDLE
from sayso.cards.card import Ended, Open
from sayso.chats.places import Place
from sayso.errors import DeliveryError, UnreadableEventError
from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend
from sayso.testing import StoppedClock
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker

OPS = Place("slack", "C0OPS")


async def test_calls_asked_about_together_share_one_message(backend: Backend) -> None:
    async with a_room(backend) as room:
        ref, cards = await room.shown("build", "test", "deploy")

        assert states(cards) == {"build": "open", "test": "open", "deploy": "open"}
        assert len({card.handle for card in cards}) == 3
        assert [(card.number, card.count) for card in cards] == [(1, 3), (2, 3), (3, 3)]
        assert room.chat.cards == {}
        assert list(room.chat.bundles) == [ref]
        records = await backend.store.list_requests()
        bundles = {copy.bundle for record in records for copy in record.copies}
        assert bundles == {tuple(card.handle for card in cards)}


async def test_a_call_that_comes_alone_has_an_ordinary_card(backend: Backend) -> None:
    async with a_room(backend) as room:
        room.ask_about("build")
        await room.gathered(1)
        room.window.close()

        ref, card = await room.chat.card_where()
        await room.press(ref, card, "allow")

        assert await room.verdicts() == {"build": "approved"}
        assert room.chat.bundles == {}


async def test_gates_of_one_session_share_a_message_without_naming_a_run(backend: Backend) -> None:
    async with a_room(backend) as room:
        checks = []
        async with AsyncExitStack() as stack:
            for tool in ("build", "test"):
                opened = Gate.open(backend, run=RunRef("deploy-bot", "s-2"), timeout=20)
                gate = await stack.enter_async_context(opened)
                checks.append(asyncio.create_task(gate.check(a_call(tool))))
            await room.gathered(2)
            room.window.close()
            _, cards = await room.chat.bundle_where(lambda cards: len(cards) == 2)

            assert states(cards) == {"build": "open", "test": "open"}
            for check in checks:
                check.cancel()


async def test_calls_of_another_run_and_of_another_route_have_cards_of_their_own(
    backend: Backend,
) -> None:
    routes = Routes(
        [
            Route((OPS,), tool="deploy", approvers=("slack:U0BOB",)),
            Route((OPS,), approvers=("slack:U0ALICE",)),
        ]
    )
    async with (
        a_room(backend, routes=routes) as room,
        Gate.open(backend, run=RunRef("deploy-bot", "s-1", run_id="run-2"), timeout=20) as other,
    ):
        room.ask_about("build", "deploy")
        stranger = asyncio.create_task(other.check(a_call("test")))
        await room.gathered(3)
        room.window.close()

        for tool in ("build", "deploy", "test"):
            await room.chat.card_where(lambda card, tool=tool: card.body.title == tool)  # type: ignore[misc]
        assert room.chat.bundles == {}
        stranger.cancel()


async def test_more_calls_than_a_card_holds_begin_another_one(backend: Backend) -> None:
    async with a_room(backend) as room:
        tools = [f"tool-{number}" for number in range(MOST_IN_BUNDLE + 2)]
        room.ask_about(*tools)
        await room.chat.bundle_where(lambda cards: len(cards) == MOST_IN_BUNDLE)
        await room.gathered(2)
        room.window.close()

        await room.chat.bundle_where(lambda cards: len(cards) == 2)
        shown = [title for cards in room.chat.bundles.values() for title in states(cards)]
        assert sorted(shown) == sorted(tools)


async def test_without_a_window_each_call_has_its_own_card(backend: Backend) -> None:
    chat = ChatDouble()
    routes = Routes([Route((OPS,), approvers=("slack:U0ALICE",))])
    async with (
        Gate.open(backend, run=RUN, timeout=20) as gate,
        working(ApprovalWorker(backend, [chat], routes)),
    ):
        checks = [asyncio.create_task(gate.check(a_call(tool))) for tool in ("build", "test")]
        await chat.card_where(lambda _: len(chat.cards) == 2)
        for check in checks:
            check.cancel()
    assert chat.bundles == {}


async def test_a_call_that_the_platform_has_no_room_for_has_a_card_beside_the_others(
    backend: Backend,
) -> None:
    async with a_room(backend) as room:
        ref, cards = await room.shown("build", "lonely", "test")

        assert set(states(cards)) == {"build", "test"}
        alone, card = await room.chat.card_where(lambda card: card.body.title == "lonely")
        await room.press(alone, card, "deny")
        await room.press(ref, cards[0], "allow-all")
        assert await room.verdicts() == {
            "build": "approved",
            "lonely": "denied",
            "test": "approved",
        }


async def test_a_message_that_the_platform_refuses_becomes_cards_of_their_own(
    backend: Backend,
) -> None:
    async with a_room(backend) as room:
        room.chat.fail("show a bundle", DeliveryError("slack", "invalid_blocks", permanent=True))
        room.ask_about("build", "test")
        await room.gathered(2)
        room.window.close()

        await room.chat.card_where(lambda _: len(room.chat.cards) == 2)
        for ref, card in list(room.chat.cards.items()):
            await room.press(ref, card, "allow")
        assert set((await room.verdicts()).values()) == {"approved"}


async def test_a_place_that_takes_nothing_makes_each_of_them_undeliverable(
    backend: Backend,
) -> None:
    async with a_room(backend) as room:
        gone = DeliveryError("slack", "not_in_channel", permanent=True)
        room.chat.fail("show a bundle", gone)
        room.chat.fail("show", gone, gone)
        room.ask_about("build", "test")
        await room.gathered(2)
        room.window.close()

        verdicts = [await check for check in room.checks.values()]

        assert {verdict.outcome.value for verdict in verdicts} == {"undeliverable"}
        assert all("not_in_channel" in verdict.reason for verdict in verdicts)


async def test_a_passing_failure_is_tried_again_and_both_messages_work(backend: Backend) -> None:
    class Forgetful(ChatDouble):
        """Posts the first message and loses the answer on the way."""

        lost = False

        async def show(self, cards: Any, place: Place) -> Any:
            ref = await super().show(cards, place)
            if not self.lost:
                self.lost = True
                raise DeliveryError("slack", "the connection dropped")
            return ref

    chat = Forgetful()
    async with a_room(backend, chat) as room:
        room.ask_about("build", "test")
        await room.gathered(2)
        room.window.close()
        await chat.bundle_where(lambda _: len(chat.bundles) == 2)
        await room.settled()
        first, cards = next(iter(chat.bundles.items()))

        answer = await room.press(first, cards[0], "allow-all")

        assert answer.text == "2 approved."
        await chat.bundle_where(
            lambda _: all(
                isinstance(card.state, Ended) for cards in chat.bundles.values() for card in cards
            )
        )


async def test_a_desk_that_stops_while_calls_gather_leaves_them_to_another(
    backend: Backend,
) -> None:
    async with a_room(backend) as room:
        room.ask_about("build", "test")
        await room.gathered(2)
        other = ChatDouble()
        routes = Routes([Route((OPS,), approvers=("slack:U0ALICE",))])
        leaving = asyncio.create_task(_stopped(room.desk))
        await asyncio.sleep(0)
        room.window.close()
        await leaving

        async with working(ApprovalWorker(backend, [other], routes)) as desk:
            await other.card_where(lambda _: len(other.cards) == 2)
            for ref, card in list(other.cards.items()):
                await desk.press(press_on(ref, card, "allow"))
        assert set((await room.verdicts()).values()) == {"approved"}
    assert room.chat.bundles == {}


async def test_check_batch_together_asks_all_at_once_and_keeps_the_order(backend: Backend) -> None:
    async with a_room(backend) as room:
        calls = [a_call(tool) for tool in ("build", "test", "deploy")]
        batch = asyncio.create_task(room.gate.check_batch(calls, together=True))
        await room.gathered(3)
        room.window.close()
        ref, cards = await room.chat.bundle_where()
        await room.press(ref, line(cards, "deploy"), "deny")
        await room.press(ref, line(cards, "build"), "allow-all")

        verdicts = await batch

    assert [(one.tool, one.approved) for one in verdicts] == [
        ("build", True),
        ("test", True),
        ("deploy", False),
    ]


async def test_run_batch_together_runs_what_was_allowed(backend: Backend) -> None:
    async def build(command: str) -> str:
        return f"ran {command}"

    async with a_room(backend) as room:
        calls = [a_call("build"), ToolCall("build", {"command": "again"}), a_call("missing")]
        batch = asyncio.create_task(room.gate.run_batch(calls, {"build": build}, together=True))
        await room.gathered(2)
        room.window.close()
        ref, cards = await room.chat.bundle_where()
        await room.press(ref, cards[0], "allow-all")

        results = await batch

    assert [result.content for result in results[:2]] == ["ran do build", "ran again"]
    assert "no tool has this name" in results[2].content


async def test_a_batch_asks_one_after_the_other_unless_told(backend: Backend) -> None:
    async with a_room(backend) as room:
        room.window.close()
        batch = asyncio.create_task(room.gate.check_batch([a_call("build"), a_call("test")]))
        ref, card = await room.chat.card_where()
        await room.settled()
        assert len(await backend.store.list_requests()) == 1

        await room.press(ref, card, "allow")
        ref, card = await room.chat.card_where(lambda card: card.body.title == "test")
        await room.press(ref, card, "allow")

        assert all(verdict.approved for verdict in await batch)
    assert room.chat.bundles == {}


async def test_a_batch_that_is_cancelled_cancels_all_of_its_questions(backend: Backend) -> None:
    async with a_room(backend) as room:
        batch = asyncio.create_task(
            room.gate.check_batch([a_call("build"), a_call("test")], together=True)
        )
        await room.gathered(2)
        room.window.close()
        ref, _ = await room.chat.bundle_where()

        batch.cancel()

        cards = await room.now(ref, lambda cards: "open" not in states(cards).values())
        assert set(states(cards).values()) == {"cancelled"}


async def test_calls_that_expire_say_so_and_leave_the_others_their_buttons() -> None:
    clock = StoppedClock()
    async with memory_backend(clock=clock) as backend, a_room(backend, clock=clock) as room:
        room.ask_about("short", timeout=5)
        room.ask_about("long", timeout=500)
        await room.gathered(2)
        room.window.close()
        ref, _ = await room.chat.bundle_where()
        await room.settled()

        clock.advance(timedelta(seconds=6))
        cards = await room.now(ref, lambda cards: states(cards)["short"] == "expired")

        assert isinstance(line(cards, "long").state, Open)
        assert [choice.key for choice in line(cards, "long").choices] == ["allow", "always", "deny"]
        await room.press(ref, line(cards, "long"), "allow")
        assert (await room.checks["long"]).approved


async def _stopped(desk: ApprovalWorker) -> None:
    """Stop the desk as its process would, while it gathers."""
    tasks = {task.get_coro().__qualname__: task for task in asyncio.all_tasks()}  # type: ignore[union-attr]
    task = tasks["ApprovalWorker.run"]
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert len(desk._background) == 0


async def test_arguments_that_change_while_a_batch_is_asked_about_are_not_those_that_run(
    backend: Backend,
) -> None:
    arguments = {"command": "ls"}
    async with a_room(backend) as room:
        calls = [a_call("build"), ToolCall("bash", arguments)]
        batch = asyncio.create_task(room.gate.check_batch(calls, together=True))
        await room.gathered(2)
        room.window.close()
        ref, cards = await room.chat.bundle_where()
        arguments["command"] = "rm -r ."
        await room.press(ref, cards[0], "allow-all")

        assert [verdict.arguments for verdict in await batch][1] == {"command": "ls"}


async def test_what_ended_while_it_gathered_is_not_shown(backend: Backend) -> None:
    async with a_room(backend) as room:
        room.ask_about("build", "test", "deploy")
        await room.gathered(3)
        for record in await backend.store.list_requests():
            if record.request.subject != "deploy":
                await room.gate.cancel(record.request.question_id)
        room.window.close()

        _, card = await room.chat.card_where()
        await room.settled()
        assert card.body.title == "deploy"
        assert len(room.chat.cards) == 1
        assert room.chat.bundles == {}


async def test_a_call_that_cannot_be_read_any_more_takes_no_other_along(backend: Backend) -> None:
    class Garbled:
        """A store whose record of one request is of another version once it was read."""

        def __init__(self, inner: Any) -> None:
            self._inner = inner
            self._read: set[str] = set()

        def __getattr__(self, name: str) -> Any:
            return getattr(self._inner, name)

        async def get(self, question_id: str) -> Any:
            record = await self._inner.get(question_id)
            if record.request.subject == "test" and question_id in self._read:
                raise UnreadableEventError("newer than this")
            self._read.add(question_id)
            return record

    async with a_room(replace(backend, store=Garbled(backend.store))) as room:
        ref, cards = await room.shown("build", "test", "deploy")

        assert set(states(cards)) == {"build", "deploy"}
        assert (await room.checks["test"]).outcome.value == "undeliverable"
        await room.press(ref, cards[0], "allow-all")
        assert (await room.checks["build"]).approved
