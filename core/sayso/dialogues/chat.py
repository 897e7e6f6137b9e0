"""What a chat platform does for dialogues, and what it hands to them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from sayso.chats.places import Answered, MessageRef, Place
from sayso.dialogues.buttons import FormButton
from sayso.dialogues.view import Board, Note, Prompt


class DialogueChat(Protocol):
    """One bot on one chat platform, as dialogues speak through it."""

    async def post(self, view: Board | Prompt | Note, reply_to: MessageRef) -> MessageRef:
        """Post a message in reply to another, or beside it when that is gone.

        Raises:
            PlaceMovedError: the chat has a new address.
            DeliveryError: the platform did not take the message.
        """
        ...

    async def change(self, message: MessageRef, view: Board | Note) -> None:
        """Make the message show this, and no buttons where the view has none.

        Raises:
            PlaceMovedError: the chat has a new address.
            DeliveryError: the platform did not take the change.
        """
        ...

    async def take_back(self, message: MessageRef) -> None:
        """Delete a message of the bot.

        Raises:
            DeliveryError: the platform did not delete it.
        """
        ...

    async def can_type(self, place: Place) -> bool:
        """Whether people can reply there.

        Raises:
            DeliveryError: the platform did not say.
        """
        ...


@dataclass(frozen=True, slots=True)
class Reply:
    """Somebody replied to a message of the bot, or edited such a reply.

    ``reply_to`` is the id of the message replied to, in the same chat; None
    where the platform no longer says. ``actor`` is None when nobody in
    particular wrote it: an anonymous admin, a channel, a bot. ``text`` is None
    for a photo, a sticker and the like.
    """

    message: MessageRef
    reply_to: str | None
    actor: str | None
    text: str | None = field(default=None, repr=False)
    is_edit: bool = False


@dataclass(frozen=True, slots=True)
class FormPress:
    """Somebody pressed a button of a form. ``ticket`` is what the platform answers presses by."""

    button: FormButton
    actor: str
    message: MessageRef
    ticket: str = field(default="", repr=False)


class Outcome(Enum):
    """What became of a reply or a press that was not handed to the desk."""

    PRESSED = "form_pressed"
    ANSWERED = "form_answered"
    NOT_STORED = "not_stored"
    NOT_OURS = "not_a_press"
    NOT_OUR_BUTTON = "not_our_button"
    NOT_THEIRS = "not_theirs"
    NOBODYS = "not_attributable"
    NOT_TEXT = "not_text"
    EDITED = "edited"
    ANSWERED_BEFORE = "answered_before"
    SEEN_BEFORE = "seen_before"
    TOO_LATE = "too_late"


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of a reply or a press.

    ``outcome`` is the desk's where it was asked. ``text`` is for the presser
    alone and ``is_alert`` says that they must not miss it. What is not stored
    must come again; ``retry_after`` says in how many seconds it is worth it,
    None where nobody said.
    """

    outcome: Outcome | Answered
    text: str = ""
    is_alert: bool = False
    retry_after: float | None = None

    @property
    def is_stored(self) -> bool:
        """Whether the platform may forget it."""
        return self.outcome is not Outcome.NOT_STORED
