"""What all that decides on presses works with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sayso.chats.adapter import Adapter
from sayso.clock import Clock
from sayso.desk.approvers import Approvers
from sayso.desk.calm import Calm
from sayso.desk.card_maker import CardMaker
from sayso.desk.delivery import Delivery
from sayso.desk.notices import Notices
from sayso.desk.refused import RefusedPresses
from sayso.desk.speech import Speech
from sayso.questions.refusals import Refusals
from sayso.stores.backend import Backend
from sayso.tasks import Background


@dataclass(frozen=True, slots=True)
class DeskParts:
    """The parts of one desk, put together once."""

    backend: Backend
    adapters: Mapping[str, Adapter]
    approvers: Approvers
    delivery: Delivery
    calm: Calm
    maker: CardMaker
    notices: Notices
    refused: RefusedPresses
    refusals: Refusals
    clock: Clock
    background: Background
    speech: Speech
