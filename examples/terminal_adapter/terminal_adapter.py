"""Cards on a terminal: a press is a line of input, such as ``2a``.

Named in the settings, ``platforms = ["terminal_adapter"]``, it makes ``sayso serve`` ask whoever
sits at the terminal it runs in. The operating system has already checked who that is.
"""

from __future__ import annotations

import asyncio
import getpass
import os
import sys
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace

from sayso.cards import BACK, MORE, Bundle, Card, CardBody, Choice, Ended, Room, plain_lines
from sayso.chats import Adapter, Answered, Limits, MessageRef, Place, Press, PressTaker
from sayso.errors import CallbackError, DeliveryError, StoreUnreachableError
from sayso.forms import FormField, Raw
from sayso.platforms import Bot, Listening, Platform, PlatformSettings, Section
from sayso.stores.protocols import KeyValueStore
from sayso.text.visible import visible

NAME = "terminal"
SCREEN = "screen"
_CONTENT = 4_000
_LETTERS = "abcdefghijklmnopqrstuvwxyz"

Write = Callable[[str], None]


class TerminalSection(Section):
    """[terminal]. Without a user, it is whoever started the bots."""

    user: str = ""


@dataclass(frozen=True, slots=True)
class Button:
    """What a key stands for."""

    handle: str
    choice: Choice
    confirmed: bool = False

    @property
    def label(self) -> str:
        """The words beside the key."""
        return f"Yes, {self.choice.label}" if self.confirmed else self.choice.label


@dataclass(slots=True)
class Filling:
    """A form that is being filled in, a line for each field."""

    press: Press
    choice: Choice
    fields: list[FormField]
    inputs: dict[str, Raw] = field(default_factory=dict)


class TerminalAdapter:
    """Shows cards by writing them; while a form is open, without the keys of their buttons."""

    platform = NAME
    limits = Limits(content=_CONTENT, reveal=200_000)

    def __init__(self, user: str, write: Write) -> None:
        self.actor = f"{NAME}:{user}"
        self.filling: Filling | None = None
        self._write = write
        self._texts: dict[str, str] = {}
        self._buttons: dict[str, tuple[MessageRef, Button]] = {}
        self._given: dict[str, dict[tuple[str, str, str], str]] = {}
        self._covered: set[str] = set()

    def room(self, body: CardBody, count: int) -> Room | None:  # noqa: ARG002  as for one
        """A terminal scrolls: every card shows as much as it would alone."""
        return Room(_CONTENT)

    async def show(self, cards: Sequence[Card], place: Place) -> MessageRef:
        """Write the cards under a new number.

        Raises:
            DeliveryError: there is only one screen.
        """
        if place != Place(NAME, SCREEN):
            raise DeliveryError(NAME, f"the only place is {NAME}:{SCREEN}", permanent=True)
        ref = MessageRef(place, str(len(self._texts) + 1))
        self._draw(ref, cards)
        return ref

    async def update(self, ref: MessageRef, cards: Sequence[Card]) -> None:
        """Write the cards again where something changed; their old keys are gone."""
        self._draw(ref, cards)

    async def reveal(self, press: Press, card: Card) -> None:  # noqa: ARG002  one screen for all
        """Write everything there is."""
        self._say(f"--- all of {card.which} ---\n{visible(card.everything)}\n---")

    async def ask(self, press: Press, card: Card, choice: Choice) -> None:  # noqa: ARG002
        """Ask for the first field; the next lines are the answers.

        Raises:
            DeliveryError: another form is being filled in.
        """
        if choice.form is None:
            raise DeliveryError(NAME, f"{choice.label!r} has no form", permanent=True)
        if self.filling is not None:
            raise DeliveryError(NAME, "another form is being filled in: finish it first")
        self._write(f"{choice.form.title} (an empty line skips, a full stop leaves the form)")
        self.filling = Filling(press, choice, list(choice.form.fields))
        self.prompt(self.filling)

    async def members(self, group: str) -> Collection[str]:
        """Always a DeliveryError: there are no groups."""
        raise DeliveryError(NAME, f"there is no group @{group} on a terminal", permanent=True)

    async def counts_in_groups(self, actor: str) -> bool:  # noqa: ARG002
        """Nobody does."""
        return False

    def tell(self, text: str) -> None:
        """Tell the person at the terminal, who is the only one to read it."""
        self._say(f"> {visible(text)}")

    def prompt(self, filling: Filling) -> None:
        """Write what the next line answers."""
        asked = filling.fields[0]
        self._write(f"{visible(asked.label)}{'' if asked.required else ' (optional)'}:")
        if asked.hint:
            self._write(f"  {visible(asked.hint)}")
        for number, option in enumerate(asked.options, 1):
            self._write(f"  {number}  {visible(option.label)}")

    def pressed(self, key: str) -> Press | None:
        """The press that a key stands for, None when it stands for nothing now."""
        if (found := self._buttons.get(key.lower())) is None:
            return None
        ref, button = found
        return Press(button.handle, button.choice.key, self.actor, ref, confirmed=button.confirmed)

    def uncover(self) -> None:
        """The form is closed: write the cards that were shown without their keys."""
        for number in sorted(self._covered, key=int):
            self._write(self._texts[number])
        self._covered.clear()

    def _say(self, text: str) -> None:
        """Write this above the question of an open form."""
        self._write(text)
        if self.filling is not None:
            self.prompt(self.filling)

    def _draw(self, ref: MessageRef, cards: Sequence[Card]) -> None:
        number = ref.message_id
        buttons = {self._key(number, button): button for button in _buttons(cards)}
        lines = [f"=== {number} ===", *_lines(cards)]
        offered = [f"  [{key}] {visible(button.label)}" for key, button in buttons.items()]
        text = "\n".join([*lines, *offered])
        if text == self._texts.get(number):
            return
        self._texts[number] = text
        others = {key: pair for key, pair in self._buttons.items() if pair[0] != ref}
        self._buttons = others | {key: (ref, button) for key, button in buttons.items()}
        if self.filling is None:
            self._covered.discard(number)
            self._write(text)
        else:
            self._covered.add(number)
            self._say("\n".join(lines))

    def _key(self, number: str, button: Button) -> str:
        """What a key has stood for, it always stands for."""
        given = self._given.setdefault(number, {})
        meaning = (button.handle, button.choice.key, button.label)
        return given.setdefault(meaning, number + _letters(len(given)))


def _letters(position: int) -> str:
    """a, b, …, z, aa, ab, …"""
    before, last = divmod(position, len(_LETTERS))
    return (_letters(before - 1) if before else "") + _LETTERS[last]


def _lines(cards: Sequence[Card]) -> Iterator[str]:
    if len(cards) > 1:
        bundle = Bundle(tuple(cards))
        yield from filter(None, (bundle.title, bundle.notice))
    for card in cards:
        yield from (visible(line) for line in plain_lines(card, label=lambda choice: choice.label))
        if isinstance(card.state, Ended):
            continue
        if card.state.notice:
            yield visible(card.state.notice)
        if card.state.confirming is not None:
            choice = card.state.confirming
            yield f"This would be remembered: {visible(choice.stores)}."
            if choice.warning:
                yield visible(choice.warning)


def _buttons(cards: Sequence[Card]) -> Iterator[Button]:
    """The buttons of every card, and then those for all that wait."""
    for card in cards:
        yield from (Button(card.handle, choice) for choice in _choices(card))
        if not isinstance(card.state, Ended) and card.state.confirming is not None:
            yield Button(card.handle, card.state.confirming, confirmed=True)
            yield Button(card.handle, BACK)
    bundle = Bundle(tuple(cards))
    yield from (Button(bundle.handle, choice) for choice in bundle.choices)


def _choices(card: Card) -> Sequence[Choice]:
    if isinstance(card.state, Ended) or card.state.confirming is not None:
        return card.choices if isinstance(card.state, Ended) else ()
    if card.state.more:
        return (*card.more, BACK)
    return (*card.choices, MORE) if card.more else card.choices


class TerminalListener:
    """Makes presses of lines, and hands them to the desk."""

    def __init__(self, adapter: TerminalAdapter, desk: PressTaker) -> None:
        self._adapter = adapter
        self._desk = desk

    async def take(self, line: str) -> None:
        """One line that was typed: a key, or the answer to the field that was asked for last."""
        if (filling := self._adapter.filling) is not None:
            await self._fill(filling, line)
            return
        if not (key := line.strip()):
            return
        if (press := self._adapter.pressed(key)) is not None:
            await self._hand_in(press)
        else:
            self._adapter.tell(f"there is no key {key} now")

    async def _fill(self, filling: Filling, line: str) -> None:
        if line.strip() == ".":
            self._adapter.filling = None
            if filling.choice.falls_back:
                await self._hand_in(replace(filling.press, choice=filling.choice.falls_back))
            self._adapter.uncover()
            return
        asked = filling.fields.pop(0)
        filling.inputs[asked.name] = _raw(asked, line)
        form = filling.choice.form
        if filling.fields:
            self._adapter.prompt(filling)
            return
        self._adapter.filling = None
        problems = await self._hand_in(replace(filling.press, inputs=filling.inputs))
        if problems and form is not None:
            filling.fields = [asked for asked in form.fields if asked.name in problems]
            self._adapter.filling = filling
            self._adapter.prompt(filling)
        else:
            self._adapter.uncover()

    async def _hand_in(self, press: Press) -> Collection[str]:
        """Give the press to the desk and say what became of it; the fields to ask for again."""
        try:
            answer = await self._desk.press(press)
        except (CallbackError, StoreUnreachableError) as error:
            self._adapter.tell(f"nothing was stored, press again: {error}")
            return ()
        if answer.text:
            self._adapter.tell(answer.text)
        for problem in answer.problems.values():
            self._adapter.tell(problem)
        return answer.problems if answer.kind is Answered.INVALID else ()


def _raw(asked: FormField, line: str) -> Raw:
    """What was typed, as a form reads it; options are numbered from 1 for people."""
    text = line.strip()
    if asked.kind == "boolean":
        return {"y": "true", "yes": "true", "n": "false", "no": "false"}.get(text.lower(), text)
    if asked.kind == "option":
        return _position(text)
    if asked.kind == "options":
        return [_position(part) for part in text.replace(",", " ").split()]
    return text.replace(",", "\n") if asked.kind == "list" else text


def _position(text: str) -> str:
    return str(int(text) - 1) if text.isdecimal() else text


class TerminalBot(Bot):
    """The terminal that the bots run in."""

    def __init__(self, adapter: TerminalAdapter) -> None:
        self._adapter = adapter

    @property
    def adapter(self) -> Adapter:
        """Shows the cards."""
        return self._adapter

    async def introduce(self) -> str:
        """The person at the terminal, and how to press."""
        return f"{self._adapter.actor}, presses are lines of input, such as 1a"

    async def can_post(self, place: Place) -> str | None:  # noqa: ARG002
        """There is one place, and it is here."""
        return None

    async def can_approve(self, account: str, places: Collection[Place]) -> str | None:  # noqa: ARG002
        """Only one person is at a terminal."""
        here = self._adapter.actor
        return None if account == here else f"the person at this terminal is {here}"

    @asynccontextmanager
    async def listening(
        self,
        desk: PressTaker,
        key_value: KeyValueStore,  # noqa: ARG002  there is one terminal a process
        *,
        owner: str,  # noqa: ARG002
    ) -> AsyncIterator[Listening]:
        """Lines are read until the bots stop."""
        listener = TerminalListener(self._adapter, desk)

        async def fetch() -> None:
            async for line in typed_lines(sys.stdin.fileno()):
                await listener.take(line)

        yield Listening(fetch=fetch)


async def typed_lines(file: int) -> AsyncIterator[str]:
    """The lines of a terminal or a pipe. It never ends: cards are shown to the end, too."""
    loop = asyncio.get_running_loop()
    chunks: asyncio.Queue[bytes] = asyncio.Queue()

    def read() -> None:
        chunk = os.read(file, 65_536)
        chunks.put_nowait(chunk)
        if not chunk:
            loop.remove_reader(file)

    with suppress(PermissionError):  # a file or /dev/null, which nobody types into
        loop.add_reader(file, read)
    typed = b""
    try:
        while True:
            *lines, typed = (typed + await chunks.get()).split(b"\n")
            for line in lines:
                yield line.decode(errors="replace").rstrip("\r")
    finally:
        loop.remove_reader(file)


class TerminalPlatform(Platform[TerminalSection]):
    """The terminal, as the settings and the bots know it."""

    name = NAME
    title = "Terminal"
    section = TerminalSection
    place_example = f"{NAME}:{SCREEN}"
    account_example = f"{NAME}:alice"

    def check_place(self, place: Place) -> None:
        """There is one place.

        Raises:
            ValueError: it is another one.
        """
        if place != Place(NAME, SCREEN):
            raise ValueError(f"is not on a terminal; write {NAME}:{SCREEN}")

    def account(self, written: object) -> str:
        """The name that a person logs in with.

        Raises:
            ValueError: it is not a name.
        """
        if not isinstance(written, str) or not written.isprintable() or " " in written:
            raise ValueError("is not a login name, such as alice")
        return written

    @asynccontextmanager
    async def open(
        self,
        settings: PlatformSettings[TerminalSection],
        key_value: KeyValueStore,  # noqa: ARG002  forms are filled in here and now
    ) -> AsyncIterator[Bot]:
        """The terminal."""
        user = settings.section.user or getpass.getuser()
        yield TerminalBot(TerminalAdapter(user, lambda text: print(text, flush=True)))


PLATFORM = TerminalPlatform()
