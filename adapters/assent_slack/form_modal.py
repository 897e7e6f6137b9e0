"""A form as a dialog for one person; what comes back from it names the card it belongs to."""

from __future__ import annotations

import json

from assent.cards import Card, Choice
from assent.errors import DeliveryError
from assent.forms import Form
from assent.places import MessageRef
from assent_slack.elements import Block, context, one_line, plain_text
from assent_slack.failures import PLATFORM
from assent_slack.form_inputs import input_blocks, literal_blocks
from assent_slack.modal import MOST_BLOCKS, fits

CALLBACK = "assent:form"
"""The callback_id of all our forms."""

_TITLE = 24  # docs.slack.dev, views: title, submit and close
_METADATA = 3_000  # docs.slack.dev, views: private_metadata


def form_modal(card: Card, choice: Choice, form: Form, message: MessageRef) -> Block:
    """A view that asks for the fields of a form and remembers where its button stands.

    Raises:
        DeliveryError: a Slack dialog cannot hold the form or take an answer; it says why.
    """
    blocks: list[Block] = []
    if len(form.title) > _TITLE:
        blocks += literal_blocks(form.title)
    blocks.append(context(plain_text(one_line(f"{card.asker} asks: {card.body.title}", 300))))
    blocks += literal_blocks(form.note)
    for field in form.fields:
        blocks += input_blocks(field)
    view: Block = {
        "type": "modal",
        "callback_id": CALLBACK,
        "private_metadata": _metadata(card, choice, message),
        "title": plain_text(one_line(form.title, _TITLE)),
        "submit": plain_text(one_line(form.submit, _TITLE)),
        "close": plain_text("Cancel"),
        "blocks": blocks,
    }
    if not _is_unicode(view):
        reason = "the form holds half of a character, which Slack cannot carry"
        raise DeliveryError(PLATFORM, reason, permanent=True)
    if not fits(view):
        raise DeliveryError(
            PLATFORM,
            f"the form is too large for a Slack dialog: it needs {len(blocks)} blocks of at most "
            f"{MOST_BLOCKS}, and {len(json.dumps(view)):,} bytes of at most 250,000",
            permanent=True,
        )
    return view


def _is_unicode(view: Block) -> bool:
    """Whether no name and no text to begin with holds half of a surrogate pair."""
    try:
        json.dumps(view, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _metadata(card: Card, choice: Choice, message: MessageRef) -> str:
    """Where the answer belongs. Nothing in it is secret, and nobody is believed because of it."""
    place = message.place
    text = json.dumps(
        {
            "handle": card.handle,
            "choice": choice.key,
            "channel": place.address,
            "message": message.message_id,
            **({"thread": place.thread} if place.thread else {}),
        }
    )
    if len(text) > _METADATA:
        raise DeliveryError(PLATFORM, "the card's handle is too long for a dialog", permanent=True)
    return text
