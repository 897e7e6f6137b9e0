"""Callbacks that come twice are known, as long as anybody could send them again."""

from __future__ import annotations

import pytest
from support.clock import Clock

from sayso.chats.incoming import Replays
from sayso.errors import ReplayedCallbackError


def test_the_very_same_callback_is_refused_while_its_signature_holds() -> None:
    clock, replays = Clock(), Replays(seconds=60)
    replays.refuse("one", clock())
    clock.pass_by(60)
    with pytest.raises(ReplayedCallbackError, match="the very same one"):
        replays.refuse("one", clock())

    clock.pass_by(1)
    replays.refuse("one", clock())


def test_only_so_many_callbacks_are_remembered() -> None:
    clock, replays = Clock(), Replays(seconds=60)
    for number in range(65_537):
        replays.refuse(str(number), clock())

    replays.refuse("0", clock())
    with pytest.raises(ReplayedCallbackError):
        replays.refuse("65536", clock())
