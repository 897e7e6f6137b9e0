"""Where dialogues are kept between two messages, for any process to go on with."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pydantic import TypeAdapter, ValidationError

from sayso.clock import Clock
from sayso.stores.ports import Drafts
from sayso_telegram.forms.dialogue import Dialogue, dialogue_text, read_dialogue

# A form is filled in within this long after the last answer, and never after its request's end.
DIALOGUE_SECONDS = 900.0
# One move takes less than this; whoever died making one is replaced after it.
MOVE_SECONDS = 20.0
# What a message was is known for longer than its dialogue: a late reply is told so.
_TRACE_SECONDS = 3_600.0


@dataclass(frozen=True, slots=True)
class Asked:
    """What a message of a dialogue is: whose, and which question; None stands for any."""

    dialogue_id: str
    user_id: int
    name: str
    label: str
    visit: int | None


@dataclass(frozen=True, slots=True)
class Begun:
    """A dialogue that was begun on a card, and where its board stands."""

    dialogue_id: str
    user_id: int
    chat_id: int
    board: int


_ASKED: TypeAdapter[Asked] = TypeAdapter(Asked)
_BEGUN: TypeAdapter[list[Begun]] = TypeAdapter(list[Begun])


class DialogueDrafts:
    """The dialogues of one bot. Every method raises StoreUnreachableError as Drafts do."""

    def __init__(self, drafts: Drafts, bot_id: int, clock: Clock) -> None:
        self._drafts = drafts
        self._prefix = f"telegram:{bot_id}"
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

    def sent_now(self, dialogue: Dialogue) -> Dialogue:
        """The dialogue whose values go to the desk now."""
        return replace(dialogue, sent_at=self._clock().timestamp())

    def is_sending(self, dialogue: Dialogue) -> bool:
        """Whether its values are with the desk; nobody's are for longer than a move takes."""
        return self._clock().timestamp() - dialogue.sent_at < MOVE_SECONDS

    def lease(self, dialogue_id: str) -> str:
        """The name of the lease on its next move: whoever has it makes the move, nobody else."""
        return self._key("move", dialogue_id)

    async def bind(self, dialogue: Dialogue, message_id: int, visit: int | None) -> None:
        """Note what a message is, so that what replies to it is understood."""
        asked = Asked(dialogue.dialogue_id, dialogue.user_id, dialogue.name, dialogue.label, visit)
        key = self._key("asked", dialogue.chat_id, message_id)
        await self._drafts.keep(key, _ASKED.dump_json(asked).decode(), seconds=_TRACE_SECONDS)

    async def bound(self, chat_id: int, message_id: int) -> Asked | None:
        """What the message is; None when it is none of a dialogue."""
        text = await self._drafts.read(self._key("asked", chat_id, message_id))
        try:
            return _ASKED.validate_json(text) if text else None
        except ValidationError:
            return None

    async def begin(self, dialogue: Dialogue) -> list[Begun]:
        """Note that it was begun on its card; those of the same person that it takes over from.

        Of two that begin on one card in the same moment, one may go unnoticed
        here: it is told of the request's end by its next answer only.
        """
        begun = await self.begun(dialogue.handle)
        mine = [one for one in begun if one.user_id == dialogue.user_id]
        now = Begun(dialogue.dialogue_id, dialogue.user_id, dialogue.chat_id, dialogue.board)
        others = [one for one in begun if one not in mine]
        left = dialogue.expires_at - self._clock().timestamp()
        text = _BEGUN.dump_json([*others, now]).decode()
        key = self._key("begun", dialogue.handle)
        await self._drafts.keep(key, text, seconds=max(1.0, left) + _TRACE_SECONDS)
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

    async def is_news(self, chat_id: int, message_id: int, what: str) -> bool:
        """Whether this was not said about the message yet: it is from now on."""
        key = self._key("told", chat_id, message_id, what)
        if await self._drafts.read(key):
            return False
        await self._drafts.keep(key, "1", seconds=_TRACE_SECONDS)
        return True

    def _key(self, kind: str, *parts: object) -> str:
        return ":".join((self._prefix, kind, *map(str, parts)))
