"""64 realistic calls: who, what exactly, where and the danger are on the first screen."""

from __future__ import annotations

import asyncio
import os

import pytest
from support.browser import NO_CHROMIUM, browser, chromium
from support.realistic_calls import (
    DESK,
    HOST,
    PHONE,
    REALISTIC,
    SCREEN,
    Look,
    agent,
    all_asked,
    looks,
    page_with_all,
)

from sayso.cards.card import MOST_DANGERS
from sayso.dangers.danger import Danger, danger_texts
from sayso.locales import ENGLISH

Looks = dict[tuple[int, str], list[Look]]

if chromium() is None and not os.environ.get("CI"):
    pytest.skip(NO_CHROMIUM, allow_module_level=True)


@pytest.fixture(scope="module")
def looked() -> Looks:
    """All cards in both chats at both widths, looked at once."""
    return asyncio.run(_look())


async def _look() -> Looks:
    found: Looks = {}
    async with all_asked() as scene, browser() as opened:
        for width in (PHONE, DESK):
            async with page_with_all(opened, scene, width) as page:
                for platform in ("slack", "telegram"):
                    found[width, platform] = await looks(page, platform)
    return found


def test_who_what_and_where_are_on_the_first_screen_above_the_buttons(looked: Looks) -> None:
    for place, cards in looked.items():
        for number, (call, card) in enumerate(zip(REALISTIC, cards, strict=True)):
            wanted = (agent(number), call.tool, HOST, *call.matters)
            unseen = [text for text in wanted if not _is_seen(card.bottoms[text], card)]
            assert not unseen, (*place, number, unseen)


def test_the_danger_is_on_the_first_screen_and_there_is_none_where_nothing_was_found(
    looked: Looks,
) -> None:
    for place, cards in looked.items():
        for number, (call, card) in enumerate(zip(REALISTIC, cards, strict=True)):
            assert bool(call.dangers) == _is_seen(card.danger, card), (*place, number)
            words = danger_texts(ENGLISH, tuple(Danger[name] for name in call.dangers))[
                :MOST_DANGERS
            ]
            said = card.says.partition("Danger: ")[2]
            assert not [word for word in words if word not in said], (*place, number)


def test_allow_is_on_the_screen_of_all_that_it_allows_and_the_rest_is_opened_first(
    looked: Looks,
) -> None:
    for place, cards in looked.items():
        for number, card in enumerate(cards):
            assert card.deny is not None, (*place, number)
            if card.allow is None:
                assert card.show_all is not None, (*place, number)
            else:
                assert max(card.allow, card.deny) <= SCREEN, (*place, number)
                assert "Not shown here" not in card.says, (*place, number)
        assert sum(card.allow is None for card in cards) <= 2, place


def test_nothing_is_outside_of_the_screen(looked: Looks) -> None:
    wide = [
        (*place, n) for place, cards in looked.items() for n, one in enumerate(cards) if one.wide
    ]

    assert not wide


def _is_seen(bottom: float | None, card: Look) -> bool:
    return bottom is not None and bottom <= min(card.first, SCREEN)
