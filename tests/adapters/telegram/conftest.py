"""What the tests of the Telegram adapter share."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from support.telegram_conversation import CHANNEL, TOKEN, Chat

from sayso.cards.card import Card, CardBody, Choice
from sayso.values import one_value
from sayso_playground import Playground, PlaygroundConfig, TelegramChat

FIXTURES = Path(__file__).parent / "fixtures"


@pytest.fixture
def payload() -> Callable[[str], Any]:
    """A whole update, kept as a file beside the tests."""
    return lambda name: json.loads((FIXTURES / f"{name}.json").read_text())


@pytest.fixture
def press_update(payload: Callable[[str], Any]) -> Callable[..., Any]:
    """A press of one of our buttons, in a whole payload."""

    def build(data: str = "p1:HANDLEHANDLEHANDLE1234:allow", **changes: Any) -> Any:
        update = payload("callback_query_group_minimal")
        update["callback_query"] |= {"data": data, **changes}
        return update

    return build


@pytest.fixture
def a_card() -> Callable[..., Card]:
    """A permission's card; name what the test is about: fields of the card or of its body."""
    allow = Choice("allow", "Allow", "primary", needs_sight=True)
    always = Choice(
        "always", "Always", stores="bash with exactly these arguments", needs_sight=True
    )
    deny = Choice("deny", "Deny", "danger")
    card = Card(
        handle="HANDLEHANDLEHANDLE1234",
        body=CardBody(
            title="bash",
            description="Clean up the build",
            values=one_value("command: rm -r build"),
            question="May this run?",
            digest="0123456789ab",
            facts=(("Source", "shell"),),
            choices=(allow, always, deny),
        ),
        asker="deploy-bot › researcher",
        expires_at=datetime(2026, 11, 21, 12, 30, tzinfo=UTC),
        limit=1_000,
        reveal_limit=1_000_000,
    )

    def build(**changes: Any) -> Card:
        if "content" in changes:
            changes["values"] = one_value(changes.pop("content"))
        of_body = {name: changes.pop(name) for name in list(changes) if name in _BODY}
        return replace(card, body=replace(card.body, **of_body), **changes)

    return build


_BODY = (
    "title",
    "description",
    "described",
    "values",
    "question",
    "details",
    "digest",
    "facts",
    "choices",
    "more",
)
# `values`, `description` and `choices` are set on the body: the card derives its own from them.


@pytest.fixture
async def chat(a_card: Callable[..., Card]) -> AsyncIterator[Chat]:
    chats = (*PlaygroundConfig().telegram_chats, TelegramChat(CHANNEL, "channel", "News"))
    async with AsyncExitStack() as stack:
        playground = await stack.enter_async_context(
            Playground(PlaygroundConfig(telegram_bot_token=TOKEN, telegram_chats=chats))
        )
        chat = Chat(playground, a_card)
        await chat.open(stack)
        yield chat
