"""Cards in German in both chats, to the letter: what somebody who speaks it reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from support.golden import check_golden, see_that_all_are_used
from support.slack_kit import a_config

from sayso import RunRef, ToolCall
from sayso.always.terms import GrantOptions
from sayso.always.widths import derive
from sayso.cards.card import Card, Open
from sayso.chats.places import MessageRef, Place
from sayso.digests import arguments_digest
from sayso.events import Resolution, UserInputRequest
from sayso.questions.clarification import ClarificationRequestEvent
from sayso.questions.continuation import ContinuationRequestEvent
from sayso.questions.permission import PermissionRequestEvent
from sayso.questions.refusals import Refusals
from sayso.questions.structured_input import StructuredInputRequestEvent
from sayso.questions.text_approval import TextApprovalRequestEvent
from sayso.stores.memory.key_value import MemoryKeyValue
from sayso.stores.protocols import Copy, Found, Report, Use
from sayso.worker.card_builder import CardBuilder, Localizer
from sayso.worker.routing import Route, Routes
from sayso_playground.slack.blocks import check_blocks
from sayso_slack import SlackAdapter
from sayso_slack.batch_blocks import message as slack_message
from sayso_slack.modal import form_modal
from sayso_telegram import TelegramAdapter, TelegramConfig
from sayso_telegram.batch_message import build_batch_keyboard, build_batch_message
from sayso_telegram.keyboard import keyboard
from sayso_telegram.message_text import message as telegram_message

GOLDEN = Path(__file__).parent / "golden_german"
NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
PLACES = {"slack": Place("slack", "C0OPS"), "telegram": Place("telegram", "-100")}
WHO: dict[str, Any] = {"by": "slack:U0ULI", "at": NOW}
HANDLES = tuple(f"handle-0123456789-{number}" for number in range(3))
FIELDS: dict[str, Any] = {
    "source_name": "deploy-bot",
    "run": RunRef("deploy-bot", "s-1", project="shop"),
    "requested_by": "ana",
    "expires_at": NOW + timedelta(minutes=10),
}
SCHEMA = {
    "type": "object",
    "properties": {"Menge": {"type": "integer", "minimum": 1}, "Eilt": {"type": "boolean"}},
    "required": ["Menge"],
}


def a_call(name: str = "Bash", **arguments: Any) -> PermissionRequestEvent:
    call = ToolCall(name, arguments)
    return PermissionRequestEvent(
        permission_id="p-1",
        function_name=name,
        description="Platz schaffen",
        call_id="c-1",
        arguments=arguments,
        arguments_digest=arguments_digest(arguments),
        suggested_rules=derive(call),
        **FIELDS,
    )


CALL = a_call(command="rm -rf build && git reset --hard", token="AKIAIOSFODNN7EXAMPLE")
LONG = a_call(command="\n".join(f"echo Zeile {number}" for number in range(4_000)))
QUESTION = ClarificationRequestEvent(
    request_id="q-1", question="Welche Umgebung?", options=("Test", "Produktion"), **FIELDS
)
TEXT = TextApprovalRequestEvent(request_id="t-1", title="Rundmail", text="Guten Tag!", **FIELDS)
DATA = StructuredInputRequestEvent(
    request_id="d-1", text="Die Bestellung", json_schema=SCHEMA, **FIELDS
)
RUN = ContinuationRequestEvent(
    continuation_id="n-1", current_iteration=25, max_iterations=25, **FIELDS
)


@pytest.fixture(scope="module")
def maker() -> CardBuilder:
    slack = SlackAdapter(a_config())
    config = TelegramConfig(bot_token="1:A", mode="polling")
    telegram = TelegramAdapter(config, MemoryKeyValue(lambda: NOW))
    routes = Routes(
        [Route(tuple(PLACES.values()), language="de")], {"uli": frozenset({"slack:U0ULI"})}
    )
    return CardBuilder(
        {"slack": slack, "telegram": telegram},
        routes,
        terms=GrantOptions(),
        refusals=Refusals(reasons=("Falsche Umgebung",)),
        speech=Localizer(routes),
        clock=lambda: NOW,
    )


Making = Callable[[CardBuilder, Place], Sequence[Card]]


def of(request: UserInputRequest, ending: Resolution | None = None, **how: Any) -> Making:
    """The card of a request, as it ended where it did."""

    def made(maker: CardBuilder, place: Place) -> Sequence[Card]:
        copy = Copy(HANDLES[0], request.question_id, place)
        return (maker.card(Found(copy, request, ending, how.get("use")), how.get("view", Open())),)

    return made


def second_step(maker: CardBuilder, place: Place) -> Sequence[Card]:
    (card,) = of(a_call(command="npm test"))(maker, place)
    return (card.confirming(next(one for one in card.choices if one.stores)),)


def together(maker: CardBuilder, place: Place) -> Sequence[Card]:
    endings = (CALL.deny(by=WHO["by"], at=NOW, reason="Nicht am Freitag"), None, None)
    copies = (Copy(handle, "p-1", place, bundle=HANDLES) for handle in HANDLES)
    found = (Found(copy, CALL, end) for copy, end in zip(copies, endings, strict=True))
    return tuple(map(maker.card, found))


def remembered(maker: CardBuilder, place: Place) -> Sequence[Card]:
    (card,) = of(CALL)(maker, place)
    always = next(one for one in card.choices if one.key == "always")
    ending = CALL.answer(always, **WHO)
    return of(CALL, ending, use=Use("k", NOW, Report("failed", NOW)))(maker, place)


STATES: dict[str, Making] = {
    "call": of(CALL),
    "call-more": of(CALL, view=Open(more=True)),
    "call-second-step": second_step,
    "call-remembered": remembered,
    "call-denied": of(CALL, CALL.deny(**WHO, reason="Nicht am Freitag")),
    "call-expired": of(CALL, CALL.expired(at=NOW)),
    "call-cut": of(LONG),
    "calls-together": together,
    "question": of(QUESTION),
    "question-answered": of(QUESTION, QUESTION.reply("Test", **WHO)),
    "text": of(TEXT),
    "data": of(DATA),
    "go-on": of(RUN),
}


def in_slack(cards: Sequence[Card]) -> dict[str, Any]:
    shown = slack_message(cards)
    assert not check_blocks(shown["blocks"]).errors
    return shown


def in_telegram(cards: Sequence[Card]) -> dict[str, Any]:
    alone = len(cards) == 1
    text = telegram_message(cards[0]) if alone else build_batch_message(cards)
    buttons = keyboard(cards[0]) if alone else build_batch_keyboard(cards)
    rows = buttons.inline_keyboard if buttons else ()
    return {
        "text": text.text.split("\n"),
        "buttons": [[button.text for button in row] for row in rows],
    }


def words_in(shown: Any) -> Iterator[str]:
    """What people read of a message of Slack's, in order."""
    if isinstance(shown, dict):
        for name in ("text", "title", "confirm", "deny", "accessory", "elements", "fields"):
            value = shown.get(name)
            if isinstance(value, str):
                yield value
            elif value is not None:
                yield from words_in(value)
    elif isinstance(shown, list):
        for one in shown:
            yield from words_in(one)


@pytest.mark.parametrize("state", STATES)
def test_a_card_says_this_in_german(maker: CardBuilder, state: str) -> None:
    slack = in_slack(STATES[state](maker, PLACES["slack"]))
    telegram = in_telegram(STATES[state](maker, PLACES["telegram"]))

    said = {
        "slack": list(words_in(slack["blocks"])),
        "notification": slack["text"].split("\n"),
        "telegram": telegram,
    }
    check_golden(GOLDEN / f"{state}.json", said)


def test_a_form_says_this_in_german(maker: CardBuilder) -> None:
    (card,) = of(CALL)(maker, PLACES["slack"])
    choice = next(one for one in card.more if one.key == "deny-reason")
    assert choice.form is not None
    ref = MessageRef(PLACES["slack"], "1.1")

    check_golden(GOLDEN / "form.json", form_modal(card, choice, choice.form, ref))


def test_no_golden_file_is_left_over() -> None:
    see_that_all_are_used(GOLDEN, {*STATES, "form"})
