"""A form as a dialog for one person; what comes back from it names the card it belongs to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from gettext import NullTranslations

from sayso.cards.card import Card, Choice
from sayso.cards.gist import begins
from sayso.chats.places import MessageRef
from sayso.errors import DeliveryError
from sayso.forms.form import Form
from sayso.locales import ENGLISH, locale_of
from sayso.text.counted import format_count
from sayso.text.unicode import is_unicode
from sayso.text.visible import one_line
from sayso_slack.card.elements import (
    Block,
    context,
    literal,
    plain_text,
    preformatted,
    rich_text,
    section,
)
from sayso_slack.card.everything import MOST_BLOCKS, VIEW_BYTES, fits
from sayso_slack.failures import PLATFORM
from sayso_slack.forms.inputs import input_blocks, literal_blocks

CALLBACK = "sayso:form"
"""The callback_id of all our forms."""

FALLS_BACK = "falls_back"
LANGUAGE = "language"
"""Where a dialog carries the choice that counts when it is closed."""

_ASKER = 150
_WHICH = 200

# What a dialog says of the card and of itself: where it stands, which it is, how it falls back.
_BLOCKS_OF_CARD = 3
_BYTES_OF_CARD = 15_000

_TITLE = 24  # docs.slack.dev, views: title, submit and close
_METADATA = 3_000  # docs.slack.dev, views: private_metadata


def form_modal(card: Card, choice: Choice, form: Form, message: MessageRef) -> Block:
    """A view that asks for the fields of a form and remembers where its button stands.

    Raises:
        DeliveryError: a Slack dialog cannot hold the form or take an answer; it says why.
    """
    translations = card.translations
    if choice.falls_back:
        close = form.leave_out or translations.gettext("Leave it out")
    else:
        close = translations.gettext("Cancel")
    blocks = _blocks(card, choice, form, translations)
    view: Block = {
        "type": "modal",
        "callback_id": CALLBACK,
        "private_metadata": _metadata(card, choice, message, translations),
        "title": plain_text(one_line(form.title, _TITLE)),
        "submit": plain_text(one_line(form.submit or translations.gettext("Send"), _TITLE)),
        "close": plain_text(one_line(close, _TITLE)),
        "blocks": blocks,
    }
    if choice.falls_back:
        view["notify_on_close"] = True
    if problem := _view_problem(view, translations):
        raise DeliveryError(PLATFORM, problem, permanent=True)
    return view


def _view_problem(view: Block, translations: NullTranslations) -> str:
    """Why Slack does not take the view; empty where it does."""
    if not is_unicode(view):
        return translations.gettext(
            "the form holds half of a surrogate pair, which Slack cannot carry"
        )
    if fits(view):
        return ""
    return format_count(
        translations,
        "the form is too large for a Slack dialog: it needs {count} block of at most "
        "{most}, and {size} bytes of at most {most_size}",
        "the form is too large for a Slack dialog: it needs {count} blocks of at most "
        "{most}, and {size} bytes of at most {most_size}",
        len(view["blocks"]),
        most=MOST_BLOCKS,
        size=len(json.dumps(view)),
        most_size=VIEW_BYTES,
    )


def _blocks(card: Card, choice: Choice, form: Form, translations: NullTranslations) -> list[Block]:
    """What stands in the dialog: which card it is for, its note, its fields."""
    blocks: list[Block] = []
    if len(form.title) > _TITLE:
        blocks += literal_blocks(form.title)
    blocks += _card(card)
    blocks += literal_blocks(form.note)
    if choice.falls_back:
        usual = translations.gettext("Closed without an answer, it counts at once.")
        blocks.append(context(plain_text(form.if_closed or usual)))
    for field in form.fields:
        blocks += input_blocks(field, translations)
    return blocks


def form_problem(form: Form, translations: NullTranslations = ENGLISH) -> str:
    """Why no dialog can ask for the form, whatever card it belongs to; empty when one can."""
    try:
        fields = [block for field in form.fields for block in input_blocks(field, translations)]
    except DeliveryError as error:
        return error.reason
    blocks = [*literal_blocks(form.title), *literal_blocks(form.note), *fields]
    if len(blocks) + _BLOCKS_OF_CARD > MOST_BLOCKS:
        return format_count(
            translations,
            "a Slack dialog has {count} block, and it needs more",
            "a Slack dialog has {count} blocks, and it needs more",
            MOST_BLOCKS,
        )
    if len(json.dumps(blocks)) + _BYTES_OF_CARD > VIEW_BYTES:
        return format_count(
            translations,
            "a Slack dialog has {count} byte, and it needs more",
            "a Slack dialog has {count} bytes, and it needs more",
            VIEW_BYTES,
        )
    return ""


def _card(card: Card) -> Iterator[Block]:
    """Which card it is for: on a message with several, also how what is decided on begins."""
    which, asker = one_line(card.which, _WHICH), one_line(card.asker, _ASKER)
    if card.count == 1:
        yield context(
            plain_text(
                card.translations.gettext("{asker} asks: {title}").format(asker=asker, title=which)
            )
        )
        return
    first = [preformatted(one_line(begins(card), _WHICH))] if begins(card) else []
    yield rich_text(section(literal(which, bold=True)), *first)
    asked_by = card.translations.gettext("Asked by")
    yield context(plain_text(f"{asked_by} {asker}"))


def _metadata(
    card: Card, choice: Choice, message: MessageRef, translations: NullTranslations
) -> str:
    """Where the answer belongs. Nothing in it is secret, and nobody is believed because of it."""
    place = message.place
    text = json.dumps(
        {
            "handle": card.handle,
            "choice": choice.key,
            "channel": place.address,
            "message": message.message_id,
            **({FALLS_BACK: choice.falls_back} if choice.falls_back else {}),
            **({"thread": place.thread} if place.thread else {}),
            **(
                {LANGUAGE: locale_of(card.translations)}
                if locale_of(card.translations) != locale_of(ENGLISH)
                else {}
            ),
        }
    )
    if len(text) > _METADATA:
        raise DeliveryError(
            PLATFORM,
            translations.gettext("the card's handle is too long for a dialog"),
            permanent=True,
        )
    return text
