"""Conversations kept between two messages, so that any process can go on with them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from pydantic import TypeAdapter, ValidationError

from sayso.calls import new_id
from sayso.chats.places import MessageRef
from sayso.clock import Clock
from sayso.locales import ENGLISH, locale_of
from sayso.platforms.conversation_steps import (
    Conversation,
    end,
    read_conversation,
    write_conversation,
)
from sayso.stores.protocols import KeyValueStore

# A form is filled in within this long after the last answer, and never after its request's end.
CONVERSATION_SECONDS = 900.0
# One step takes less than this; a process that died during one is replaced after it.
STEP_SECONDS = 20.0
# A message is known for longer than its conversation: a late reply is told that it is late.
_TRACE_SECONDS = 3_600.0
_AGAIN_SECONDS = 0.1
_TRIES = 20
# A lease cannot be given back: it is held for one more moment instead.
_LAST_MOMENT_SECONDS = 0.001


@dataclass(frozen=True, slots=True)
class Asked:
    """The conversation that a message belongs to."""

    conversation_id: str
    actor: str
    name: str
    label: str
    language: str = locale_of(ENGLISH)


@dataclass(frozen=True, slots=True)
class Begun:
    """A conversation on a card, its person and its board."""

    conversation_id: str
    actor: str
    board: MessageRef


_ASKED: TypeAdapter[Asked] = TypeAdapter(Asked)
_BEGUN: TypeAdapter[list[Begun]] = TypeAdapter(list[Begun])


class ConversationStore:
    """The conversations of one bot, under keys that begin with ``prefix``.

    What another version wrote and this one cannot read counts as forgotten.
    Every method raises StoreUnreachableError as KeyValueStore does.
    """

    def __init__(self, key_value: KeyValueStore, prefix: str, clock: Clock) -> None:
        self._key_value = key_value
        self._prefix = prefix
        self._clock = clock

    async def keep(self, conversation: Conversation) -> None:
        """Keep it for a quarter of an hour, at most until its request ends."""
        left = conversation.expires_at - self._clock().timestamp()
        seconds = max(1.0, min(CONVERSATION_SECONDS, left))
        key = self._key("form", conversation.conversation_id)
        await self._key_value.set(key, write_conversation(conversation), seconds=seconds)

    async def read(self, conversation_id: str) -> Conversation | None:
        """Return the conversation; None when its time is over."""
        text = await self._key_value.get(self._key("form", conversation_id))
        return read_conversation(text) if text else None

    @asynccontextmanager
    async def step(
        self,
        conversation_id: str,
        sleep: Callable[[float], Awaitable[object]],
    ) -> AsyncIterator[Conversation | None]:
        """Hold the lease on the next step; None when the conversation's time is over.

        Raises:
            TimeoutError: another process holds it all the while.
        """
        lease, owner = self.lease(conversation_id), new_id()
        for _ in range(_TRIES):
            if await self._key_value.acquire_lease(lease, owner, seconds=STEP_SECONDS):
                break
            await sleep(_AGAIN_SECONDS)
        else:
            raise TimeoutError("another process is making a move in this form")
        try:
            conversation = await self.read(conversation_id)
            if conversation is None:
                yield None
                return
            conversation = replace(conversation, sent_at=0.0)
            why = await self.read_end(conversation_id)
            yield end(conversation, why) if why else conversation
        finally:
            await self._key_value.acquire_lease(lease, owner, seconds=_LAST_MOMENT_SECONDS)

    def lease(self, conversation_id: str) -> str:
        """Return the name of the lease on the next step."""
        return ":".join((self._prefix, "move", conversation_id))

    def now(self) -> float:
        """Return the time in Unix seconds."""
        return self._clock().timestamp()

    def is_sent(self, conversation: Conversation) -> bool:
        """Return True while the worker has the values, which no step outlasts."""
        return self.now() - conversation.sent_at < STEP_SECONDS

    async def bind(self, conversation: Conversation, message_id: str) -> None:
        """Note which conversation a message belongs to, so that replies to it are understood."""
        asked = Asked(
            conversation.conversation_id,
            conversation.actor,
            conversation.name,
            conversation.purpose.label,
            conversation.language,
        )
        key = self._message_key("asked", conversation.message(message_id))
        await self._key_value.set(key, _ASKED.dump_json(asked).decode(), seconds=_TRACE_SECONDS)

    async def find(self, message: MessageRef) -> Asked | None:
        """Return the conversation that a message belongs to, if any."""
        text = await self._key_value.get(self._message_key("asked", message))
        try:
            return _ASKED.validate_json(text) if text else None
        except ValidationError:
            return None

    async def begin(self, conversation: Conversation) -> list[Begun]:
        """Note that it was begun on its card; return those of the same person that it replaces.

        Of two that begin on one card in the same moment, one may go unnoticed
        here: only its next answer is told of the request's end.
        """
        handle = conversation.purpose.handle
        begun = await self.list_begun(handle)
        replaced = [one for one in begun if one.actor == conversation.actor]
        now = Begun(
            conversation.conversation_id,
            conversation.actor,
            conversation.message(conversation.board),
        )
        text = _BEGUN.dump_json([*(one for one in begun if one not in replaced), now]).decode()
        seconds = max(1.0, conversation.expires_at - self.now()) + _TRACE_SECONDS
        await self._key_value.set(self._key("begun", handle), text, seconds=seconds)
        return replaced

    async def list_begun(self, handle: str) -> list[Begun]:
        """Return the conversations on the card of this handle."""
        text = await self._key_value.get(self._key("begun", handle))
        try:
            return _BEGUN.validate_json(text) if text else []
        except ValidationError:
            return []

    async def end(self, conversation_id: str, why: str) -> None:
        """End it from outside: the process that makes its next step finds out."""
        await self._key_value.set(self._key("over", conversation_id), why, seconds=_TRACE_SECONDS)

    async def read_end(self, conversation_id: str) -> str:
        """Return why it was ended from outside; empty when it was not."""
        return await self._key_value.get(self._key("over", conversation_id)) or ""

    async def is_news(self, message: MessageRef, what: str) -> bool:
        """Return True the first time that this is said about the message."""
        key = self._message_key("told", message, what)
        if await self._key_value.get(key):
            return False
        await self._key_value.set(key, "1", seconds=_TRACE_SECONDS)
        return True

    def _message_key(self, kind: str, message: MessageRef, *parts: str) -> str:
        """Build a key by the chat and the id: the thread makes no difference."""
        return self._key(kind, message.place.address, message.message_id, *parts)

    def _key(self, kind: str, *parts: str) -> str:
        return ":".join(("draft", self._prefix, kind, *parts))
