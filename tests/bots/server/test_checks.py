"""What `sayso check` says of a platform that knows little, or cannot say."""

from __future__ import annotations

import pytest
from support.bare_platform import BareBot, BarePlatform

from sayso.chats.places import Place
from sayso.errors import DeliveryError
from sayso.platforms import Bot, PlatformSettings, Section
from sayso.platforms.platform import ApiUrl
from sayso.worker.routing import Route, Routes
from sayso_bots.config.platforms import Configured
from sayso_bots.server.checks import look_at_accounts, look_at_places, look_at_platform

OPS = Place("chat", "ops")
ROUTES = Routes([Route((OPS,), ("chat:alice",))])


class SilentBot(BareBot):
    """A bot whose platform says nothing, whatever it is asked."""

    async def can_post(self, place: Place) -> str | None:
        raise DeliveryError("chat", f"no answer about {place}")

    async def can_approve(self, account: str, places: object) -> str | None:
        raise DeliveryError("chat", f"no answer about {account}")


class BareSection(Section):
    """Nothing to set."""


class SectionWithAnAddress(Section):
    """An address, as of a platform that is called over the network."""

    api_url: ApiUrl = "https://chat.example"


@pytest.mark.parametrize(
    ("bot", "why_place", "why_account"),
    [
        (BareBot(), "the first card will show", "the first press will show"),
        (SilentBot(), "no answer about chat:ops", "no answer about chat:alice"),
    ],
)
async def test_what_nobody_looked_at_is_neither_fine_nor_failed(
    bot: Bot, why_place: str, why_account: str
) -> None:
    places = await look_at_places({"chat": bot}, ROUTES)
    [account] = await look_at_accounts({"chat": bot}, ROUTES)

    assert places[OPS].level == account.level == "info"
    assert (
        places[OPS].text == f"chat:ops — whether cards can be shown there is not known: {why_place}"
    )
    assert (
        account.text == f"chat:alice: whether this account can answer is not known: {why_account}"
    )


@pytest.mark.parametrize(
    ("section", "text"),
    [
        (BareSection, "the line is cut"),
        (
            SectionWithAnAddress,
            "the line is cut; see the network and chat.api_url or SAYSO_CHAT_API_URL",
        ),
    ],
)
async def test_a_platform_that_is_away_advises_only_settings_that_it_has(
    section: type[Section], text: str
) -> None:
    configured = Configured(BarePlatform(section), PlatformSettings(section()))

    found = await look_at_platform(configured, BareBot(away="the line is cut"))

    assert (found.level, found.text, found.passing) == ("failed", text, True)
