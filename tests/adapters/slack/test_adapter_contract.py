"""Slack's adapter keeps what every adapter promises, against the playground."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlencode

import pytest
from support.served_bot import served_bot

from sayso.chats.adapter import Adapter
from sayso.chats.places import MessageRef, Place
from sayso.platforms import Platform
from sayso.testing import AdapterContract, AdapterStage, PlatformContract, PressRecorder, Shown
from sayso.testing.adapter_contract import a_card
from sayso_playground import (
    DeliverTwice,
    Delivery,
    Playground,
    PlaygroundConfig,
    ServerError,
    SlackMessage,
)
from sayso_slack.platform import PLATFORM


class SlackStage(AdapterStage):
    """Alice in Slack."""

    lacks = ("moving places",)

    def __init__(self, playground: Playground, adapter: Adapter, desk: PressRecorder) -> None:
        self.slack = playground.slack
        self.adapter = adapter
        self.desk = desk
        self.place = Place("slack", "C0OPS")
        self.nowhere = Place("slack", "C0NOWHERE")
        self.actor = "slack:U0ALICE"

    async def shown(self, ref: MessageRef) -> Shown:
        message = self._message(ref)
        return Shown(message.all_text, list(message.buttons))

    async def press(self, ref: MessageRef, label: str) -> str:
        told = len(self.slack.ephemerals("alice"))
        delivery = await self.slack.press(self._message(ref), label, by="alice")
        assert delivery.error is None
        if not self.desk.answer.text or self.desk.answer.kind.value == "recorded":
            return ""
        await self.slack.until(lambda: len(self.slack.ephemerals("alice")) > told)
        return self.slack.ephemerals("alice")[-1].all_text

    async def revealed(self) -> str:
        return str((await self.slack.view_for("alice")).view)

    async def fill(self, answers: Mapping[str, str]) -> None:
        view = await self.slack.view_for("alice")
        assert (await self.slack.submit(view, answers, by="alice")).error is None

    async def forge(self, ref: MessageRef, label: str) -> None:
        body = self.body(ref, label)
        forged = await self.deliver(body, self.slack.sign(body + b" "))
        foreign = await self.slack.press(
            self._message(ref), label, by="alice", alter=lambda sent: sent.update(api_app_id="A0X")
        )
        assert (forged.status, foreign.status) == (401, 403)

    def body(self, ref: MessageRef, label: str) -> bytes:
        """What a press of this button sends."""
        payload = self.slack.block_actions(self._message(ref), label, by="alice")
        return urlencode({"payload": json.dumps(payload)}).encode()

    async def deliver(self, body: bytes, signature: Mapping[str, str]) -> Delivery:
        """Send this body as Slack does, with this signature."""
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        return await self.slack.deliver_raw(body, {**form, **signature})

    @contextmanager
    def outage(self) -> Iterator[None]:
        self.slack.misbehave("*", ServerError(), None)
        yield
        self.slack.behave()

    @contextmanager
    def repeating(self) -> Iterator[None]:
        self.slack.misbehave("callback", DeliverTwice(), None)
        yield
        self.slack.behave()

    def _message(self, ref: MessageRef) -> SlackMessage:
        found = self.slack.messages(ref.place.address)
        return next(message for message in found if message.ts == ref.message_id)


class TestSlackAdapter(AdapterContract):
    async def test_a_body_that_is_refused_when_forged_arrives_when_it_is_signed(
        self, stage: SlackStage
    ) -> None:
        ref = await stage.adapter.show([a_card(stage)], stage.place)
        body = stage.body(ref, "Allow")

        delivery = await stage.deliver(body, stage.slack.sign(body))

        assert delivery.status == 200
        assert [press.choice for press in stage.desk.presses] == ["allow"]

    @pytest.fixture
    async def stage(self) -> AsyncIterator[SlackStage]:
        desk = PressRecorder()
        async with Playground(PlaygroundConfig()) as playground:
            config = playground.config
            secrets = {
                "SLACK_BOT_TOKEN": config.slack_bot_token,
                "SLACK_SIGNING_SECRET": config.slack_signing_secret,
            }
            section = {"api_url": playground.slack_api_url}
            async with served_bot(PLATFORM, section, secrets, desk) as (adapter, url):
                playground.slack.deliver_to(f"{url}/slack/events")
                yield SlackStage(playground, adapter, desk)


class TestSlackPlatform(PlatformContract):
    @pytest.fixture
    def platform(self) -> Platform[Any]:
        return PLATFORM
