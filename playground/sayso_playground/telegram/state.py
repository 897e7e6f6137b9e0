"""Memory of the Telegram double: chats, messages, files and unanswered queries."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from sayso_playground.config import Member, PlaygroundConfig

Json = dict[str, Any]


class TelegramRefusalError(Exception):
    """Telegram answers ``ok: false`` with this code and description."""

    def __init__(self, code: int, description: str, **parameters: Any) -> None:
        super().__init__(description)
        self.code = code
        self.description = description
        self.parameters = parameters


def bad_request(problem: str, **parameters: Any) -> TelegramRefusalError:
    """A 400 in Telegram's usual form."""
    return TelegramRefusalError(400, f"Bad Request: {problem}", **parameters)


@dataclass(frozen=True, slots=True)
class TelegramDocument:
    """A file that came with a message."""

    file_id: str
    name: str
    content: bytes
    mime_type: str


@dataclass(frozen=True, slots=True)
class TelegramMessage:
    """A message as it stands now; ``sender`` is a Telegram id.

    ``markup`` is its inline keyboard; ``other_markup`` a ForceReply or the like, which the
    Bot API never gives back. ``attached`` is what stands there in place of a text. A
    ``silent`` one makes no sound.
    """

    chat: int
    id: int
    sender: int
    date: int
    text: str = ""
    entities: tuple[Json, ...] = ()
    markup: Json | None = None
    thread_id: int | None = None
    reply_to: int | None = None
    document: TelegramDocument | None = None
    edited: int | None = None
    service: Json = field(default_factory=dict)
    other_markup: Json | None = None
    attached: Json = field(default_factory=dict)
    silent: bool = False

    @property
    def forces_reply(self) -> bool:
        """Return whether it opens a reply for those it asks."""
        return bool(self.other_markup and self.other_markup.get("force_reply"))

    @property
    def rows(self) -> list[list[Json]]:
        """The rows of its inline keyboard."""
        return self.markup["inline_keyboard"] if self.markup else []

    @property
    def buttons(self) -> dict[str, str]:
        """The labels of the buttons, each with its callback data, in order."""
        return {b["text"]: b.get("callback_data", "") for row in self.rows for b in row}


@dataclass(slots=True)
class Chat:
    """A chat; a private one has the id of its person."""

    id: int
    kind: str
    title: str
    topics: dict[int, str] = field(default_factory=dict)
    bot_is_member: bool = True
    migrated_to: int | None = None
    started: bool = True
    blocked: bool = False


@dataclass(slots=True)
class Query:
    """A press that waits for answerCallbackQuery."""

    member: Member
    message: TelegramMessage
    made: float
    answered: bool = False
    toast: str | None = None
    alert: bool = False
    url: str | None = None


class TelegramState:
    """All chats of one bot."""

    def __init__(self, config: PlaygroundConfig, changed: Callable[[], None]) -> None:
        self.config = config
        self.changed = changed
        self.bot_id = int(config.telegram_bot_token.partition(":")[0])
        self.chats = {
            chat.id: Chat(chat.id, chat.kind, chat.title, dict(chat.topics), chat.is_member)
            for chat in config.telegram_chats
        }
        for member in config.members:
            private = Chat(member.telegram_id, "private", member.name)
            private.started = member.telegram_started
            self.chats[private.id] = private
        self.messages: dict[tuple[int, int], TelegramMessage] = {}
        self.queries: dict[str, Query] = {}
        self._next_message = 100

    def next_message_id(self) -> int:
        """A number no message has had yet."""
        self._next_message += 1
        return self._next_message

    def now(self) -> int:
        """The current time as Telegram writes dates."""
        return int(self.config.clock())

    def post(self, message: TelegramMessage) -> TelegramMessage:
        """Store a new or changed message."""
        self.messages[message.chat, message.id] = message
        self.changed()
        return message

    def edit(self, message: TelegramMessage, **changed: Any) -> TelegramMessage:
        """Replace what a message says."""
        return self.post(replace(message, edited=self.now(), **changed))

    def asks(self, message: TelegramMessage, user_id: int) -> bool:
        """Return whether the message opens a reply for this person.

        core.telegram.org, ForceReply, selective: those who are mentioned, and whoever wrote
        the message that it replies to.
        """
        if not message.forces_reply:
            return False
        if not (message.other_markup or {}).get("selective"):
            return True
        replied = self.messages.get((message.chat, message.reply_to or 0))
        mentioned = [entity.get("user", {}).get("id") for entity in message.entities]
        return user_id in mentioned or (replied is not None and replied.sender == user_id)

    def new_query(self, member: Member, message: TelegramMessage) -> str:
        """The id of a new callback query."""
        query_id = str(secrets.randbelow(10**18))
        self.queries[query_id] = Query(member, message, self.config.clock())
        return query_id

    def bot_json(self) -> Json:
        """The bot as a User."""
        config = self.config
        user = {"id": self.bot_id, "is_bot": True, "first_name": config.telegram_bot_name}
        return {**user, "username": config.telegram_bot_username}

    def user_json(self, user_id: int) -> Json:
        """A person, or the bot, as a User."""
        if user_id == self.bot_id:
            return self.bot_json()
        member = self.config.member(user_id)
        user = {"id": user_id, "is_bot": False, "first_name": member.name}
        return {**user, "username": member.username, "language_code": "en"}

    def chat_json(self, chat_id: int) -> Json:
        """The chat as messages carry it."""
        chat = self.chats[chat_id]
        if chat.kind == "private":
            username = self.config.member(chat_id).username
            names = {"first_name": chat.title, "username": username}
            return {"id": chat.id, **names, "type": "private"}
        found: Json = {"id": chat.id, "title": chat.title, "type": chat.kind}
        if chat.topics:
            found["is_forum"] = True
        return found

    def message_json(self, message: TelegramMessage, *, with_reply: bool = True) -> Json:
        """The message as updates and answers carry it."""
        found: Json = {"message_id": message.id, "from": self.user_json(message.sender)}
        found |= {"chat": self.chat_json(message.chat), "date": message.date}
        if message.edited:
            found["edit_date"] = message.edited
        if message.thread_id:
            found |= {"message_thread_id": message.thread_id, "is_topic_message": True}
        replied = self.messages.get((message.chat, message.reply_to or 0))
        if replied and with_reply:
            found["reply_to_message"] = self.message_json(replied, with_reply=False)
        words = "caption" if message.document else "text"
        if message.text:
            found[words] = message.text
        if message.entities:
            key = "caption_entities" if message.document else "entities"
            found[key] = list(message.entities)
        if message.document:
            found["document"] = _document_json(message.document)
        if message.markup:
            found["reply_markup"] = message.markup
        return found | message.service | message.attached


def _document_json(document: TelegramDocument) -> Json:
    return {
        "file_name": document.name,
        "mime_type": document.mime_type,
        "file_id": document.file_id,
        "file_unique_id": document.file_id[:12],
        "file_size": len(document.content),
    }
