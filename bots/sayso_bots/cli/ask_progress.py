"""Progress of a request that waits: the store and the worker tell it, a screen shows it."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import TextIO

from pydantic.alias_generators import to_camel

from sayso.calls import RunRef
from sayso.clock import utc_now
from sayso.durations import duration_text
from sayso.errors import SaysoError, SubscriptionLostError
from sayso.events import Event, UserInputRequest
from sayso.stores.backend import Backend
from sayso.stores.notices import PressKind, PressNotice, RoutedNotice
from sayso.stores.topics import notice_topic
from sayso.tasks import Background
from sayso.text.visible import on_one_line, shortened, visible
from sayso_bots.cli.store import START_BOTS

Naming = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Asked:
    """The question is in the store."""

    request_id: str
    seconds_left: float


@dataclass(frozen=True, slots=True)
class Bots:
    """Return True if bots run that show the question."""

    running: bool


@dataclass(frozen=True, slots=True)
class Routed:
    """Name the chats of the card, and who may answer."""

    places: tuple[str, ...]
    approvers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stands:
    """The card stands in a place."""

    place: str


@dataclass(frozen=True, slots=True)
class Pressed:
    """Somebody pressed, and the question stays open; ``choice`` is the label of the button."""

    kind: PressKind
    actor: str
    place: str
    choice: str


Progress = Asked | Bots | Routed | Stands | Pressed

_EVENTS = {Asked: "asked", Bots: "bots", Routed: "routed", Stands: "card_stands"}
_PRESSED = {
    "refused": "{who} pressed {choice} in {place} and may not answer",
    "own_request": "{who} pressed {choice} in {place}, and somebody else has to approve it",
    "shown_in_full": "{who} is looking at all of it in {place}",
    "form_opened": "{who} is filling in a form for {choice} in {place}",
}


def as_json(progress: Progress) -> Mapping[str, object]:
    """One line of ``--json`` on stderr."""
    facts = asdict(progress)
    if isinstance(progress, Asked):
        facts["seconds_left"] = max(round(progress.seconds_left), 0)
    if isinstance(progress, Pressed):
        return {"event": facts.pop("kind"), **facts}
    return {"event": _EVENTS[type(progress)], **{to_camel(name): facts[name] for name in facts}}


def in_words(progress: Progress, name: Naming) -> str:
    """One line for a person."""
    match progress:
        case Asked(request_id, seconds):
            left = duration_text(timedelta(seconds=seconds))
            return f"asked as {request_id}, open for {left}"
        case Bots(running):
            return "bots are running now" if running else f"{START_BOTS}. The question waits"
        case Routed(_, approvers):
            return f"{people(approvers)} may answer"
        case Stands(place):
            return f"the card stands in {_plain(place)}"
        case Pressed(kind, actor, place, choice):
            words = {"who": name(actor), "place": place, "choice": choice}
            return _PRESSED[kind].format(**{key: _plain(text) for key, text in words.items()})


def people(approvers: Sequence[str]) -> str:
    """Name those who may answer, as the route says."""
    return ", ".join(map(_plain, approvers)) or "NOBODY"


def label_of(request: UserInputRequest, choice: str) -> str:
    """Return the label of a choice's button."""
    # Only once somebody has pressed.
    from sayso.cards.bundle import ALLOW_ALL, DENY_ALL
    from sayso.cards.card import BACK, DETAILS, MORE, SHORTER, SHOW_ALL, WHOLE

    body = request.card()
    everywhere = (SHOW_ALL, MORE, BACK, DETAILS, WHOLE, SHORTER, ALLOW_ALL, DENY_ALL)
    labels = {one.key: one.label for one in (*body.choices, *body.more, *everywhere)}
    return labels.get(choice, choice)


def _plain(text: str) -> str:
    return on_one_line(text)


_CLEAR = "\r\x1b[K"


class Screen:
    """Shows what happens to one question on a stream, usually stderr."""

    def __init__(
        self, stream: TextIO, *, name: Naming, json_lines: bool = False, live: bool = False
    ) -> None:
        self._stream = stream
        self._name = name
        self._json = json_lines
        self._live = live and not json_lines
        self._places: list[str] = []
        self._approvers = ""
        self._line = ""

    def show(self, progress: Progress) -> None:
        """Say what happened; on a terminal, where it stands goes into the live line."""
        if isinstance(progress, Stands):
            self._places.append(progress.place)
        if isinstance(progress, Routed):
            self._approvers = people(progress.approvers)
        if self._json:
            self._print(json.dumps(as_json(progress)))
        elif not (self._live and isinstance(progress, (Routed, Stands))):
            hint = "; Ctrl-C withdraws it" if self._live and isinstance(progress, Asked) else ""
            self._print(f"sayso: {in_words(progress, self._name)}{hint}")
        if isinstance(progress, Asked):
            self.tick(progress.seconds_left)

    def tick(self, seconds_left: float) -> None:
        """Let the live line say how much time is left."""
        if not self._live:
            return
        left = duration_text(timedelta(seconds=max(round(seconds_left), 0)))
        parts = [f"{left} left"]
        if self._places:
            parts.append(f"in {', '.join(self._places)}")
        if self._approvers:
            parts.append(f"{self._approvers} may answer")
        # A line that is full would wrap at the ^C of Ctrl-C, and could not be taken back.
        width = max(shutil.get_terminal_size().columns - 3, 20)
        self._line = shortened(visible(" · ".join(parts), one_line=True), width)
        self._write(f"{_CLEAR}{self._line}")

    def close(self) -> None:
        """Leave the line to what comes next."""
        if self._line:
            self._line = ""
            self._write(_CLEAR)

    def _print(self, text: str) -> None:
        self._write(f"{_CLEAR}{text}\n{self._line}" if self._line else f"{text}\n")

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


def screen_on_stderr(
    env: Mapping[str, str], *, name: Naming, json_lines: bool, quiet: bool
) -> Screen | None:
    """The screen of a command; None where nothing is to be shown."""
    if quiet or sys.stderr is None:  # closed by whoever started us
        return None
    live = sys.stderr.isatty() and env.get("TERM") != "dumb"
    return Screen(sys.stderr, name=name, json_lines=json_lines, live=live)


_TICK_SECONDS = 1.0
# Once the card stands, there is less to see.
_CALM_TICKS = 5
_READY_SECONDS = 1.0
_AGAIN_SECONDS = 1.0
_MOST_PRESSES = 100


@asynccontextmanager
async def following(
    backend: Backend, run: RunRef, screen: Screen | None, *, ready: float = _READY_SECONDS
) -> AsyncIterator[Callable[[Event], None]]:
    """Show what happens to the next question of the run, which what it yields is told of.

    It fails alone: without the store or the screen the question waits as it would, after
    ``ready`` seconds at most.
    """
    if screen is None:
        yield lambda _event: None
        return
    follower = _Follower(backend, run, screen)
    background = Background("the progress of the question", expected=(OSError,))
    try:
        async with background.during(follower.hear()), background.during(follower.look()):
            with suppress(TimeoutError):
                async with asyncio.timeout(min(ready, _READY_SECONDS)):
                    await follower.hears.wait()
            yield follower.asked
    finally:
        with suppress(OSError):
            screen.close()


class _Follower:
    def __init__(self, backend: Backend, run: RunRef, screen: Screen) -> None:
        self.hears = asyncio.Event()
        self._backend = backend
        self._run = run
        self._screen = screen
        self._request: asyncio.Future[UserInputRequest] = asyncio.Future()
        self._deadline = 0.0
        self._running: bool | None = None
        self._told: set[Progress] = set()
        self._stands = False

    def asked(self, event: Event) -> None:
        """The gate asked, or something ended; nothing is printed here, where it must not fail."""
        if isinstance(event, UserInputRequest) and not self._request.done():
            self._request.set_result(event)

    async def hear(self) -> None:
        """Show the notices of the bots, again after every loss of the bus."""
        while True:
            with suppress(SubscriptionLostError):
                async with self._backend.bus.subscribe(notice_topic(self._run)) as notices:
                    self.hears.set()
                    async for notice in notices:
                        await self._take(notice)
            await asyncio.sleep(_AGAIN_SECONDS)

    async def look(self) -> None:
        """Look whether bots run and where the card stands, and let the time go by."""
        request = await self._request
        left = (request.expires_at - utc_now()).total_seconds()
        self._deadline = asyncio.get_running_loop().time() + left
        self._screen.show(Asked(request.question_id, left))
        ticks = 0
        while True:
            if not self._stands or ticks % _CALM_TICKS == 0:
                # Nothing hangs on what is seen: what cannot be read now is seen later.
                with suppress(SaysoError):
                    await self._see(request.question_id)
            self._screen.tick(self._deadline - asyncio.get_running_loop().time())
            await asyncio.sleep(_TICK_SECONDS)
            ticks += 1

    async def _see(self, question_id: str) -> None:
        running = await self._backend.outbox.count_workers() > 0
        if running is not self._running and (self._running is not None or not running):
            self._screen.show(Bots(running))
        self._running = running
        record = await self._backend.store.get(question_id)
        if record is None or record.ending is not None:
            return
        self._deadline = asyncio.get_running_loop().time() + record.seconds_left
        for copy in record.copies:
            if copy.message_id:
                self._stands = True
                self._once(Stands(str(copy.place)))

    async def _take(self, notice: Event) -> None:
        request = await self._request
        if isinstance(notice, RoutedNotice) and notice.question_id == request.question_id:
            self._once(Routed(notice.places, notice.approvers))
        if isinstance(notice, PressNotice) and notice.question_id == request.question_id:
            label = label_of(request, notice.choice)
            self._once(Pressed(notice.kind, notice.actor, notice.place, label))

    def _once(self, progress: Progress) -> None:
        """Say it once, however often somebody presses."""
        if progress not in self._told and len(self._told) < _MOST_PRESSES:
            self._told.add(progress)
            self._screen.show(progress)
