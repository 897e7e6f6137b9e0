"""A card in Telegram, its forms, and updates that a test hands in one at a time."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any

from support.clock import Clock
from support.desk_double import DeskDouble

from sayso.cards.card import Card, Choice
from sayso.chats.places import Answer, Answered, Place, Press
from sayso.clock import utc_now
from sayso.errors import StoreUnreachableError
from sayso.forms.form import Form, FormField, Option
from sayso.platforms.conversation_replies import ConversationReplies
from sayso.stores.memory.key_value import MemoryKeyValue
from sayso_playground import Playground, TelegramMessage
from sayso_telegram import TelegramAdapter, TelegramConfig
from sayso_telegram.pending_messages import PendingCommands
from sayso_telegram.updates_handler import HandledUpdate, UpdatesHandler

TOKEN = "4000000000:PLAYGROUND-token"
GROUP, CHANNEL, ALICE, BOB = -1001234567890, -1003333333333, 4242, 4343
TWO = Form("Two", (FormField("a", "First"), FormField("b", "Second", required=False)))
FORM = Choice("two", "Two…", form=TWO)
PICK = Choice(
    "pick",
    "Pick…",
    form=Form("Pick", (FormField("one", "One", "option", options=(Option("A", 1),)),)),
)


class BrokenDrafts(MemoryKeyValue):
    """Away while a test says so, for ``reason``."""

    away = False
    reason: Exception = StoreUnreachableError("the store is away")

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        # A lease that is given back ends a moment later, also while the clock stands still.
        self._leases = MemoryKeyValue(utc_now)

    async def acquire_lease(self, name: str, owner: str, *, seconds: float) -> bool:
        return await self._leases.acquire_lease(name, owner, seconds=seconds)

    async def get(self, key: str) -> str | None:
        if self.away:
            raise self.reason
        return await super().get(key)


class Chat:
    """A card in a chat, an adapter, and updates taken in one at a time."""

    def __init__(self, playground: Playground, card: Callable[..., Card]) -> None:
        self.telegram = playground.telegram
        self.url = playground.telegram_api_url
        self.clock = Clock()
        self.desk = DeskDouble()
        self.desk.answer = Answer(Answered.RECORDED, "Answered.")
        self.drafts = BrokenDrafts(self.clock)
        self._card = card
        self._updates = iter(range(1, 1_000))

    async def open(self, stack: AsyncExitStack, **how: Any) -> None:
        config = TelegramConfig(TOKEN, ("secret",), self.url)
        self.adapter = await stack.enter_async_context(
            TelegramAdapter(config, self.drafts, clock=self.clock, **how)
        )
        self.adapter.people.note(ALICE, "Alice")
        replies = ConversationReplies(self.adapter.conversations, self.desk)
        commands = PendingCommands(self.adapter, self.desk, seconds=5)
        self.handler = UpdatesHandler(
            self.desk, replies, self.adapter.people, commands, desk_seconds=5
        )

    async def ask(
        self,
        choice: Choice = FORM,
        chat: int = GROUP,
        seconds: float = 3_600,
        by: int = ALICE,
        **card: Any,
    ) -> TelegramMessage:
        """Post a card and ask for a form of it; the newest message then."""
        until = self.clock() + timedelta(seconds=seconds)
        self.card = self._card(expires_at=until, choices=(choice,), **card)
        self.ref = await self.adapter.show([self.card], Place("telegram", str(chat)))
        await self.ask_again(choice, by)
        return self.newest

    async def ask_again(self, choice: Choice = FORM, by: int = ALICE, **how: Any) -> None:
        press = Press(self.card.handle, choice.key, f"telegram:{by}", self.ref, ticket="q", **how)
        await self.adapter.ask(press, self.card, choice)

    @property
    def newest(self) -> TelegramMessage:
        return self.telegram.messages()[-1]

    @property
    def board(self) -> TelegramMessage:
        return next(m for m in reversed(self.telegram.messages()) if "📝" in m.text)

    async def reply(
        self, to: TelegramMessage, text: str = "x", by: str = "alice", **how: Any
    ) -> HandledUpdate:
        said = self.telegram.say(to.chat, text, by=by, reply_to=to, **how)
        return await self.take("message", self.telegram.state.message_json(said), said, **how)

    async def take(
        self, kind: str, content: Any, said: TelegramMessage, *, anonymous: bool = False, **_: Any
    ) -> HandledUpdate:
        self.said = said
        if anonymous:
            content["from"] = {"id": 1087968824, "is_bot": True, "first_name": "Group"}
            content["sender_chat"] = content["chat"]
        return await self.handler.handle({"update_id": next(self._updates), kind: content})

    async def press(
        self, button: str, by: int = ALICE, on: TelegramMessage | None = None
    ) -> HandledUpdate:
        data = self.board.buttons.get(button, button)
        return await self.press_data(data, by, on or self.board)

    async def press_data(self, data: str, by: int, on: TelegramMessage) -> HandledUpdate:
        query = {
            "id": "7",
            "from": self.telegram.state.user_json(by),
            "message": {"message_id": on.id, "chat": {"id": on.chat}, "date": 0},
            "data": data,
        }
        return await self.handler.handle(
            {"update_id": next(self._updates), "callback_query": query}
        )

    def told(self, count: int = 1) -> str:
        """What the bot said in reply to what was just written."""
        said = [m for m in self.telegram.messages() if m.reply_to == self.said.id]
        assert len(said) == count
        return said[-1].text if said else ""
