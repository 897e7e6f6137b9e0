"""People at both platforms: they press whatever is there, some of them without any right to."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping
from typing import Any

from chaos.ledger import Ledger, markers
from support.live import is_live

from sayso_playground import Playground, SlackMessage, TelegramMessage

APPROVERS, STRANGERS = ("alice", "bob"), ("mallory",)
_NOT_A_YES = ("Deny", "Show all", "More", "Back", "Cancel", "Discard", "Not now")
_A_PRESS_SECONDS = 4.0


class People:
    """They go on until they are cancelled. Each press is in the ledger before it is made."""

    def __init__(self, playground: Playground, ledger: Ledger, dice: random.Random) -> None:
        self._slack, self._telegram = playground.slack, playground.telegram
        self._ledger = ledger
        self._dice = dice

    async def in_slack(self) -> None:
        """Press and fill in, in Slack."""
        while True:
            await asyncio.sleep(self._dice.uniform(0.05, 0.5))
            there = [message for message in self._slack.messages() if is_live(message.buttons)]
            if there:
                await self._press_in_slack(self._dice.choice(there), self._somebody())

    async def in_telegram(self) -> None:
        """Press and write, in Telegram."""
        while True:
            await asyncio.sleep(self._dice.uniform(0.05, 0.5))
            there = [message for message in self._telegram.messages() if is_live(message.buttons)]
            if there:
                await self._press_in_telegram(self._dice.choice(there), self._somebody())

    async def in_both(self) -> None:
        """Press on both cards of one question at once, and one of them twice."""
        while True:
            await asyncio.sleep(self._dice.uniform(0.2, 1.0))
            in_slack = {
                tuple(markers(one.all_text)): one
                for one in self._slack.messages()
                if is_live(one.buttons)
            }
            both = [
                (in_slack[about], one)
                for one in self._telegram.messages()
                if is_live(one.buttons) and (about := tuple(markers(one.text))) in in_slack
            ]
            if both:
                slack, telegram = self._dice.choice(both)
                who = self._dice.choice(APPROVERS)
                self._ledger.counts["questions pressed on at once on both platforms"] += 1
                await asyncio.gather(
                    self._press_in_slack(slack, who),
                    self._press_in_slack(slack, who),
                    self._press_in_telegram(telegram, who),
                )

    async def _press_in_slack(self, message: SlackMessage, who: str) -> None:
        label = self._about_to_press(who, message.all_text, list(message.buttons))
        delivery = await self._slack.press(message, label, by=who)
        self._count("Slack", delivery.error)
        view = self._slack.view(who)
        if view is None:
            return
        values = {
            block["block_id"]: _filled_in(block["element"])
            for block in view.view["blocks"]
            if block["type"] == "input"
        }
        if view.view.get("submit") and self._dice.random() < 0.8:
            self._count("Slack form", (await self._slack.submit(view, values, by=who)).error)
        if self._slack.view(who) is not None:
            await self._slack.close_view(view, by=who)

    async def _press_in_telegram(self, message: TelegramMessage, who: str) -> None:
        label = self._about_to_press(who, message.text, list(message.buttons))
        delivery = await self._telegram.press(message, label, by=who, timeout=_A_PRESS_SECONDS)
        self._count("Telegram", delivery.error)
        for prompt in self._telegram.messages():
            if prompt.forces_reply and self._dice.random() < 0.5:
                self._telegram.reply(prompt, "7", by=who)

    def _somebody(self) -> str:
        return self._dice.choice((*APPROVERS * 2, *STRANGERS))

    def _about_to_press(self, who: str, text: str, labels: list[str]) -> str:
        # A few always win: otherwise nearly every session would soon remember an answer.
        label = self._dice.choice(
            [one for one in labels for _ in range(2 if "Always" in one else 4)]
        )
        if who in APPROVERS and not label.startswith(_NOT_A_YES):
            self._ledger.pressed_yes(text, label)
        return label

    def _count(self, where: str, error: str | None) -> None:
        self._ledger.counts[f"presses in {where}{f' that failed: {error}' if error else ''}"] += 1


def _filled_in(element: Mapping[str, Any]) -> Any:
    match element["type"]:
        case "static_select" | "radio_buttons":
            return element["options"][0]["value"]
        case "multi_static_select" | "checkboxes":
            return [element["options"][0]["value"]]
        case "datepicker":
            return "2026-12-24"
        case _:
            return "7"


def is_of_a_form(left: str) -> bool:
    """Whether one of ``live_buttons`` is the message of a form in Telegram.

    One whose number nobody noted keeps its buttons, which say that it is over:
    a client can send any data, so it is not known to be a form of ours.
    """
    return "'📝 " in left


async def press_all(playground: Playground, who: str) -> None:
    """Somebody presses once on every message that still has buttons."""
    for in_slack in [one for one in playground.slack.messages() if is_live(one.buttons)]:
        await playground.slack.press(in_slack, next(iter(in_slack.buttons)), by=who)
    for in_telegram in [one for one in playground.telegram.messages() if is_live(one.buttons)]:
        label = next(iter(in_telegram.buttons))
        await playground.telegram.press(in_telegram, label, by=who, timeout=_A_PRESS_SECONDS)


def live_buttons(playground: Playground) -> list[str]:
    """Each message that still has buttons: where it is, how it begins, and what it is about."""
    in_slack = [
        (f"slack {message.ts}", message.all_text)
        for message in playground.slack.messages()
        if is_live(message.buttons)
    ]
    in_telegram = [
        (f"telegram {message.id}", message.text)
        for message in playground.telegram.messages()
        if is_live(message.buttons)
    ]
    return [
        f"{where} {text.splitlines()[0]!r} {markers(text)}"
        for where, text in in_slack + in_telegram
    ]
