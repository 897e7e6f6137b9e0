"""A person at either platform: reads the card, presses buttons, fills in forms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from e2e.asked import Asked
from support.live import is_live

from sayso_playground import Delivery, Playground, SlackMessage, SlackView, TelegramMessage

Answer = str | Sequence[str] | None
"""Words that are written or picked, several that are picked, or none: it is left out."""

# A card is unfolded and folded again: by somebody who pressed before it was brought up to date.
_FOLDS = ("More…", "Back")
_MOST_FOLDS = 4


class Hands(Protocol):
    """What a person does at a platform."""

    platform: str

    def actor(self, who: str = "alice") -> str:
        """The account of a person there."""
        ...

    async def card(self) -> str:
        """What the open card says, as soon as there is one."""
        ...

    async def offers(self, label: str) -> bool:
        """Whether the card has this button now."""
        ...

    async def press(self, label: str, by: str = "alice") -> None:
        """Press a button of the card, wherever it is."""
        ...

    async def fill_in(self, label: str, answers: Mapping[str, Answer], send: str = "") -> None:
        """Press a button that opens a form, answer its fields, and send it off.

        ``send`` is the button for it where all answers are shown once more.
        """
        ...

    async def see_everything(self) -> str:
        """Press *Show all* and read."""
        ...

    async def ended(self, words: str) -> str:
        """What the card says once it has ended with these words; nothing of it is open any more."""
        ...


class SlackHands:
    """A person in Slack, who looks at ``new`` messages alone where others asked there before."""

    platform = "slack"

    def __init__(self, playground: Playground, *, new: bool = False) -> None:
        self._playground = playground
        self.slack = playground.slack
        self._old = {_place(message) for message in self.slack.messages()} if new else set()

    def actor(self, who: str = "alice") -> str:
        return f"slack:{self._playground.config.member(who).slack_id}"

    async def message(self) -> SlackMessage:
        """The open card."""
        return await self._message_where(lambda message: is_live(message.buttons))

    async def _message_where(self, wanted: Callable[[SlackMessage], bool]) -> SlackMessage:
        return await self.slack.message_where(
            lambda message: _place(message) not in self._old and wanted(message)
        )

    async def card(self) -> str:
        return (await self.message()).all_text

    async def offers(self, label: str) -> bool:
        return label in (await self.message()).buttons

    async def press(self, label: str, by: str = "alice") -> None:
        card = await self._message_where(partial(_offers_any, {label, *_FOLDS}))
        for _ in range(_MOST_FOLDS):
            if label in card.buttons:
                break
            fold = _fold_of(card)
            await self.slack.press(card, fold, by="alice")
            card = await self._message_where(partial(_offers_any, {label, *_FOLDS} - {fold}))
        delivery = await self.slack.press(card, label, by=by)
        assert delivery.error is None

    async def confirm(self, label: str) -> None:
        """Press a button of a second step."""
        card = await self._message_where(lambda message: label in message.buttons)
        delivery = await self.slack.press(card, label, by="alice")
        assert delivery.error is None

    async def opened(self, label: str, by: str = "alice") -> SlackView:
        """The form behind a button."""
        await self.press(label, by)
        return await self.slack.view_for(by)

    async def fill_in(self, label: str, answers: Mapping[str, Answer], send: str = "") -> None:
        view = await self.opened(label)
        given = {field: answer or "" for field, answer in answers.items()}
        delivery = await self.slack.submit(view, _placed(view, given), by="alice")
        assert (delivery.error, delivery.status) == (None, 200)

    async def sent(
        self, view: SlackView, values: Mapping[str, Any], by: str = "alice", **how: Any
    ) -> Delivery:
        """Send a form off, also one that Slack's own client would hold back."""
        return await self.slack.submit(view, values, by=by, checked=False, **how)

    def shown(self, by: str = "alice") -> SlackView:
        """The dialog that somebody has open."""
        view = self.slack.view(by)
        assert view is not None
        return view

    async def see_everything(self) -> str:
        await self.press("Show all")
        view = await self.slack.view_for("alice")
        text = _text_of(view)
        await self.slack.close_view(view, by="alice")
        return text

    async def ended(self, words: str) -> str:
        card = await self._message_where(
            lambda message: not is_live(message.buttons) and words in message.all_text
        )
        assert self.slack.view("alice") is None
        return card.all_text


class TelegramHands:
    """A person in a Telegram group."""

    platform = "telegram"

    def __init__(self, playground: Playground) -> None:
        self._playground = playground
        self.telegram = playground.telegram

    def actor(self, who: str = "alice") -> str:
        return f"telegram:{self._playground.config.member(who).telegram_id}"

    async def message(self) -> TelegramMessage:
        """The open card."""
        return await self.telegram.message_where(lambda message: _is_open_card(message))

    async def card(self) -> str:
        return (await self.message()).text

    async def offers(self, label: str) -> bool:
        return label in (await self.message()).buttons

    async def press(self, label: str, by: str = "alice") -> None:
        delivery = await self.pressed(label, by)
        assert delivery.error is None

    async def _open_card_offering(self, labels: set[str]) -> TelegramMessage:
        return await self.telegram.message_where(
            lambda message: _is_open_card(message) and _offers_any(labels, message)
        )

    async def pressed(self, label: str, by: str = "alice") -> Delivery:
        """Press a button of the card; what came of it."""
        card = await self._open_card_offering({label, *_FOLDS})
        for _ in range(_MOST_FOLDS):
            if label in card.buttons:
                break
            fold = _fold_of(card)
            await self.telegram.press(card, fold, by=by)
            card = await self._open_card_offering({label, *_FOLDS} - {fold})
        return await self.telegram.press(card, label, by=by)

    async def fill_in(self, label: str, answers: Mapping[str, Answer], send: str = "") -> None:
        await self.press(label)
        for name, answer in answers.items():
            await self.answer(name, answer)
        if send:
            await self.press_form("Is all of this right?", send)

    async def answer(self, name: str, answer: Answer) -> None:
        """Answer the question of this name: with a button where there is one, else in words."""
        board = await self.asked(name)
        if answer is None:
            await self.press_form(name, "Skip")
        elif not isinstance(answer, str):
            for option in answer:
                await self.press_form(name, option)
            await self.press_form(name, f"Done ({len(answer)})")
        elif answer in board.buttons:
            await self.press_form(name, answer)
        else:
            await self.write(name, answer)

    async def asked(self, words: str) -> TelegramMessage:
        """The form, as soon as it asks this."""
        return await self.telegram.message_where(
            lambda m: m.text.startswith("📝") and f"❓ {words}" in m.text and bool(m.buttons)
        )

    async def press_form(self, words: str, button: str, by: str = "alice") -> Delivery:
        """Press a button of the form that shows these words."""
        board = await self.telegram.message_where(
            lambda m: m.text.startswith("📝") and words in m.text and button in m.buttons
        )
        return await self.telegram.press(board, button, by=by)

    async def prompt(self, name: str) -> TelegramMessage:
        """The message that is replied to with this answer."""
        return await self.telegram.message_where(lambda m: m.forces_reply and name in m.text)

    async def write(self, name: str, text: str, by: str = "alice") -> TelegramMessage:
        """Reply to the message that asks for this."""
        return self.telegram.reply(await self.prompt(name), text, by=by)

    async def told(self, reply: TelegramMessage) -> str:
        """What the bot says in reply to a message."""
        return (await self.telegram.message_where(lambda m: m.reply_to == reply.id)).text

    async def see_everything(self) -> str:
        before = [*(await self.message()).buttons]
        await self.press("Show all")
        file = await self.telegram.message_where(lambda message: message.document is not None)
        assert file.document is not None
        # What the card offers then comes a moment later.
        await self.telegram.message_where(
            lambda message: _is_open_card(message) and [*message.buttons] != before
        )
        return file.document.content.decode()

    async def ended(self, words: str) -> str:
        card = await self.telegram.message_where(
            lambda m: not is_live(m.buttons) and not m.text.startswith("📝") and words in m.text
        )
        await self.telegram.until(
            lambda: not any(is_live(m.buttons) or m.forces_reply for m in self.telegram.messages())
        )
        return card.text


async def both_cards(scene: Asked, words: str) -> tuple[str, str]:
    """What the cards of both platforms say once they have ended so."""
    in_slack = await SlackHands(scene.playground).ended(words)
    return in_slack, await TelegramHands(scene.playground).ended(words)


async def both_with_details(scene: Asked, words: str) -> tuple[str, str]:
    """What is behind *Details* of both: Slack shows it to whoever presses, Telegram on the card."""
    await both_cards(scene, words)
    slack, telegram = scene.playground.slack, scene.playground.telegram
    card = await slack.message_where(lambda m: words in m.all_text and "Details" in m.buttons)
    assert (await slack.press(card, "Details", by="bob")).error is None
    view = await slack.view_for("bob")
    short = await telegram.message_where(lambda m: words in m.text and "Details" in m.buttons)
    assert (await telegram.press(short, "Details", by="bob")).error is None
    opened = await telegram.message_where(lambda m: words in m.text and "Back" in m.buttons)
    return _text_of(view), opened.text


def hands_at(platform: str, playground: Playground) -> Hands:
    """A person at the platform of this name."""
    return SlackHands(playground) if platform == "slack" else TelegramHands(playground)


def _text_of(view: SlackView) -> str:
    return "".join(
        part["text"]
        for block in view.view["blocks"]
        if block["type"] == "rich_text"
        for one in block["elements"]
        for part in one["elements"]
    )


def _place(message: SlackMessage) -> tuple[str, str]:
    return message.channel, message.ts


def _placed(view: SlackView, given: Mapping[str, Any]) -> dict[str, Any]:
    """Ready-made answers go into the input beside the one that they are for."""
    placed: dict[str, Any] = {}
    for label, value in given.items():
        ready_made = f"{label}: ready-made answers"
        offered = [
            option["text"]["text"]
            for block in view.view["blocks"]
            if block["type"] == "input" and block["label"]["text"] == ready_made
            for option in block["element"]["options"]
        ]
        placed[ready_made if value in offered else label] = value
    return placed


def _offers_any(labels: set[str], message: SlackMessage | TelegramMessage) -> bool:
    return not labels.isdisjoint(message.buttons)


def _fold_of(card: SlackMessage | TelegramMessage) -> str:
    return next(fold for fold in _FOLDS if fold in card.buttons)


def _is_open_card(message: TelegramMessage) -> bool:
    is_form = message.text.startswith("📝") or message.forces_reply
    return is_live(message.buttons) and not is_form
