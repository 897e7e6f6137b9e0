"""Forms that people fill in question by question, as messages of Telegram."""

from __future__ import annotations

from collections.abc import Iterator
from gettext import NullTranslations
from typing import Any

from telegram import ForceReply, InlineKeyboardButton, InlineKeyboardMarkup
from telegram.constants import KeyboardButtonStyle

from sayso.chats.places import MessageRef, Place
from sayso.errors import DeliveryError
from sayso.forms.form import Form
from sayso.locales import ENGLISH
from sayso.platforms.conversation_steps import write_button
from sayso.platforms.conversation_view import Board, Note, Offer, Person, Prompt, Question
from sayso.text.visible import visible
from sayso_telegram.client import (
    Client,
    Markup,
    edit_text,
    parse_number,
    parse_place,
    parse_user_id,
    reply_parameters,
    send_text,
)
from sayso_telegram.config import PLATFORM
from sayso_telegram.formatted_text import (
    Formatted,
    Look,
    Part,
    Piece,
    count_units,
    fill_template,
    fit_pieces,
    line,
    own,
    replace_surrogates,
    truncate,
)

_MOST_NAMES = 1_000


class KnownNames:
    """First names by user id, of those who pressed last. They prove nothing."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}

    def note(self, user_id: int, name: Any) -> None:
        """Note what Telegram calls this person now."""
        if not isinstance(name, str) or not name:
            return
        self._names.pop(user_id, None)
        self._names[user_id] = name
        if len(self._names) > _MOST_NAMES:
            del self._names[next(iter(self._names))]

    def name(self, user_id: int) -> str:
        """The name; empty when none is known."""
        return self._names.get(user_id, "")


# ForceReply, input_field_placeholder: 1-64 characters.
_MOST_PLACEHOLDER = 64
# Undocumented for buttons: what a phone shows on one line, and a little more.
_MOST_LABEL = 60
MAX_OPTION_UNITS = 2 * _MOST_LABEL
"""An option too long for its button is listed, in twice as many code units as characters."""

MAX_DEFAULT_UNITS = 3_000
"""A message has 4,096 code units: what a form begins with, and all that stands around it."""

# What all answers together take at most on the board; each has an equal share, and at least 24.
_ANSWERS_UNITS = 1_600
_LEAST_UNITS = 24
_ANSWER_LABEL_UNITS = 40
_NAME_UNITS = 48
_MOST_LISTED = 2_400


def render_view(view: Board | Prompt | Note) -> tuple[Formatted, Markup]:
    """The view as a message, and what is attached to it.

    Raises:
        ValueError: it is too long for Telegram.
    """
    if isinstance(view, Board):
        return board_message(view), board_keyboard(view)
    if isinstance(view, Prompt):
        return prompt_message(view), force_reply(view)
    return fit_pieces([line(view.text, rank=1)], view.translations), None


def board_message(board: Board) -> Formatted:
    """The form with what was answered, and what is asked now."""
    translations = board.translations
    pieces = [own("📝 ", Look.BOLD), line(board.title, rank=3), *_card(board)]
    pieces += [own("\n")]
    pieces += fill_template(translations.gettext("For {person}"), person=_mention(board.person))
    if board.step is not None:
        at, count = board.step
        step = translations.gettext("{at} of {count}").format(at=at, count=count)
        pieces.append(own(f" · {step}"))
    if board.note:
        pieces += [own("\n"), line(board.note, rank=20)]
    pieces += _answers(board)
    if board.question is not None:
        pieces += _question(board.question, translations)
    elif board.ended:
        pieces += [own("\n\n"), _quoted_line(board.ended)]
    else:
        summary = translations.gettext("Is all of this right?")
        pieces.append(own(f"\n\n{summary}", Look.BOLD))
    return fit_pieces(pieces, translations)


def board_keyboard(board: Board) -> InlineKeyboardMarkup | None:
    """The buttons below the board; None once it is over."""
    if not board.rows:
        return None
    return InlineKeyboardMarkup([[_button(offer) for offer in row] for row in board.rows])


def prompt_message(prompt: Prompt) -> Formatted:
    """The message that is replied to; it mentions the person, whom alone it asks."""
    person, label = _mention(prompt.person), line(prompt.label, rank=1)
    pieces = [
        *fill_template(
            prompt.translations.gettext("{person}, reply to this message: {label}"),
            person=person,
            label=label,
        ),
        *_card(prompt),
    ]
    if prompt.problem:
        pieces += [own("\n⚠️ "), _quoted_line(prompt.problem)]
    return fit_pieces(pieces, prompt.translations)


def force_reply(prompt: Prompt) -> ForceReply:
    """Opens the reply for the person who is mentioned, with what is asked for in the field."""
    words = f"{prompt.label}: {prompt.wanted}" if prompt.wanted else prompt.label
    return ForceReply(selective=True, input_field_placeholder=_one_line(words, _MOST_PLACEHOLDER))


def find_long_options(form: Form) -> str:
    """Return the label of a field whose options, listed in full, leave no room for anything else.

    Options that all fit their buttons are not listed.
    """
    for asked in form.fields:
        labels = [option.label for option in asked.options]
        if not all(map(_fits_a_button, labels)) and sum(map(count_units, labels)) > _MOST_LISTED:
            return asked.label
    return ""


def display_name(name: str, user_id: int, translations: NullTranslations = ENGLISH) -> str:
    """The person's name as Telegram gave it, on one line."""
    name = replace_surrogates(visible(name, one_line=True)).strip()
    return (
        truncate(name, _NAME_UNITS)
        if name
        else translations.gettext("user {number}").format(number=user_id)
    )


def _card(view: Board | Prompt) -> Iterator[Piece]:
    """Which card it is for."""
    if view.which:
        yield own("\n")
        yield line(view.which, rank=3)
    if view.begins:
        yield own("\n")
        yield line(view.begins, rank=7)


def _question(asked: Question, translations: NullTranslations) -> Iterator[Piece]:
    yield own("\n\n❓ ")
    yield line(asked.label, rank=2)
    if not asked.is_required:
        optional = translations.gettext("(optional)")
        yield own(f" {optional}")
    if asked.hint:
        yield own("\n")
        yield line(asked.hint, rank=10)
    if asked.keep is not None and not _fits_a_button(asked.keep.label):
        so_far = translations.gettext("So far:")
        yield own(f"\n{so_far}\n")
        yield Piece(Part(replace_surrogates(visible(asked.so_far)), Look.BLOCK), rank=30)
    if not all(map(_fits_a_button, asked.choices)):
        labels = (_one_line(label, 2 * MAX_OPTION_UNITS) for label in asked.choices)
        listed = "\n".join(f"{number}. {label}" for number, label in enumerate(labels, 1))
        # One piece for all of them: a message has at most 100 entities.
        yield own("\n")
        yield Piece(Part(listed, Look.BLOCK), rank=8)
    if asked.problem:
        yield own("\n⚠️ ")
        yield _quoted_line(asked.problem)
    if asked.how:
        yield own(f"\n↩️ {asked.how}" if asked.is_typed else f"\n{asked.how}")


def _answers(board: Board) -> Iterator[Piece]:
    answers = board.answers
    share = max(_LEAST_UNITS, _ANSWERS_UNITS // max(1, len(answers)))
    if answers:
        yield own("\n")
    # One piece for each: a message has at most 100 entities, and what is beyond would be live.
    for label, value in answers:
        yield own("\n✓ ")
        given = f"{_one_line(label, _ANSWER_LABEL_UNITS)} {_one_line(value, share)}"
        yield line(given, rank=6)


def _button(offer: Offer) -> InlineKeyboardButton:
    words = offer.label if _fits_a_button(offer.label) else offer.short or offer.label
    colour = KeyboardButtonStyle.SUCCESS if offer.is_main else None
    return InlineKeyboardButton(
        _one_line(words, _MOST_LABEL).strip() or "—",
        callback_data=write_button(offer.button),
        style=colour,
    )


def _fits_a_button(label: str) -> bool:
    return "\n" not in label and count_units(replace_surrogates(visible(label))) <= _MOST_LABEL


def _one_line(words: str, most: int) -> str:
    return truncate(replace_surrogates(visible(words, one_line=True)), most)


def _mention(person: Person) -> Piece:
    return Piece(Part(person.name, Look.MENTION, parse_user_id(person.actor)))


def _quoted_line(words: str) -> Piece:
    """Words that may quote somebody's: a name, a label, a pattern."""
    return line(words, rank=4)


class TelegramConversationChat:
    """Posts and changes the messages of conversations: the core's ConversationChat."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._channels: dict[int, bool] = {}

    async def post(self, view: Board | Prompt | Note, reply_to: MessageRef) -> MessageRef:
        """Post a message in reply to another, or beside it when that is gone.

        Raises:
            ChannelMigratedError: the group became a supergroup.
            DeliveryError: Telegram did not take the message.
        """
        chat_id, thread_id = parse_place(reply_to.place)
        text, markup = _render(view)
        number = await send_text(
            self._client,
            text,
            chat_id=chat_id,
            message_thread_id=thread_id,
            reply_parameters=reply_parameters(reply_to.message_id),
            reply_markup=markup,
            disable_notification=isinstance(view, Board) and view.is_quiet,
        )
        return MessageRef(reply_to.place, number)

    async def change(self, message: MessageRef, view: Board | Note) -> None:
        """Make the message show this, and no buttons where the view has none.

        Raises:
            ChannelMigratedError: the group became a supergroup.
            DeliveryError: Telegram did not take the change.
        """
        chat_id, _ = parse_place(message.place)
        text, markup = _render(view)
        where = {"chat_id": chat_id, "message_id": parse_number(message.message_id)}
        await edit_text(self._client, text, reply_markup=markup, **where)

    async def take_back(self, message: MessageRef) -> None:
        """Delete a message of the bot.

        Telegram edits no message that was sent with a ForceReply
        (MessagesManager::can_edit_message), so a prompt can only be deleted.

        Raises:
            DeliveryError: Telegram did not delete it.
        """
        chat_id, _ = parse_place(message.place)
        with self._client.errors():
            await self._client.bot.delete_message(chat_id, parse_number(message.message_id))

    async def can_type(self, place: Place) -> bool:
        """True where people can reply: in a channel nobody can.

        Raises:
            DeliveryError: Telegram did not say.
        """
        chat_id, _ = parse_place(place)
        if chat_id > 0:
            return True
        if chat_id not in self._channels:
            chat = await self._client.fetch("getChat", chat_id=chat_id)
            kind = chat.get("type") if isinstance(chat, dict) else None
            self._channels[chat_id] = kind == "channel"
        return not self._channels[chat_id]


def _render(view: Board | Prompt | Note) -> tuple[Formatted, Markup]:
    try:
        return render_view(view)
    except ValueError as error:
        raise DeliveryError(PLATFORM, str(error), permanent=True) from error
