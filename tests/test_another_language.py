"""Nothing speaks outside the tables: in another language no English word of ours is left."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from support.slack_kit import a_config
from support.x_language import X_TRANSLATIONS, X, english, texts

from sayso import RunRef, ToolCall
from sayso.always.terms import GrantOptions
from sayso.always.widths import derive
from sayso.calls import new_id
from sayso.cards.card import Card, Choice, Ended, Open
from sayso.chats.places import Answer, Answered, MessageRef, Place
from sayso.digests import arguments_digest
from sayso.errors import InvalidInputError
from sayso.events import UserInputRequest
from sayso.forms.form import FormField
from sayso.forms.form_values import Raw
from sayso.platforms.conversation_steps import (
    Conversation,
    FormButton,
    Purpose,
    Word,
    correct,
    detach_values,
    go_to,
    press_button,
    type_answer,
)
from sayso.platforms.conversation_view import show_board, show_prompt
from sayso.questions.clarification import ClarificationRequestEvent
from sayso.questions.continuation import ContinuationRequestEvent
from sayso.questions.permission import PermissionRequestEvent
from sayso.questions.refusals import Refusals
from sayso.questions.structured_input import StructuredInputRequestEvent
from sayso.questions.text_approval import TextApprovalRequestEvent
from sayso.stores.memory.key_value import MemoryKeyValue
from sayso.stores.protocols import Copy, Found, Report, Use
from sayso.worker.card_builder import CardBuilder, Localizer
from sayso.worker.routing import Route, Routes
from sayso_slack import SlackAdapter
from sayso_slack.card.everything import everything_modal
from sayso_slack.card.message import message as slack_message
from sayso_slack.forms.modal import form_modal
from sayso_slack.incoming.answers import form_answer
from sayso_telegram import TelegramAdapter, TelegramConfig
from sayso_telegram.card.bundle_keyboard import bundle_keyboard
from sayso_telegram.card.bundle_message import bundle_message
from sayso_telegram.card.keyboard import keyboard
from sayso_telegram.card.message import message as telegram_message
from sayso_telegram.forms.view import rendered

ROOT = Path(__file__).parent.parent
NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
SLACK, TELEGRAM = Place("slack", "C0"), Place("telegram", "-100")
WHERE = {"slack": MessageRef(SLACK, "1.1"), "telegram": MessageRef(TELEGRAM, "7")}
SCHEMA = {
    "type": "object",
    "properties": {
        "α": {"type": "string", "minLength": 2, "pattern": "^[0-9]+$"},
        "β": {"type": "integer", "minimum": 3, "default": 5},
        "γ": {"type": "boolean"},
        "δ": {"enum": ["α", None, "жжжж"]},
        "ε": {"type": "array", "items": {"enum": ["α", "β"]}, "minItems": 1},
        "ζ": {"type": "string", "format": "date"},
        "η": {"type": "number"},
    },
    "required": ["α", "β", "ζ", "ε"],
}
SECRET = "AKIAIOSFODNN7EXAMPLE"
FIELDS: dict[str, Any] = {
    "source_name": "σ",
    "run": RunRef("α", "σ", branch_id="β"),
    "requested_by": "ρ",
    "expires_at": NOW,
}


def a_call(arguments: dict[str, Any], **changes: Any) -> PermissionRequestEvent:
    call = ToolCall("τ", arguments)
    return PermissionRequestEvent(
        permission_id=new_id(),
        function_name="τ",
        description="δ",
        call_id="κ",
        arguments=arguments,
        arguments_digest=arguments_digest(arguments),
        suggested_rules=derive(call),
        **{**FIELDS, **changes},
    )


REQUESTS: Sequence[UserInputRequest] = (
    a_call({"α": "β", "γ": [1, None]}),
    a_call({"command": "α*β"}, asked_because="ζ"),
    a_call({}),
    a_call({"α": "ξ" * 50_000}),
    a_call({"α": "12", "β": 4, "ζ": "2026-11-21", "ε": ["α"]}, arguments_schema=SCHEMA),
    ClarificationRequestEvent(request_id="1", question="α?", context="κ", **FIELDS),
    ClarificationRequestEvent(request_id="2", question="α?", options=("α", "ж" * 5), **FIELDS),
    TextApprovalRequestEvent(request_id="3", title="τ", text="α\n" * 9_000, context="κ", **FIELDS),
    TextApprovalRequestEvent(request_id="4", title="τ", text="α", **FIELDS),
    StructuredInputRequestEvent(request_id="5", text="τ", json_schema=SCHEMA, **FIELDS),
    ContinuationRequestEvent(
        continuation_id="6", current_iteration=3, max_iterations=3, description="δ", **FIELDS
    ),
)
INPUTS = {
    "answer": "α",
    "reason": "ρ",
    "arguments": "{}",
    "α": "12",
    "β": "7",
    "γ": "false",
    "δ": "1",
    "ε": ["0"],
    "ζ": "2026-11-22",
}


@pytest.fixture(scope="module")
def maker() -> CardBuilder:
    slack = SlackAdapter(a_config())
    telegram = TelegramAdapter(
        TelegramConfig(bot_token="1:A", mode="polling"),
        MemoryKeyValue(lambda: NOW),
    )
    routes = Routes([Route((SLACK,), approvers=("slack:U0",))], language=X)
    return CardBuilder(
        {"slack": slack, "telegram": telegram},
        routes,
        terms=GrantOptions(scopes=frozenset({"session", "agent", "tool-window"})),
        refusals=Refusals(reasons=("α", "β")),
        speech=Localizer(routes, {X: X_TRANSLATIONS}),
    )


def read_in(platform: str, *cards: Card) -> Iterator[str]:
    """What people read of a message with these cards."""
    if platform == "slack":
        yield from texts(slack_message(cards))
        return
    one = len(cards) == 1
    shown = telegram_message(cards[0]) if one else bundle_message(cards)
    markup = keyboard(cards[0]) if one else bundle_keyboard(cards)
    yield shown.text
    yield shown.without_entities
    for row in markup.inline_keyboard if markup else ():
        yield from (button.text for button in row)


def states(maker: CardBuilder, request: UserInputRequest, platform: str) -> Iterator[Card]:
    """The card in each of its states, until it has ended in each way that there is."""
    copy = Copy("handle-0123456789", request.question_id, WHERE[platform].place)
    card = maker.card(Found(copy, request, None))
    revealed = maker.card(Found(replace(copy, revealed=True), request, None))
    yield card
    yield revealed
    yield maker.card(Found(copy, request, None), Open(more=True, notice="ν"))
    for choice in (*revealed.choices, *revealed.more):
        if choice.stores:
            yield revealed.confirming(choice)
    for ending in (
        request.expired(at=NOW),
        request.cancelled(at=NOW, by="slack:U0", reason="ρ"),
        *answers(maker, request, revealed),
    ):
        yield maker.card(Found(copy, request, ending))
    given = next(answers(maker, request, revealed))
    reports = (Report("succeeded", NOW), Report("failed", NOW))
    for use in (Use("k", NOW, report) for report in (None, *reports)):
        yield maker.card(Found(copy, request, given, use))


def answers(maker: CardBuilder, request: UserInputRequest, card: Card) -> Iterator[Any]:
    """An answer for each choice."""
    spoken = maker.spoken(Found(Copy("handle", request.question_id, SLACK), request, None))
    for choice in (*card.choices, *card.more):
        if choice.key == "show":
            continue
        inputs: dict[str, Any] = {}
        if choice.form is not None:
            names = {field.name for field in choice.form.fields}
            given = {name: raw for name, raw in INPUTS.items() if name in names}
            inputs = choice.form.read(given, X_TRANSLATIONS)
        yield spoken.answer(choice, by="slack:U0", at=NOW, inputs=inputs)


# The agent's data and the names of accounts are in no language of ours.
DATA = re.compile(
    r"(?a:(?<![\w-])[\w-]{20,}(?![\w-]))|slack.U0|\bcommand\b|\b(?:null|true|false|xx+)\b"
)


def left(shown: Iterator[str]) -> list[str]:
    """English words that nobody but us can have said."""
    return sorted({word for text in shown for word in english(DATA.sub("", text))})


@pytest.mark.parametrize("platform", ["slack", "telegram"])
@pytest.mark.parametrize("number", range(len(REQUESTS)))
def test_no_state_of_any_question_says_a_word_of_english(
    maker: CardBuilder, number: int, platform: str
) -> None:
    shown = list(states(maker, REQUESTS[number], platform))

    assert len(shown) > 5
    assert any(isinstance(card.state, Ended) for card in shown)
    assert left(text for card in shown for text in read_in(platform, card)) == []
    assert left(texts(everything_modal(shown[0]))) == []


@pytest.mark.parametrize("platform", ["slack", "telegram"])
def test_a_message_with_several_cards_says_no_word_of_english(
    maker: CardBuilder, platform: str
) -> None:
    requests = [
        a_call({"α": number}, expires_at=NOW + timedelta(hours=number)) for number in range(4)
    ]
    requests.append(a_call({"α": "ξ" * 9_000}))
    handles = tuple(f"handle-0123456789-{number}" for number in range(len(requests)))
    cards = []
    for number, (request, handle) in enumerate(zip(requests, handles, strict=True)):
        copy = Copy(handle, request.question_id, WHERE[platform].place, bundle=handles)
        ending = request.deny(by="slack:U0", at=NOW, reason="ρ") if number == 0 else None
        card = maker.card(Found(copy, request, ending))
        cards.append(
            card.confirming(next(c for c in card.choices if c.stores)) if number == 1 else card
        )
    cards[2] = replace(cards[2], state=Open(more=True, notice="ν"))

    assert left(read_in(platform, *cards)) == []


def forms(maker: CardBuilder) -> Iterator[tuple[Card, Choice]]:
    for request in REQUESTS:
        copy = Copy("handle", request.question_id, SLACK, revealed=True)
        card = maker.card(Found(copy, request, None))
        yield from ((card, one) for one in (*card.choices, *card.more) if one.form is not None)


def test_no_dialog_of_slack_says_a_word_of_english(maker: CardBuilder) -> None:
    for card, choice in forms(maker):
        assert choice.form is not None
        view = form_modal(card, choice, choice.form, WHERE["slack"])
        assert left(texts(view)) == []
        payload = {"view": {**view, "state": {"values": {}}}}
        for kind in (Answered.LATE, Answered.REFUSED, Answered.INVALID):
            told = form_answer(payload, Answer(kind, "", {"ψ": ""}), X_TRANSLATIONS)
            assert left(texts(told)) == []


def test_no_problem_of_a_field_is_told_in_english(maker: CardBuilder) -> None:
    for _, choice in forms(maker):
        assert choice.form is not None
        for field in choice.form.fields:
            for raw in (None, "", "1", "99", "ж", ["9"], ["0", "0"], "2026-99-99", "x" * 4_000):
                assert left(iter([problem_of(field, raw)])) == []


def problem_of(field: FormField, raw: Raw) -> str:
    try:
        field.read(raw, X_TRANSLATIONS)
    except ValueError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    "written",
    ["{", '{"α": NaN}', '{"α": 1, "α": 2}', "{“α”: 1}", "β", "β=1", "α=1\nα=2", "γ=x", "[" * 9],
)
def test_no_problem_of_edited_arguments_is_told_in_english(
    maker: CardBuilder, written: str
) -> None:
    request = maker.spoken(Found(Copy("handle", "1", SLACK), REQUESTS[0], None))
    choice = next(one for one in request.card().more if one.key == "edit")

    with pytest.raises(InvalidInputError) as raised:
        request.answer(choice, by="slack:U0", at=NOW, inputs={"arguments": written})

    problem = " ".join(raised.value.problems.values()).replace("NaN", "").replace("Expecting", "")
    foreign_parser = "property name enclosed in double quotes"
    assert left(iter([problem.replace(foreign_parser, "")])) == []


def test_no_step_of_a_conversation_is_in_english(maker: CardBuilder) -> None:
    for _, choice in forms(maker):
        assert choice.form is not None
        form, values = detach_values(choice.form)
        conversation = go_to(
            Conversation(
                "d" * 22,
                "telegram:1",
                "ν",
                WHERE["telegram"],
                Purpose("handle", choice.key, choice.label, False, choice.falls_back),
                form,
                0.0,
                values=values,
            ),
            0,
        )
        for step in steps(conversation):
            views: list[Any] = [show_board(step, X_TRANSLATIONS)]
            if step.is_typed:
                views.append(show_prompt(step, X_TRANSLATIONS))
            for view in views:
                message, markup = rendered(view)
                assert left(iter([message.text, message.without_entities])) == []
                for row in getattr(markup, "inline_keyboard", ()):
                    assert left(button.text for button in row) == []


def steps(conversation: Conversation) -> Iterator[Conversation]:
    """The conversation at each of its questions, with and without a problem, and at its end."""

    def pressed(now: Conversation, word: Word) -> Conversation:
        after = press_button(now, FormButton("d" * 22, now.step, word), X_TRANSLATIONS)
        assert after is not None
        return after

    yield correct(conversation, {}, X_TRANSLATIONS)
    yield pressed(conversation, "cancel")
    while (field := conversation.field) is not None:
        yield conversation
        if conversation.is_typed:
            yield type_answer(conversation, "", "1", X_TRANSLATIONS)
            raw = INPUTS.get(field.name, "α")
            after = type_answer(conversation, str(raw), "2", X_TRANSLATIONS)
        else:
            after = pressed(conversation, "pick")
            yield after
            after = pressed(after, "done") if field.kind == "options" else after
        if after.field is field:
            return
        conversation = after
    yield conversation


def test_nobody_who_presses_or_replies_is_answered_from_outside_a_table() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for room in ("core/sayso/worker", "core/sayso/platforms", "adapters")
        for path in sorted((ROOT / room).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("Answer", "Taken", "Toast", "Note", "plain_text", "own", "literal")
        and any(map(_speaks, node.args))
    ]

    assert found == []


_TRANSLATES = ("gettext", "format_count")


def _speaks(argument: ast.AST) -> bool:
    """Whether a constant in it says a word that nothing translates."""
    if isinstance(argument, ast.Constant):
        return isinstance(argument.value, str) and bool(english(argument.value))
    if isinstance(argument, ast.Call) and ast.unparse(argument.func).endswith(_TRANSLATES):
        return False
    return any(map(_speaks, ast.iter_child_nodes(argument)))


def test_a_word_of_english_would_be_seen() -> None:
    assert left(iter(["Denied", "ж slack:U0 ж", "Digest 0123456789ab"])) == ["Denied", "Digest"]
    found = ast.parse('Answer(kind, f"Too late: {how}")').body[0]
    assert isinstance(found, ast.Expr)
    assert isinstance(found.value, ast.Call)
    assert any(map(_speaks, found.value.args))
