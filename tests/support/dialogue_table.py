"""A chat platform in a few lines, and a form that is filled in there."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from support.clock import Clock
from support.desk_double import DeskDouble

from sayso.cards.card import Card, CardBody, Choice
from sayso.chats.places import Answer, Answered, MessageRef, Place, Press
from sayso.dialogues.buttons import FormButton, form_button_data, read_form_button
from sayso.dialogues.chat import FormPress, Reply, Taken
from sayso.dialogues.dialogues import Dialogues
from sayso.dialogues.drafts import DialogueDrafts
from sayso.dialogues.messages import Messages
from sayso.dialogues.openings import Openings
from sayso.dialogues.view import Board, Note, Prompt
from sayso.errors import DeliveryError
from sayso.forms.form import Form, FormField, Option
from sayso.stores.memory.drafts import MemoryDrafts
from sayso.stores.memory.leases import MemoryLeases
from sayso.values import one_value

PLATFORM = "chat"
ROOM = Place(PLATFORM, "kitchen", "cooking")
SILENT = Place(PLATFORM, "noticeboard")
ALICE, BOB = "chat:alice", "chat:bob"
MOST_BUTTONS = 25
OPTIONS_A_PAGE = 5

PIZZA = Choice(
    "pizza",
    "Pizza…",
    form=Form(
        "A pizza",
        (
            FormField("for", "For whom"),
            FormField("size", "Size", "option", options=(Option("S", 1), Option("L", 2))),
            FormField("slices", "Slices", "integer", minimum=1, maximum=12),
            FormField("well", "Well done?", "boolean", required=False, initial=True),
        ),
        submit="Order it",
        confirms=True,
    ),
)
PICK = Choice(
    "pick",
    "Pick…",
    form=Form("A dish", (FormField("dish", "Dish", "option", options=(Option("Soup", 1),)),)),
)
REASON = Choice(
    "deny-reason",
    "Deny…",
    "danger",
    form=Form("A reason", (FormField("reason", "Reason"),)),
    falls_back="deny",
)


@dataclass
class Said:
    """A message in the chat."""

    ref: MessageRef
    view: Board | Prompt | Note
    reply_to: str
    is_gone: bool = False


class ChatDouble:
    """Keeps what is posted: ids are words, a message has at most 25 buttons with strings of ours.

    The next of ``errors`` is raised instead of the next call that writes.
    """

    def __init__(self) -> None:
        self.said: list[Said] = []
        self.errors: list[Exception] = []
        self.knows_rooms = True

    async def post(self, view: Board | Prompt | Note, reply_to: MessageRef) -> MessageRef:
        self._fail()
        _check(view)
        ref = MessageRef(reply_to.place, f"m-{len(self.said)}")
        self.said.append(Said(ref, view, reply_to.message_id))
        return ref

    async def change(self, message: MessageRef, view: Board | Note) -> None:
        self._fail()
        _check(view)
        self._there(message).view = view

    async def take_back(self, message: MessageRef) -> None:
        self._fail()
        self._there(message).is_gone = True

    async def can_type(self, place: Place) -> bool:
        if not self.knows_rooms:
            raise DeliveryError(PLATFORM, "no answer")
        return place.address != SILENT.address

    @property
    def shown(self) -> list[Said]:
        """What stands in the chat, oldest first."""
        return [said for said in self.said if not said.is_gone]

    def _fail(self) -> None:
        if self.errors:
            raise self.errors.pop(0)

    def _there(self, message: MessageRef) -> Said:
        for said in self.shown:
            if said.ref.message_id == message.message_id:
                return said
        raise DeliveryError(PLATFORM, "there is no such message", permanent=True)


def _check(view: Board | Prompt | Note) -> None:
    offers = [offer for row in view.rows for offer in row] if isinstance(view, Board) else []
    assert len(offers) <= MOST_BUTTONS
    for offer in offers:
        assert read_form_button(form_button_data(offer.button)) == offer.button


@dataclass
class Table:
    """A card in a room, and people who answer its form."""

    clock: Clock = field(default_factory=Clock)
    chat: ChatDouble = field(default_factory=ChatDouble)
    desk: DeskDouble = field(default_factory=DeskDouble)

    def __post_init__(self) -> None:
        self.desk.answer = Answer(Answered.RECORDED, "Ordered.")
        self.drafts = DialogueDrafts(MemoryDrafts(self.clock), "chat:bot", self.clock)
        self.leases = MemoryLeases(self.clock)
        self.messages = Messages(self.chat, options_a_page=OPTIONS_A_PAGE)
        self.openings = Openings(
            self.drafts, self.messages, lambda actor, _: actor.removeprefix("chat:").title()
        )
        self.dialogues = self.another_process()
        self.card = Card(
            handle="HANDLEHANDLEHANDLE1234",
            body=CardBody(
                "Dinner", values=one_value("What is for dinner?"), choices=(PIZZA, PICK, REASON)
            ),
            asker="cook",
            expires_at=self.clock() + timedelta(hours=1),
            limit=1_000,
            reveal_limit=0,
        )
        self._written = 0

    def another_process(self) -> Dialogues:
        """Dialogues on the same store, as another process of the same bot has them."""
        return Dialogues(self.drafts, self.messages, self.leases, self.desk, pause=self.clock.sleep)

    async def open(
        self, choice: Choice = PIZZA, by: str = ALICE, place: Place = ROOM, **how: Any
    ) -> None:
        """Press the choice on the card."""
        press = Press(self.card.handle, choice.key, by, MessageRef(place, "the-card"), **how)
        await self.openings.open(press, self.card, choice)

    async def reply(
        self, text: str | None, by: str | None = ALICE, to: MessageRef | None = None
    ) -> Taken:
        """Write a reply to the newest prompt, or to another message."""
        self._written += 1
        ref = MessageRef(ROOM, f"w-{self._written}")
        return await self.dialogues.reply(Reply(ref, (to or self.prompt.ref).message_id, by, text))

    async def press(self, label: str, by: str = ALICE, on: MessageRef | None = None) -> Taken:
        """Press a button of the board."""
        return await self.dialogues.press(
            FormPress(self.button(label), by, on or self.board.ref, ticket="t")
        )

    def button(self, label: str) -> FormButton:
        """What the button of this label carries."""
        offers = [offer for row in self.form.rows for offer in row]
        return next(offer.button for offer in offers if offer.label == label)

    @property
    def board(self) -> Said:
        """The newest message that is a form."""
        return next(said for said in reversed(self.chat.shown) if isinstance(said.view, Board))

    @property
    def form(self) -> Board:
        """What it shows."""
        assert isinstance(self.board.view, Board)
        return self.board.view

    @property
    def prompts(self) -> list[Said]:
        """What asks for a reply."""
        return [said for said in self.chat.shown if isinstance(said.view, Prompt)]

    @property
    def prompt(self) -> Said:
        """The one that does."""
        (prompt,) = self.prompts
        return prompt

    @property
    def notes(self) -> list[tuple[str, str]]:
        """What people were told, after the id of the message that it replies to."""
        return [(s.reply_to, s.view.said) for s in self.chat.shown if isinstance(s.view, Note)]
