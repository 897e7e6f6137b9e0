"""What every platform promises of itself, before anything of it runs."""

# ruff: noqa: D102, S101  a test's name is its sentence, and it asserts

from __future__ import annotations

import re
from typing import Any

import pytest

from sayso.chats.places import Place
from sayso.platforms import Platform, Section


class PlatformContract:
    """What a ``PLATFORM`` promises. Subclasses provide the ``platform`` fixture."""

    def test_its_name_is_a_lower_case_word(self, platform: Platform[Any]) -> None:
        assert re.fullmatch(r"[a-z]+", platform.name)
        assert platform.title.strip()
        assert platform.title.isprintable()

    def test_its_example_of_a_place_is_one(self, platform: Platform[Any]) -> None:
        place = Place.parse(platform.place_example)

        assert place.platform == platform.name
        platform.check_place(place)

    def test_its_example_of_an_account_is_one(self, platform: Platform[Any]) -> None:
        name, _, written = platform.account_example.partition(":")

        assert name == platform.name
        account = platform.account(written)
        assert account
        assert platform.account(account) == account

    def test_a_group_is_refused_unless_it_has_groups(self, platform: Platform[Any]) -> None:
        if not platform.has_groups:
            with pytest.raises(ValueError, match=r"\S"):
                platform.check_group("oncall")

    def test_its_section_may_be_empty_and_is_settled_once(self, platform: Platform[Any]) -> None:
        assert issubclass(platform.section, Section)
        variables = [secret.variable for secret in platform.secrets]
        for given in ((), variables[:1], variables):
            settled = platform.settled(platform.section(), given)
            assert platform.settled(settled, given) == settled
            assert {*platform.needed(settled)} <= {*platform.secrets}

    def test_a_secret_comes_from_a_variable_of_its_own_and_never_from_the_section(
        self, platform: Platform[Any]
    ) -> None:
        variables = [secret.variable for secret in platform.secrets]
        assert len({*variables}) == len(variables)
        for secret in platform.secrets:
            assert re.fullmatch(r"[A-Z][A-Z0-9_]*", secret.variable)
            assert secret.where.strip()
            assert not {*secret.keys} & {*platform.section.model_fields}

    def test_nothing_that_is_shown_of_it_looks_like_a_secret(self, platform: Platform[Any]) -> None:
        shown = [platform.title, platform.place_example, platform.account_example]
        shown += [text for secret in platform.secrets for text in (secret.missing, *secret.keys)]
        for secret in platform.secrets:
            assert not any(map(secret.is_in, shown))

    def test_registering_needs_only_its_own_secrets(self, platform: Platform[Any]) -> None:
        if platform.registration is not None:
            assert {*platform.registration.needed} <= {*platform.secrets}
