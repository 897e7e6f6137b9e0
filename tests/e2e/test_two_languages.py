"""One server, two languages: each card in that of its route, in both chats, to its end."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest
from e2e.asked import Asked, asked
from e2e.hands import SlackHands, TelegramHands

from sayso import CheckResult, Gate, RunRef, ToolCall
from sayso_playground import SlackMessage, TelegramMessage

TO = 'to = ["slack:C0OPS", "telegram:-1001234567890"]\napprovers = ["alice", "bob"]\n'
ROUTES = f"""
[[route]]
agent = "buchhaltung"
{TO}language = "de"

[[route]]
tool = "for_both"
{TO}language = {{ "telegram:-1001234567890" = "de" }}

[[route]]
{TO}"""
GERMAN = RunRef("buchhaltung", "s-2")


@pytest.fixture
async def scene() -> AsyncIterator[Asked]:
    async with asked("memory://", routes=ROUTES) as opened:
        yield opened


@pytest.fixture
async def german(scene: Asked) -> AsyncIterator[Gate]:
    """An agent whose route is German."""
    async with Gate.open(scene.backend, run=GERMAN, timeout=30) as gate:
        yield gate


async def in_slack(scene: Asked, *words: str) -> SlackMessage:
    return await scene.playground.slack.message_where(
        lambda m: all(word in m.all_text or word in m.buttons for word in words)
    )


async def in_telegram(scene: Asked, *words: str) -> TelegramMessage:
    return await scene.playground.telegram.message_where(
        lambda m: all(word in m.text or word in m.buttons for word in words)
    )


@pytest.mark.parametrize("pressed_in", ["slack", "telegram"])
async def test_each_route_speaks_its_language_in_both_chats(
    scene: Asked, german: Gate, pressed_in: str
) -> None:
    zahlung = scene.ask(german.check(ToolCall("zahlung", {"betrag": 5})))
    deploy = scene.ask(scene.gate.check(ToolCall("deploy", {"release": 42})))
    slack = await in_slack(scene, "zahlung", "Darf das laufen?", "Offen bis", "Ablehnen")
    telegram = await in_telegram(scene, "zahlung", "Darf das laufen?", "Offen bis", "Erlauben")
    await in_slack(scene, "deploy", "May this run?", "Expires", "Allow")
    await in_telegram(scene, "deploy", "May this run?", "Expires", "Allow")

    if pressed_in == "slack":
        await scene.playground.slack.press(slack, "Erlauben", by="alice")
    else:
        delivery = await scene.playground.telegram.press(telegram, "Erlauben", by="alice")
        assert delivery.toast == "Genehmigt."
    verdict: CheckResult = await zahlung

    assert verdict.approved
    await in_slack(scene, "zahlung", "Genehmigt von alice", "Beendet")
    await in_telegram(scene, "zahlung", "Genehmigt von alice")
    await in_slack(scene, "deploy", "May this run?", "Allow")
    assert not deploy.done()


async def test_one_process_speaks_two_languages_in_turn(scene: Asked, german: Gate) -> None:
    telegram = scene.playground.telegram
    for number in range(3):
        zahlung = scene.ask(german.check(ToolCall(f"zahlung_{number}", {"x": 1})))
        deploy = scene.ask(scene.gate.check(ToolCall(f"deploy_{number}", {"x": 1})))
        await in_slack(scene, f"deploy_{number}", "May this run?", "Deny")
        card = await in_telegram(scene, f"zahlung_{number}", "Darf das laufen?", "Ablehnen")
        first = await telegram.press(card, "Ablehnen", by="bob")
        card = await in_telegram(scene, f"deploy_{number}", "May this run?", "Deny")
        second = await telegram.press(card, "Deny", by="bob")

        assert (first.toast, second.toast) == ("Abgelehnt.", "Denied.")
        assert not (await zahlung).approved
        assert not (await deploy).approved


async def test_a_question_in_two_chats_speaks_two_languages(scene: Asked) -> None:
    waiting = scene.ask(scene.gate.check(ToolCall("for_both", {"x": 1})))
    await in_slack(scene, "for_both", "May this run?", "Deny")
    card = await in_telegram(scene, "for_both", "Darf das laufen?", "Ablehnen")

    await scene.playground.telegram.press(card, "Ablehnen", by="bob")

    assert not (await waiting).approved
    await in_slack(scene, "for_both", "Denied by bob", "Ended")
    await in_telegram(scene, "for_both", "Abgelehnt von bob")


async def test_whoever_may_not_decide_is_told_so_in_the_language_of_the_card(
    scene: Asked, german: Gate
) -> None:
    scene.ask(german.check(ToolCall("zahlung", {"betrag": 5})))
    slack, telegram = scene.playground.slack, scene.playground.telegram

    await slack.press(await in_slack(scene, "Erlauben"), "Erlauben", by="mallory")
    told = await telegram.press(await in_telegram(scene, "Erlauben"), "Erlauben", by="mallory")

    whispered = await slack.ephemeral_where("mallory", lambda message: True)
    assert whispered.all_text == told.toast
    assert told.toast == "Das dürfen Sie nicht entscheiden. Es bleibt offen."


async def test_a_dialog_of_slack_is_in_the_language_of_the_card(scene: Asked, german: Gate) -> None:
    waiting = scene.ask(german.clarify("Wohin?"))
    slack = SlackHands(scene.playground)
    await scene.playground.slack.press(await in_slack(scene, "Wohin?"), "Antworten…", by="alice")
    view = await scene.playground.slack.view_for("alice")
    assert view.view["title"]["text"] == "Ihre Antwort"
    assert view.view["submit"]["text"] == "Senden"

    wrong = await slack.sent(view, {"Ihre Antwort": "   "})
    assert "Hier wird eine Antwort gebraucht" in wrong.body
    await slack.sent(view, {"Ihre Antwort": "Nach Köln"})

    assert (await waiting).answer == "Nach Köln"
    await in_slack(scene, "Beantwortet von alice", "Nach Köln")


async def test_a_dialog_that_is_too_late_says_so_in_the_language_of_the_card(
    scene: Asked, german: Gate
) -> None:
    waiting = scene.ask(german.clarify("Wohin?"))
    hands, slack = SlackHands(scene.playground), scene.playground.slack
    card = await in_slack(scene, "Wohin?")
    await slack.press(card, "Antworten…", by="alice")
    view = await slack.view_for("alice")
    await slack.press(card, "Nicht antworten", by="bob")
    await waiting

    late = await hands.sent(view, {"Ihre Antwort": "Nach Köln"})

    shown = json.loads(late.body)["view"]
    assert (shown["title"]["text"], shown["close"]["text"]) == ("Zu spät", "Schließen")
    assert "Ihre Eingaben" in str(shown)
    assert "Zu spät: schon abgelehnt von bob" in str(shown)


async def test_a_dialogue_of_telegram_is_in_the_language_of_the_card_to_its_end(
    scene: Asked, german: Gate
) -> None:
    schema = {
        "type": "object",
        "properties": {"Menge": {"type": "integer", "minimum": 2}, "Eilt": {"type": "boolean"}},
        "required": ["Menge", "Eilt"],
    }
    waiting = scene.ask(german.collect(schema, text="Die Bestellung"))
    telegram = TelegramHands(scene.playground)
    played = scene.playground.telegram
    await played.press(await in_telegram(scene, "Die Bestellung"), "Ausfüllen…", by="alice")
    board = await telegram.asked("Menge")
    assert "Für Alice · 1 von 2" in board.text
    assert "eine ganze Zahl, etwa 3" in board.text

    await telegram.write("bitte auf diese Nachricht antworten: Menge", "eins")
    await telegram.prompt("Erwartet wird: eine ganze Zahl, etwa 3")
    await telegram.write("Erwartet wird: eine ganze Zahl", "1")
    await telegram.write("Erwartet wird: mindestens 2", "3")
    await telegram.press_form("Eilt", "Ja")
    stranger = await telegram.press_form("Stimmt das alles?", "Senden", by="bob")
    assert stranger.toast == "Dieses Formular gilt Alice: auf der Karte Ausfüllen… drücken."
    await telegram.press_form("Stimmt das alles?", "Senden")

    assert (await waiting).data == {"Menge": 3, "Eilt": True}
    await in_telegram(scene, "Beantwortet von alice", "ja")


async def test_a_reason_is_asked_for_and_told_of_in_the_language_of_each_card(
    scene: Asked, german: Gate
) -> None:
    waiting = scene.ask(german.check(ToolCall("zahlung", {"betrag": 5})))
    slack = scene.playground.slack
    await slack.press(await in_slack(scene, "Erlauben"), "Mehr…", by="alice")
    card = await in_slack(scene, "Mit Grund ablehnen…")
    await slack.press(card, "Mit Grund ablehnen…", by="alice")
    view = await slack.view_for("alice")

    await in_telegram(scene, "lehnt das ab; der Grund wird gerade geschrieben.")
    await slack.submit(view, {"Grund": "zu teuer"}, by="alice")

    assert (await waiting).reason == "zu teuer"
    await in_telegram(scene, "Abgelehnt von alice", "Grund", "zu teuer")


async def test_always_is_stored_listed_and_revoked_in_german() -> None:
    async with asked("memory://", routes=f'language = "de"\n[[route]]\n{TO}') as scene:
        waiting = scene.ask(scene.gate.check(ToolCall("deploy", {"release": 42})))
        slack, telegram = scene.playground.slack, scene.playground.telegram
        listed = await slack.command("/approvals", by="alice")
        assert "Wartet auf Sie" in listed.body
        await in_telegram(scene, "deploy")
        telegram.say(4242, "/pending", by="alice")
        await in_telegram(scene, "Wartet auf Sie", "deploy-bot · deploy 42 · offen bis")
        card = await in_slack(scene, "Immer")
        assert "Gemerkt wird: deploy mit genau diesen Argumenten" in str(card.blocks)

        await slack.press(card, "Immer", by="alice")

        assert (await waiting).approved
        await in_slack(scene, "Genehmigt von alice", "Gemerkt", "Widerrufen")
        await slack.open_home("alice")
        home = await slack.home_for("alice", lambda view: "Ihre Regeln" in str(view.view))
        assert "Letzte Entscheidungen" in str(home.view)
        await slack.press(await in_slack(scene, "Widerrufen"), "Widerrufen", by="bob")
        await in_slack(scene, "widerrufen von bob")
