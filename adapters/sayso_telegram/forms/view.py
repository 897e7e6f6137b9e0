"""A dialogue as messages: the board with its buttons, and the prompt that a person replies to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from telegram import ForceReply, InlineKeyboardButton, InlineKeyboardMarkup
from telegram.constants import KeyboardButtonStyle

from sayso.forms.form import FormField
from sayso.text.visible import visible
from sayso_telegram.card.fitting import Piece, fitting, line, own
from sayso_telegram.card.formatted import Formatted, Look, Part, fitted, sound, units
from sayso_telegram.forms.dialogue import TYPED_KINDS, Dialogue, RawValue
from sayso_telegram.reading.form_buttons import FormButton, Word, form_button_data

# ForceReply, input_field_placeholder: 1-64 characters.
_MOST_PLACEHOLDER = 64
# Undocumented for buttons: what a phone shows on one line, and a little more.
_MOST_LABEL = 60
_SHORT_LABEL = 10
_A_ROW = 3
OPTIONS_A_PAGE = 20
# What all answers together take at most on the board; each has an equal share, and at least 24.
_ANSWERS_UNITS = 1_600
_LEAST_UNITS = 24
_ANSWER_LABEL_UNITS = 40
_NAME_UNITS = 48

_KINDS = {
    "text": "your answer",
    "integer": "a whole number, such as 3",
    "number": "a number, such as 2.5",
    "date": "a date, such as 2026-11-21",
}
_Style = Literal["success", "danger"]


def board(dialogue: Dialogue) -> Formatted:
    """Where the form stands: what was answered, and what is asked now."""
    pieces = [own("📝 ", Look.BOLD), line(dialogue.form.title, rank=3), *_card(dialogue)]
    pieces += [own("\nFor "), _mention(dialogue)]
    if dialogue.ended:
        return fitting([*pieces, *_answers(dialogue), own("\n\n"), _told(dialogue.ended)])
    count = len(dialogue.form.fields)
    asked = dialogue.field
    if asked is not None and count > 1:
        pieces.append(own(f" · {dialogue.at + 1} of {count}"))
    if dialogue.form.note:
        pieces += [own("\n"), line(dialogue.form.note, rank=20)]
    pieces += _answers(dialogue)
    if asked is None:
        pieces.append(own("\n\nIs all of this right?", Look.BOLD))
    else:
        pieces += [*_question(dialogue, asked)]
    return fitting(pieces)


def board_keyboard(dialogue: Dialogue) -> InlineKeyboardMarkup | None:
    """The buttons below the board; None once it is over."""
    if dialogue.ended:
        return None
    rows = [*_answer_rows(dialogue)]
    steps = [_button(dialogue, "« Back", "back")] if dialogue.at > 0 else []
    if dialogue.field is not None and not dialogue.field.required:
        begins = dialogue.field.name in dialogue.initial
        steps.append(_button(dialogue, "Remove it" if begins else "Skip", "skip"))
    words = "Leave it out" if dialogue.falls_back else "Cancel"
    steps.append(_button(dialogue, words, "cancel"))
    return InlineKeyboardMarkup([*rows, steps])


def prompt(dialogue: Dialogue) -> Formatted:
    """The message that is replied to; it mentions the person, whom alone it asks."""
    asked = dialogue.form.fields[dialogue.at]
    pieces = [_mention(dialogue), own(", reply to this message: "), line(asked.label, rank=1)]
    pieces += [*_card(dialogue)]
    if dialogue.problem:
        pieces += [own("\n⚠️ "), _told(dialogue.problem)]
    return fitting(pieces)


def force_reply(dialogue: Dialogue) -> ForceReply:
    """Opens the reply for the person who is mentioned, with what is asked for in the field."""
    asked = dialogue.form.fields[dialogue.at]
    words = asked.label if asked.kind == "text" else f"{asked.label}: {_KINDS[asked.kind]}"
    shown = fitted(sound(visible(words, one_line=True)), _MOST_PLACEHOLDER)
    return ForceReply(selective=True, input_field_placeholder=shown)


def typing_is_needed(dialogue: Dialogue) -> bool:
    """Whether the form has a question that no button answers."""
    return any(
        asked.kind in TYPED_KINDS
        and asked.required
        and not asked.suggestions
        and asked.name not in dialogue.initial
        for asked in dialogue.form.fields
    )


def shown_name(name: str, user_id: int) -> str:
    """How the person is called here: by the name Telegram gave, on one line."""
    name = sound(visible(name, one_line=True)).strip()
    return fitted(name, _NAME_UNITS) if name else f"user {user_id}"


def _card(dialogue: Dialogue) -> Iterator[Piece]:
    """Which card it is for."""
    if dialogue.which:
        yield own("\n")
        yield line(dialogue.which, rank=3)
    if dialogue.begins:
        yield own("\n")
        yield line(dialogue.begins, rank=7)


def _question(dialogue: Dialogue, asked: FormField) -> Iterator[Piece]:
    yield own("\n\n❓ ")
    yield line(asked.label, rank=2)
    if not asked.required:
        yield own(" (optional)")
    if asked.hint:
        yield own("\n")
        yield line(asked.hint, rank=10)
    if not _fits_a_button(kept := _kept(dialogue, asked)):
        yield own("\nSo far:\n")
        yield Piece(Part(sound(visible(kept)), Look.BLOCK), rank=30)
    for number, words in _cut_labels(dialogue, asked):
        yield own(f"\n{number + 1}. ")
        yield line(fitted(sound(words), _MOST_LABEL * 4), rank=8)
    if dialogue.problem:
        yield own("\n⚠️ ")
        yield _told(dialogue.problem)
    if dialogue.is_typed:
        yield own(f"\n↩️ Reply with {_KINDS[asked.kind]}")
        yield own(", or press a button." if asked.suggestions or dialogue.at_hand else ".")
    elif asked.kind in TYPED_KINDS:
        yield own("\nNobody can type an answer in a channel: press a button.")


def _kept(dialogue: Dialogue, asked: FormField) -> str:
    """The answer that can be kept, in words; empty where there is none."""
    kept = dialogue.at_hand
    return in_words(asked, kept) if isinstance(kept, str) else ""


def _fits_a_button(words: str) -> bool:
    return "\n" not in words and units(words) <= _MOST_LABEL - len("Keep: ")


def _cut_labels(dialogue: Dialogue, asked: FormField) -> Iterator[tuple[int, str]]:
    """The choices in full, where a button cannot show them."""
    labels = _labels(asked)
    if any(units(label) > _MOST_LABEL for label in labels):
        yield from ((number, labels[number]) for number in _on_page(dialogue, labels))


def _answers(dialogue: Dialogue) -> Iterator[Piece]:
    answered = [field for field in dialogue.form.fields if field.name in dialogue.values]
    removed = dialogue.removed
    share = max(_LEAST_UNITS, _ANSWERS_UNITS // max(1, len(answered) + len(removed)))
    if answered or removed:
        yield own("\n")
    # One piece for each: a message has at most 100 entities, and what is beyond would be live.
    for field in answered:
        yield own("\n✓ ")
        value = in_words(field, dialogue.values[field.name])
        yield line(f"{_short(field.label)} {_short(value, share)}", rank=6)
    for field in removed:
        yield own("\n✗ ")
        value = in_words(field, dialogue.initial[field.name])
        yield line(f"{_short(field.label)}: removed, was {_short(value, share)}", rank=6)


def _short(words: str, most: int = _ANSWER_LABEL_UNITS) -> str:
    return fitted(sound(visible(words, one_line=True)), most)


def in_words(asked: FormField, raw: RawValue) -> str:
    """A raw value as a person reads it."""
    if asked.kind == "boolean":
        return "Yes" if raw == "true" else "No"
    if asked.kind == "option" and isinstance(raw, str):
        return asked.options[int(raw)].label
    if isinstance(raw, list):
        return ", ".join(asked.options[int(position)].label for position in raw)
    return raw


def _answer_rows(dialogue: Dialogue) -> Iterator[list[InlineKeyboardButton]]:
    asked = dialogue.field
    if asked is None:
        yield [_button(dialogue, dialogue.form.submit, "send", style="success")]
        return
    if asked.kind == "boolean":
        yield [_button(dialogue, "Yes", "yes"), _button(dialogue, "No", "no")]
    else:
        yield from _choice_rows(dialogue, asked)
    if asked.kind == "options":
        words = f"Done ({len(dialogue.picked)})" if dialogue.picked else "Done: none of them"
        yield [_button(dialogue, words, "done", style="success")]
    elif kept := _kept(dialogue, asked):
        words = f"Keep: {kept}" if _fits_a_button(kept) else "Keep it as it is"
        yield [_button(dialogue, words, "keep")]


def _choice_rows(dialogue: Dialogue, asked: FormField) -> Iterator[list[InlineKeyboardButton]]:
    labels = _labels(asked)
    shown = _on_page(dialogue, labels)
    buttons = [_choice(dialogue, asked, number, labels[number]) for number in shown]
    width = _A_ROW if all(len(labels[number]) <= _SHORT_LABEL for number in shown) else 1
    for start in range(0, len(buttons), width):
        yield buttons[start : start + width]
    pages = -(-len(labels) // OPTIONS_A_PAGE)
    if pages > 1:
        here = min(dialogue.page, pages - 1)
        before, after = (here - 1) % pages, (here + 1) % pages
        yield [
            _button(dialogue, "‹", "page", before),
            _button(dialogue, f"{here + 1}/{pages}", "page", here),
            _button(dialogue, "›", "page", after),
        ]


def _choice(dialogue: Dialogue, asked: FormField, number: int, label: str) -> InlineKeyboardButton:
    if asked.kind == "option":
        return _button(dialogue, label, "option", number)
    if asked.kind == "text":
        return _button(dialogue, label, "suggest", number)
    picked = str(number) in dialogue.picked
    words = f"✓ {label}" if picked else label
    return _button(dialogue, words, "unpick" if picked else "pick", number)


def _labels(asked: FormField) -> Sequence[str]:
    return [option.label for option in asked.options] or asked.suggestions


def _on_page(dialogue: Dialogue, labels: Sequence[str]) -> range:
    last = max(0, (len(labels) - 1) // OPTIONS_A_PAGE)
    start = min(dialogue.page, last) * OPTIONS_A_PAGE
    return range(start, min(start + OPTIONS_A_PAGE, len(labels)))


def _button(
    dialogue: Dialogue, label: str, word: Word, number: int = 0, *, style: _Style | None = None
) -> InlineKeyboardButton:
    words = fitted(sound(visible(label, one_line=True)), _MOST_LABEL).strip() or "—"
    data = form_button_data(FormButton(dialogue.dialogue_id, dialogue.visit, word, number))
    colour = None if style is None else KeyboardButtonStyle(style).value
    return InlineKeyboardButton(words, callback_data=data, style=colour)


def _mention(dialogue: Dialogue) -> Piece:
    return Piece(Part(dialogue.name, Look.MENTION, dialogue.user_id))


def _told(words: str) -> Piece:
    """Words that may quote somebody's: a name, a label, a pattern."""
    return line(words, rank=4)
