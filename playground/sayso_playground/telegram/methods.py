"""The methods of the Telegram Bot API that a permission bot calls, and when they refuse."""

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sayso_playground.telegram.keyboard import KeyboardError, checked_markup
from sayso_playground.telegram.state import (
    Chat,
    Json,
    TelegramDocument,
    TelegramMessage,
    TelegramState,
    bad_request,
)
from sayso_playground.telegram.state import TelegramRefusalError as Refusal
from sayso_playground.telegram.text import (
    EntityError,
    checked_entities,
    parse_html,
    trimmed,
    utf16,
    with_live_parts,
)

_MOST_TEXT = 4096  # core.telegram.org, sendMessage: 1-4096 characters after entities parsing
_MOST_CAPTION = 1024  # core.telegram.org, sendDocument: 0-1024 characters
_MOST_ANSWER = 200  # core.telegram.org, answerCallbackQuery: 0-200 characters
_GENERAL_TOPIC = 1
_NOT_MODIFIED = (
    "message is not modified: specified new message content and reply markup are exactly "
    "the same as a current content and reply markup of the message"
)
_TOO_OLD = "query is too old and response timeout expired or query ID is invalid"


@dataclass(frozen=True, slots=True)
class Upload:
    """A file part of a multipart request."""

    name: str
    content: bytes
    mime_type: str


class TelegramMethods:
    """One function a method: arguments in, ``result`` out."""

    def __init__(self, state: TelegramState) -> None:
        self._state = state
        self.table: dict[str, Callable[[Json], Any]] = {
            "getme": self._get_me,
            "getchat": self._get_chat,
            "getchatmember": self._get_chat_member,
            "sendmessage": self._send_message,
            "senddocument": self._send_document,
            "editmessagetext": self._edit_message_text,
            "editmessagereplymarkup": self._edit_message_reply_markup,
            "deletemessage": self._delete_message,
            "answercallbackquery": self._answer_callback_query,
        }

    def _get_me(self, _: Json) -> Json:
        abilities = {"can_join_groups": True, "can_read_all_group_messages": False}
        return {**self._state.bot_json(), **abilities, "supports_inline_queries": False}

    def _get_chat(self, arguments: Json) -> Json:
        chat = self._chat(arguments)
        kinds = ("unlimited", "limited", "unique")
        gifts = {f"{kind}_gifts": True for kind in kinds}
        gifts |= {"premium_subscription": True, "gifts_from_channels": True}
        always = {"accent_color_id": 0, "max_reaction_count": 11, "accepted_gift_types": gifts}
        return {**self._state.chat_json(chat.id), **always}

    def _get_chat_member(self, arguments: Json) -> Json:
        chat, wanted = self._chat(arguments), str(arguments.get("user_id") or "")
        if wanted == str(self._state.bot_id):
            status = "member" if chat.bot_is_member else "left"
            return {"status": status, "user": self._state.bot_json()}
        for member in self._state.config.members:
            if str(member.telegram_id) == wanted:
                return {"status": "member", "user": self._state.user_json(member.telegram_id)}
        raise bad_request("user not found")

    def _send_message(self, arguments: Json) -> Json:
        chat = self._writable_chat(arguments)
        text, entities = _formatted(arguments, "text", "entities")
        if not text:
            raise bad_request("message text is empty")
        if utf16(text) > _MOST_TEXT:
            raise bad_request("message is too long")
        return self._post(chat, arguments, text, entities, None)

    def _send_document(self, arguments: Json) -> Json:
        chat = self._writable_chat(arguments)
        upload = arguments.get("document")
        if isinstance(upload, str) and upload.startswith("attach://"):
            upload = arguments.get(upload.removeprefix("attach://"))
        if not isinstance(upload, Upload):
            raise bad_request("there is no document in the request")
        if not upload.content:
            raise bad_request("file must be non-empty")
        caption, entities = _formatted(arguments, "caption", "caption_entities")
        if utf16(caption) > _MOST_CAPTION:
            raise bad_request("message caption is too long")
        file_id = f"BQAC{secrets.token_urlsafe(20)}"
        document = TelegramDocument(file_id, upload.name, upload.content, upload.mime_type)
        return self._post(chat, arguments, caption, entities, document)

    def _post(
        self,
        chat: Chat,
        arguments: Json,
        text: str,
        entities: list[Json],
        document: TelegramDocument | None,
    ) -> Json:
        markup = _markup(arguments)
        inline = markup if markup and "inline_keyboard" in markup else None
        if markup and not inline and chat.kind == "channel":
            # tdlib, get_reply_markup: nobody replies in a channel.
            raise bad_request("inline keyboard expected")
        message = TelegramMessage(
            chat.id,
            self._state.next_message_id(),
            self._state.bot_id,
            self._state.now(),
            text,
            tuple(entities),
            inline,
            self._thread(chat, arguments),
            self._replied(chat, arguments),
            document,
            other_markup=None if inline else markup,
            silent=_flag(arguments, "disable_notification"),
        )
        return self._state.message_json(self._state.post(message))

    def _edit_message_text(self, arguments: Json) -> Json:
        message = self._editable(arguments)
        text, entities = _formatted(arguments, "text", "entities")
        if not text:
            raise bad_request("message text is empty")
        if message.document or not message.text:
            raise bad_request("there is no text in the message to edit")
        if utf16(text) > _MOST_TEXT:
            raise bad_request("MESSAGE_TOO_LONG")
        markup = _markup(arguments)
        if (message.text, message.entities, message.markup) == (text, tuple(entities), markup):
            raise bad_request(_NOT_MODIFIED)
        edited = self._state.edit(message, text=text, entities=tuple(entities), markup=markup)
        return self._state.message_json(edited)

    def _edit_message_reply_markup(self, arguments: Json) -> Json:
        message, markup = self._editable(arguments), _markup(arguments)
        if message.markup == markup:
            raise bad_request(_NOT_MODIFIED)
        return self._state.message_json(self._state.edit(message, markup=markup))

    def _delete_message(self, arguments: Json) -> bool:
        chat = self._writable_chat(arguments)
        message = self._state.messages.get((chat.id, _number(arguments, "message_id")))
        if message is None:
            raise bad_request("message to delete not found")
        if message.sender != self._state.bot_id and chat.kind != "private":
            # core.telegram.org, deleteMessage: those of others take administrator rights.
            raise bad_request("message can't be deleted")
        del self._state.messages[chat.id, message.id]
        self._state.changed()
        return True

    def _answer_callback_query(self, arguments: Json) -> bool:
        text = str(arguments.get("text") or "")
        if utf16(text) > _MOST_ANSWER:
            raise bad_request("MESSAGE_TOO_LONG")
        config = self._state.config
        query = self._state.queries.get(str(arguments.get("callback_query_id")))
        if query is None or config.clock() - query.made > config.telegram_answer_seconds:
            raise bad_request(_TOO_OLD)
        if not query.answered:
            query.answered, query.toast = True, text or None
            query.alert = _flag(arguments, "show_alert")
            query.url = arguments.get("url")
        self._state.changed()
        return True

    def _chat(self, arguments: Json) -> Chat:
        wanted = arguments.get("chat_id")
        if wanted in (None, ""):
            raise bad_request("chat_id is empty")
        try:
            chat = self._state.chats.get(int(str(wanted)))
        except ValueError:
            chat = None
        if chat is None:
            raise bad_request("chat not found")
        return chat

    def _writable_chat(self, arguments: Json) -> Chat:
        chat = self._chat(arguments)
        if chat.migrated_to:
            problem = "group chat was upgraded to a supergroup chat"
            raise bad_request(problem, migrate_to_chat_id=chat.migrated_to)
        if chat.blocked:
            raise Refusal(403, "Forbidden: bot was blocked by the user")
        if not chat.started:
            raise Refusal(403, "Forbidden: bot can't initiate conversation with a user")
        if not chat.bot_is_member:
            raise Refusal(403, f"Forbidden: bot was kicked from the {chat.kind} chat")
        return chat

    def _thread(self, chat: Chat, arguments: Json) -> int | None:
        """The topic, if it exists; the General topic must be left out."""
        if arguments.get("message_thread_id") in (None, "", "0", 0):
            return None
        thread_id = _number(arguments, "message_thread_id")
        if thread_id == _GENERAL_TOPIC or thread_id not in chat.topics:
            raise bad_request("message thread not found")
        return thread_id

    def _replied(self, chat: Chat, arguments: Json) -> int | None:
        given = _decoded(arguments.get("reply_parameters"), "reply parameters") or {}
        wanted = given.get("message_id", arguments.get("reply_to_message_id"))
        if wanted is None:
            return None
        if (chat.id, int(wanted)) in self._state.messages:
            return int(wanted)
        if _flag(given, "allow_sending_without_reply"):
            return None
        raise bad_request("message to be replied not found")

    def _editable(self, arguments: Json) -> TelegramMessage:
        if "inline_message_id" in arguments:
            raise bad_request("MESSAGE_ID_INVALID")
        chat = self._writable_chat(arguments)
        message = self._state.messages.get((chat.id, _number(arguments, "message_id")))
        if message is None:
            raise bad_request("message to edit not found")
        if message.sender != self._state.bot_id or message.service:
            raise bad_request("message can't be edited")
        if message.other_markup:
            # tdlib, can_edit_message: only those without markup or with an inline keyboard.
            raise bad_request("message can't be edited")
        return message


def _formatted(arguments: Json, name: str, entities_name: str) -> tuple[str, list[Json]]:
    """Text and entities as they are stored, from parse_mode or explicit entities."""
    text = arguments.get(name)
    text = text if isinstance(text, str) else ""
    mode = str(arguments.get("parse_mode") or "").lower()
    given = _decoded(arguments.get(entities_name), "entities")
    try:
        if mode == "html":
            text, entities = parse_html(text)
        elif mode:
            raise bad_request(f"unsupported parse_mode {mode!r}; this double reads HTML only")
        else:
            entities = checked_entities(text, given or [])
    except EntityError as error:
        raise bad_request(f"can't parse entities: {error}") from None
    text, entities = trimmed(text, entities)
    return text, with_live_parts(text, entities)


def _markup(arguments: Json) -> Json | None:
    try:
        return checked_markup(_decoded(arguments.get("reply_markup"), "reply keyboard markup"))
    except KeyboardError as error:
        raise bad_request(str(error)) from None


def _decoded(value: Any, what: str) -> Any:
    """Objects come as JSON text in a form, as they are in a JSON body."""
    if not isinstance(value, str) or not value:
        return value or None
    try:
        return json.loads(value)
    except ValueError:
        raise bad_request(f"can't parse {what} JSON object") from None


def _number(arguments: Json, name: str) -> int:
    try:
        return int(str(arguments.get(name)))
    except ValueError:
        raise bad_request(f"{name} is not specified") from None


def _flag(arguments: Json, name: str) -> bool:
    return str(arguments.get(name, "")).lower() in ("1", "true")
