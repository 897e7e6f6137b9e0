"""What happens to a question before its answer: values first, words and JSON made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta

from pydantic.alias_generators import to_camel

from sayso.durations import duration_text
from sayso.events import UserInputRequest
from sayso.stores.notices import PressKind
from sayso.text.visible import on_one_line
from sayso_bots.cli.store import START_BOTS

Naming = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Asked:
    """The question is in the store."""

    request_id: str
    seconds_left: float


@dataclass(frozen=True, slots=True)
class Bots:
    """Whether bots run that show the question."""

    running: bool


@dataclass(frozen=True, slots=True)
class Routed:
    """Where the card will stand, and who may answer."""

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
    """Who may answer, as the route says."""
    return ", ".join(map(_plain, approvers)) or "NOBODY"


def label_of(request: UserInputRequest, choice: str) -> str:
    """What stands on the button of a choice."""
    # Only once somebody has pressed.
    from sayso.cards.bundle import ALLOW_ALL, DENY_ALL
    from sayso.cards.card import BACK, DETAILS, MORE, SHORTER, SHOW_ALL, WHOLE

    body = request.card()
    everywhere = (SHOW_ALL, MORE, BACK, DETAILS, WHOLE, SHORTER, ALLOW_ALL, DENY_ALL)
    labels = {one.key: one.label for one in (*body.choices, *body.more, *everywhere)}
    return labels.get(choice, choice)


def _plain(text: str) -> str:
    return on_one_line(text)
