"""Marks that pile up on a letter cover no other line: in both chats, on all that is shown."""

from __future__ import annotations

import json
import unicodedata
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any

import pytest
from support.conversations import a_conversation
from support.slack_forms import WHERE

from sayso.calls import RunRef, ToolCall
from sayso.cards.card import Card, Choice, Ended, Open
from sayso.cards.gist import gist
from sayso.chats.caller import Waiting
from sayso.chats.overview import Decided, Overview, Remembered
from sayso.digests import shown_and_digest
from sayso.events import UserInputRequest
from sayso.forms.form import Form
from sayso.forms.json_schema import build_schema_form
from sayso.locales import ENGLISH
from sayso.platforms.conversation_view import show_board, show_prompt
from sayso.questions.clarification import ClarificationRequestEvent
from sayso.questions.continuation import ContinuationRequestEvent
from sayso.questions.permission import PermissionRequestEvent
from sayso.questions.structured_input import StructuredInputRequestEvent
from sayso.questions.text_approval import TextApprovalRequestEvent
from sayso.rules.rule import literal_rule
from sayso.where import Where
from sayso.worker.reminders import line_of
from sayso_slack import app_home as slack_waiting
from sayso_slack.app_home import home
from sayso_slack.batch_blocks import message as in_slack
from sayso_slack.modal import everything_modal, form_modal
from sayso_telegram import pending_messages as telegram_waiting
from sayso_telegram.batch_message import build_batch_message
from sayso_telegram.conversation_chat import render_view
from sayso_telegram.message_text import CONTENT_LIMIT, message

MOST = 4
PILE = "Z" + "\u0301\u0310\u033f\u20dd" * 9
NOW = datetime(2026, 1, 1, tzinfo=UTC)
RUN = RunRef(PILE, PILE, project=PILE)
_ASKED = {"source_name": PILE, "run": RUN, "expires_at": NOW + timedelta(minutes=10)}
_SCHEMA = {
    "type": "object",
    "title": PILE,
    "properties": {
        "a": {"type": "string", "title": PILE, "description": PILE, "default": PILE},
        "b": {"enum": [PILE[:7], "x"], "title": PILE},
        "c": {"type": "array", "items": {"type": "string"}, "default": [PILE]},
    },
}


def a_permission() -> PermissionRequestEvent:
    arguments = {"command": f"ls {PILE}", PILE: PILE, "deep": [{PILE: [PILE]}], "password": PILE}
    plain, digest = shown_and_digest(arguments)
    return PermissionRequestEvent(
        permission_id="p-1",
        function_name=PILE,
        call_id="c-1",
        description=PILE,
        arguments=plain,
        arguments_digest=digest,
        asked_because=PILE,
        where=Where(PILE, f"/{PILE}", PILE, PILE),
        suggested_rules=(literal_rule(ToolCall(PILE, {"command": PILE})),),
        **_ASKED,
    )


REQUESTS: dict[str, UserInputRequest] = {
    "a call": a_permission(),
    "a text": TextApprovalRequestEvent(
        request_id="r", title=PILE, text=PILE, context=PILE, **_ASKED
    ),
    "a question": ClarificationRequestEvent(
        request_id="r", question=PILE, context=PILE, options=[PILE, "x"], **_ASKED
    ),
    "going on": ContinuationRequestEvent(
        continuation_id="r", current_iteration=1, max_iterations=2, description=PILE, **_ASKED
    ),
    "data": StructuredInputRequestEvent(request_id="r", text=PILE, json_schema=_SCHEMA, **_ASKED),
}
ENDED = Ended("denied", NOW, by="slack:U0", by_name=PILE, reason=PILE, stored=PILE, note=PILE)


def most_marks(shown: Any) -> int:
    """How many marks at most stand on one letter of anything in this."""
    text = json.dumps(shown, ensure_ascii=False)
    runs = groupby(text, lambda c: unicodedata.category(c) in ("Mn", "Me"))
    return max((len(list(run)) for is_mark, run in runs if is_mark), default=0)


def a_card(request: UserInputRequest, **changes: Any) -> Card:
    fields = {"state": Open(), **changes}
    return Card(
        "h" * 23,
        request.card(),
        request.asker,
        request.expires_at,
        CONTENT_LIMIT,
        150_000,
        **fields,
    )


def forms(card: Card) -> list[tuple[Choice, Form]]:
    choices = (*card.body.choices, *card.body.more)
    return [(choice, choice.form) for choice in choices if choice.form is not None]


@pytest.mark.parametrize("which", REQUESTS)
@pytest.mark.parametrize(
    "state", [Open(), Open(more=True), ENDED, Ended("denied", NOW, details=True)]
)
def test_no_letter_of_a_card_has_more_marks(which: str, state: Open | Ended) -> None:
    card = a_card(REQUESTS[which], state=state)
    together = [a_card(REQUESTS[which], state=state, number=n, count=2) for n in (1, 2)]

    assert most_marks(in_slack([card])) <= MOST
    assert most_marks(in_slack(together)) <= MOST
    assert most_marks(everything_modal(card)) <= MOST
    assert most_marks(message(card).text) <= MOST
    assert most_marks(build_batch_message(together).text) <= MOST
    assert "× U+" in in_slack([card])["text"] or "U+0301" in message(card).text


@pytest.mark.parametrize("which", REQUESTS)
def test_no_letter_of_a_form_has_more_marks(which: str) -> None:
    card = a_card(REQUESTS[which])

    for choice, form in forms(card):
        assert most_marks(form_modal(card, choice, form, WHERE)) <= MOST
        conversation = a_conversation(*form.fields, actor="telegram:42", confirms=True)
        for shown in (show_prompt(conversation), show_board(conversation)):
            said, _ = render_view(shown)
            assert most_marks(said.text) <= MOST


def test_no_letter_of_a_list_has_more_marks() -> None:
    request = REQUESTS["a call"]
    title, asker = line_of(request.subject), line_of(request.asker)
    waiting = (Waiting(title, asker, NOW, None, "", "", gist(request.card())),)
    overview = Overview(
        waiting=waiting,
        rules=(Remembered("1", PILE, PILE, PILE, allows=True, stored_by=PILE, expires_at=NOW),),
        decisions=(Decided(NOW, "approved", PILE, PILE, PILE),),
    )

    assert most_marks(home(overview, ENGLISH, said=PILE)) <= MOST
    assert most_marks(slack_waiting.reminder_message("x", waiting, (), ENGLISH)) <= MOST
    assert most_marks(telegram_waiting.list_waiting("x", waiting, ENGLISH).text) <= MOST
    assert most_marks(telegram_waiting.build_reminder("!", "x", waiting, ENGLISH).text) <= MOST


def test_a_form_of_a_schema_begins_with_no_pile() -> None:
    form = build_schema_form(_SCHEMA)

    assert max(most_marks(str(field.initial)) for field in form.form.fields) <= MOST
