"""How many tries are under way at once."""

from __future__ import annotations

import pytest

from sayso_bots.aap.webhooks.room import CrowdedError, Room


def test_a_host_has_so_many_places_and_gets_them_back() -> None:
    room = Room(10, 2)

    with room.taken("a"), room.taken("a"), room.taken("b"):
        with pytest.raises(CrowdedError), room.taken("a"):
            pass
        with room.taken("b"):
            pass
    with room.taken("a"), room.taken("a"):
        pass


def test_all_hosts_together_have_so_many_places() -> None:
    room = Room(2, 2)

    with room.taken("a"), room.taken("b"), pytest.raises(CrowdedError), room.taken("c"):
        pass
    with pytest.raises(ZeroDivisionError), room.taken("a"):
        raise ZeroDivisionError
    with room.taken("a"), room.taken("a"):
        pass
