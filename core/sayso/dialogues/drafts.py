"""Where dialogues are kept between two messages, for any process to go on with."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pydantic import TypeAdapter, ValidationError

from sayso.chats.places import MessageRef
from sayso.clock import Clock
from sayso.dialogues.dialogue import Asking, Dialogue, Sending, dialogue_text, read_dialogue
from sayso.dialogues.words import ENGLISH
from sayso.stores.ports import Drafts

# A form is filled in within this long after the last answer, and never after its request's end.
DIALOGUE_SECONDS = 900.0
# One move takes less than this; whoever died making one is replaced after it.
MOVE_SECONDS = 20.0
# What a message was is known for longer than its dialogue: a late reply is told so.
_TRACE_SECONDS = 3_600.0


@dataclass(frozen=True, slots=True)
class Asked:
    """What a message of a dialogue is: whose, and which question; None stands for any.

    ``language`` is what the dialogue is in.
    """

    dialogue_id: str
    actor: str
    name: str
    label: str
    visit: int | None
    language: str = ENGLISH.cards.tag


@dataclass(frozen=True, slots=True)
class Begun:
    """A dialogue that was begun on a card, and its board."""

    dialogue_id: str
    actor: str
    board: MessageRef


_ASKED: TypeAdapter[Asked] = TypeAdapter(Asked)
_BEGUN: TypeAdapter[list[Begun]] = TypeAdapter(list[Begun])


class DialogueDrafts:
    """The dialogues of one bot, kept under keys that begin with ``prefix``.

    What another version kept and this one cannot read counts as forgotten.
    Every method raises StoreUnreachableError as Drafts do.
    """

    def __init__(self, drafts: Drafts, prefix: str, clock: Clock) -> None:
        self._drafts = drafts
        self._prefix = prefix
        self._clock = clock

    async def keep(self, dialogue: Dialogue) -> None:
        """Keep it for a quarter of an hour, at most until its request ends."""
        left = dialogue.expires_at - self._clock().timestamp()
        seconds = max(1.0, min(DIALOGUE_SECONDS, left))
        await self._drafts.keep(
            self._key("form", dialogue.dialogue_id), dialogue_text(dialogue), seconds=seconds
        )

    async def read(self, dialogue_id: str) -> Dialogue | None:
        """The dialogue as it stands; None when its time is over."""
        text = await self._drafts.read(self._key("form", dialogue_id))
        return read_dialogue(text) if text else None

    def sending(self, dialogue: Dialogue, asking: Asking) -> Dialogue:
        """The dialogue whose values go to the desk now; ``asking`` is where it stood before."""
        return replace(dialogue, state=Sending(self._clock().timestamp(), asking))

    def is_sending(self, dialogue: Dialogue) -> bool:
        """Whether its values are with the desk; nobody's are for longer than a move takes."""
        state = dialogue.state
        if not isinstance(state, Sending):
            return False
        return self._clock().timestamp() - state.since < MOVE_SECONDS

    def lease(self, dialogue_id: str) -> str:
        """The name of the lease on its next move: whoever has it makes the move, nobody else."""
        return self._key("move", dialogue_id)

    async def bind(self, dialogue: Dialogue, message_id: str, visit: int | None) -> None:
        """Note what a message is, so that what replies to it is understood."""
        label = dialogue.purpose.label
        asked = Asked(
            dialogue.dialogue_id, dialogue.actor, dialogue.name, label, visit, dialogue.language
        )
        key = self._message_key("asked", dialogue.message(message_id))
        await self._drafts.keep(key, _ASKED.dump_json(asked).decode(), seconds=_TRACE_SECONDS)

    async def bound(self, message: MessageRef) -> Asked | None:
        """What the message is; None when it belongs to no dialogue."""
        text = await self._drafts.read(self._message_key("asked", message))
        try:
            return _ASKED.validate_json(text) if text else None
        except ValidationError:
            return None

    async def begin(self, dialogue: Dialogue) -> list[Begun]:
        """Note that it was begun on its card; those of the same person that it takes over from.

        Of two that begin on one card in the same moment, one may go unnoticed
        here: it is told of the request's end by its next answer only.
        """
        handle = dialogue.purpose.handle
        begun = await self.begun(handle)
        mine = [one for one in begun if one.actor == dialogue.actor]
        now = Begun(dialogue.dialogue_id, dialogue.actor, dialogue.message(dialogue.board))
        others = [one for one in begun if one not in mine]
        left = dialogue.expires_at - self._clock().timestamp()
        text = _BEGUN.dump_json([*others, now]).decode()
        seconds = max(1.0, left) + _TRACE_SECONDS
        await self._drafts.keep(self._key("begun", handle), text, seconds=seconds)
        return mine

    async def begun(self, handle: str) -> list[Begun]:
        """The dialogues on the card of this handle."""
        text = await self._drafts.read(self._key("begun", handle))
        try:
            return _BEGUN.validate_json(text) if text else []
        except ValidationError:
            return []

    async def end(self, dialogue_id: str, why: str) -> None:
        """Close it from outside: whoever makes its next move finds out."""
        await self._drafts.keep(self._key("over", dialogue_id), why, seconds=_TRACE_SECONDS)

    async def ended(self, dialogue_id: str) -> str:
        """Why it was closed from outside; empty when it was not."""
        return await self._drafts.read(self._key("over", dialogue_id)) or ""

    async def forget(self, handle: str) -> None:
        """Nothing is begun on the card any more."""
        await self._drafts.take(self._key("begun", handle))

    async def is_news(self, message: MessageRef, what: str) -> bool:
        """Whether this has not been said about the message yet: from now on it has."""
        key = self._message_key("told", message, what)
        if await self._drafts.read(key):
            return False
        await self._drafts.keep(key, "1", seconds=_TRACE_SECONDS)
        return True

    def _message_key(self, kind: str, message: MessageRef, *parts: str) -> str:
        """By the chat and the id: which thread it stands in makes no difference."""
        return self._key(kind, message.place.address, message.message_id, *parts)

    def _key(self, kind: str, *parts: str) -> str:
        return ":".join((self._prefix, kind, *parts))
