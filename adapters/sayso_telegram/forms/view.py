"""The views of a conversation as messages: text with entities, buttons, a forced reply."""

from __future__ import annotations

from collections.abc import Iterator
from gettext import NullTranslations

from telegram import ForceReply, InlineKeyboardButton, InlineKeyboardMarkup
from telegram.constants import KeyboardButtonStyle

from sayso.forms.form import Form
from sayso.locales import ENGLISH
from sayso.platforms.conversation_steps import write_button
from sayso.platforms.conversation_view import Board, Note, Offer, Person, Prompt, Question
from sayso.text.visible import visible
from sayso_telegram.addresses import user_id_of
from sayso_telegram.card.formatted import Formatted, Look, Part, fitted, sound, units
from sayso_telegram.card.pieces import Piece, fitting, line, own, spread
from sayso_telegram.card.sending import Markup

# ForceReply, input_field_placeholder: 1-64 characters.
_MOST_PLACEHOLDER = 64
# Undocumented for buttons: what a phone shows on one line, and a little more.
_MOST_LABEL = 60
LONGEST_OPTION = 2 * _MOST_LABEL
"""An option too long for its button is listed, in twice as many code units as characters."""

LONGEST_BEGUN = 3_000
"""A message has 4,096 code units: what a form begins with, and all that stands around it."""

# What all answers together take at most on the board; each has an equal share, and at least 24.
_ANSWERS_UNITS = 1_600
_LEAST_UNITS = 24
_ANSWER_LABEL_UNITS = 40
_NAME_UNITS = 48
_MOST_LISTED = 2_400


def rendered(view: Board | Prompt | Note) -> tuple[Formatted, Markup]:
    """The view as a message, and what is attached to it.

    Raises:
        ValueError: it is too long for Telegram.
    """
    if isinstance(view, Board):
        return board_message(view), board_keyboard(view)
    if isinstance(view, Prompt):
        return prompt_message(view), force_reply(view)
    return fitting([line(view.text, rank=1)], view.translations), None


def board_message(board: Board) -> Formatted:
    """The form with what was answered, and what is asked now."""
    translations = board.translations
    pieces = [own("📝 ", Look.BOLD), line(board.title, rank=3), *_card(board)]
    pieces += [own("\n")]
    pieces += spread(translations.gettext("For {person}"), person=_mention(board.person))
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
        pieces += [own("\n\n"), _told(board.ended)]
    else:
        summary = translations.gettext("Is all of this right?")
        pieces.append(own(f"\n\n{summary}", Look.BOLD))
    return fitting(pieces, translations)


def board_keyboard(board: Board) -> InlineKeyboardMarkup | None:
    """The buttons below the board; None once it is over."""
    if not board.rows:
        return None
    return InlineKeyboardMarkup([[_button(offer) for offer in row] for row in board.rows])


def prompt_message(prompt: Prompt) -> Formatted:
    """The message that is replied to; it mentions the person, whom alone it asks."""
    person, label = _mention(prompt.person), line(prompt.label, rank=1)
    pieces = [
        *spread(
            prompt.translations.gettext("{person}, reply to this message: {label}"),
            person=person,
            label=label,
        ),
        *_card(prompt),
    ]
    if prompt.problem:
        pieces += [own("\n⚠️ "), _told(prompt.problem)]
    return fitting(pieces, prompt.translations)


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
        if not all(map(_fits_a_button, labels)) and sum(map(units, labels)) > _MOST_LISTED:
            return asked.label
    return ""


def shown_name(name: str, user_id: int, translations: NullTranslations = ENGLISH) -> str:
    """What the person is called here: the name that Telegram gave, on one line."""
    name = sound(visible(name, one_line=True)).strip()
    return (
        fitted(name, _NAME_UNITS)
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
        yield Piece(Part(sound(visible(asked.so_far)), Look.BLOCK), rank=30)
    if not all(map(_fits_a_button, asked.choices)):
        labels = (_one_line(label, 2 * LONGEST_OPTION) for label in asked.choices)
        listed = "\n".join(f"{number}. {label}" for number, label in enumerate(labels, 1))
        # One piece for all of them: a message has at most 100 entities.
        yield own("\n")
        yield Piece(Part(listed, Look.BLOCK), rank=8)
    if asked.problem:
        yield own("\n⚠️ ")
        yield _told(asked.problem)
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
    return "\n" not in label and units(sound(visible(label))) <= _MOST_LABEL


def _one_line(words: str, most: int) -> str:
    return fitted(sound(visible(words, one_line=True)), most)


def _mention(person: Person) -> Piece:
    return Piece(Part(person.name, Look.MENTION, user_id_of(person.actor)))


def _told(words: str) -> Piece:
    """Words that may quote somebody's: a name, a label, a pattern."""
    return line(words, rank=4)
