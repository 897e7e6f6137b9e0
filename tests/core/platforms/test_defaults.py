"""A platform and its bot that override only what they must."""

from __future__ import annotations

import pytest
from support.bare_platform import BareBot, BarePlatform

from sayso.chats.places import Place
from sayso.platforms import NotLooked, Secret, Section

KEY, PIN = Secret("CHAT_KEY", "it is in your letter"), Secret("CHAT_PIN", "it is in your letter")


class TwoSecrets(BarePlatform):
    """A platform with two secrets."""

    secrets = (KEY, PIN)


def test_a_section_is_settled_as_it_was_written_and_needs_all_secrets() -> None:
    platform, section = TwoSecrets(Section), Section()

    assert platform.settled(section, ["CHAT_KEY"]) is section
    assert platform.needed(section) == (KEY, PIN)


def test_a_platform_without_groups_refuses_one_and_says_how_to_name_an_account() -> None:
    platform = BarePlatform(Section)

    with pytest.raises(ValueError, match=r"Chat has no groups of approvers; .* chat:alice"):
        platform.check_group("oncall")
    assert (platform.has_groups, platform.registration) == (False, None)


async def test_a_bot_that_cannot_look_says_so_and_finds_nothing() -> None:
    bot = BareBot()

    assert await bot.can_post(Place("chat", "ops")) == NotLooked("the first card will show")
    assert await bot.can_approve("chat:alice", []) == NotLooked("the first press will show")
    assert await bot.look() == ()
    await bot.try_secrets()
