"""A form as a dialog for one person; what comes back from it names the card it belongs to."""

from __future__ import annotations

import json
from collections.abc import Iterator

from sayso.cards.card import Card, Choice
from sayso.cards.gist import begins
from sayso.chats.places import MessageRef
from sayso.errors import DeliveryError
from sayso.forms.form import Form
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
from sayso_slack.words import ENGLISH, SlackWords

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


def form_modal(
    card: Card, choice: Choice, form: Form, message: MessageRef, words: SlackWords = ENGLISH
) -> Block:
    """A view that asks for the fields of a form and remembers where its button stands.

    Raises:
        DeliveryError: a Slack dialog cannot hold the form or take an answer; it says why.
    """
    forms = words.cards.forms
    close = (form.leave_out or forms.leave_out) if choice.falls_back else forms.cancel
    blocks = _blocks(card, choice, form, words)
    view: Block = {
        "type": "modal",
        "callback_id": CALLBACK,
        "private_metadata": _metadata(card, choice, message, words),
        "title": plain_text(one_line(form.title, _TITLE)),
        "submit": plain_text(one_line(form.submit or forms.send, _TITLE)),
        "close": plain_text(one_line(close, _TITLE)),
        "blocks": blocks,
    }
    if choice.falls_back:
        view["notify_on_close"] = True
    if not is_unicode(view):
        raise DeliveryError(PLATFORM, words.half_a_pair, permanent=True)
    if not fits(view):
        raise DeliveryError(
            PLATFORM,
            words.too_many_blocks.of(
                len(blocks),
                most=MOST_BLOCKS,
                size=len(json.dumps(view)),
                most_size=VIEW_BYTES,
            ),
            permanent=True,
        )
    return view


def _blocks(card: Card, choice: Choice, form: Form, words: SlackWords) -> list[Block]:
    """What stands in the dialog: which card it is for, its note, its fields."""
    blocks: list[Block] = []
    if len(form.title) > _TITLE:
        blocks += literal_blocks(form.title)
    blocks += _card(card)
    blocks += literal_blocks(form.note)
    if choice.falls_back:
        blocks.append(context(plain_text(form.if_closed or words.counts_at_once)))
    for field in form.fields:
        blocks += input_blocks(field, words)
    return blocks


def form_problem(form: Form, words: SlackWords = ENGLISH) -> str:
    """Why no dialog can ask for the form, whatever card it belongs to; empty when one can."""
    try:
        fields = [block for field in form.fields for block in input_blocks(field, words)]
    except DeliveryError as error:
        return error.reason
    blocks = [*literal_blocks(form.title), *literal_blocks(form.note), *fields]
    if len(blocks) + _BLOCKS_OF_CARD > MOST_BLOCKS:
        return words.needs_more_blocks.of(MOST_BLOCKS)
    if len(json.dumps(blocks)) + _BYTES_OF_CARD > VIEW_BYTES:
        return words.needs_more_bytes.of(VIEW_BYTES)
    return ""


def _card(card: Card) -> Iterator[Block]:
    """Which card it is for: on a message with several, also how what is decided on begins."""
    which, asker = one_line(card.which, _WHICH), one_line(card.asker, _ASKER)
    if card.count == 1:
        yield context(plain_text(card.words.asks.format(asker=asker, title=which)))
        return
    first = [preformatted(one_line(begins(card), _WHICH))] if begins(card) else []
    yield rich_text(section(literal(which, bold=True)), *first)
    yield context(plain_text(f"{card.words.asked_by} {asker}"))


def _metadata(card: Card, choice: Choice, message: MessageRef, words: SlackWords) -> str:
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
            **({LANGUAGE: card.words.tag} if card.words.tag != ENGLISH.cards.tag else {}),
        }
    )
    if len(text) > _METADATA:
        raise DeliveryError(PLATFORM, words.handle_too_long, permanent=True)
    return text
