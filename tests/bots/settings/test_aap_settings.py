"""``[aap]`` of the settings: what is wrong is said, with its line and the fix."""

from __future__ import annotations

from datetime import timedelta

import pytest
from support.aap_world import PROVISIONER, SECRET

from sayso.written.document import SettingsError
from sayso_bots.settings.aap import aap_warnings, read_aap
from sayso_bots.settings.source import source_of
from sayso_bots.settings.tokens import token_hash

ENV = {"SAYSO_AAP_SECRET": SECRET}
SHA = token_hash(PROVISIONER)


def problems(toml: str, env: dict[str, str] | None = None) -> str:
    """What is said of these settings."""
    source = source_of(toml, ENV if env is None else env)
    read_aap(source)
    with pytest.raises(SettingsError) as error:
        source.check("aap")
    return str(error.value)


def test_the_provider_is_off_without_its_section() -> None:
    assert read_aap(source_of("", ENV)) is None


def test_the_section_alone_is_enough_with_a_secret() -> None:
    aap = read_aap(source_of("[aap]\n", ENV))

    assert aap is not None
    assert aap.approval_valid == timedelta(minutes=5)
    assert aap_warnings(aap) == ()
    assert SECRET not in repr(aap)


@pytest.mark.parametrize("secret", ["", "too short"])
def test_without_a_secret_that_is_long_enough_it_does_not_start(secret: str) -> None:
    said = problems("[aap]\n", {"SAYSO_AAP_SECRET": secret})

    assert "SAYSO_AAP_SECRET" in said
    assert "openssl rand -hex 32" in said
    assert "too short," not in said


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('approval_valid = "0s"', "more than 0s"),
        ('approval_valid = "25h"', "at most 24h"),
        ('allow_private_receivers = ["10.0.0.1/8"]', "is not a network"),
        ('allow_private_receivers = ["localhost"]', "is not a network"),
        ("per_second = 0", "from 1 to 10000"),
        ("waiting = true", "whole number"),
        ("secret = 1", "is not a setting"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(line: str, why: str) -> None:
    said = problems(f"[aap]\n{line}\n")

    assert why in said
    assert "line 2" in said


def test_a_token_in_place_of_its_hash_is_refused_and_not_quoted() -> None:
    said = problems(f'[[aap.provisioner]]\nname = "fleet"\nsha256 = "{PROVISIONER}"\n')

    assert PROVISIONER not in said


def test_a_hash_that_is_twice_is_refused() -> None:
    one = f'[[aap.provisioner]]\nname = "fleet"\nsha256 = "{SHA}"\n'

    assert "appears twice" in problems(one + one)


def test_receivers_that_are_not_public_are_said_at_the_start() -> None:
    toml = '[aap]\nallow_private_receivers = ["127.0.0.1/32"]\n'

    (warning,) = aap_warnings(read_aap(source_of(toml, ENV)))

    assert "127.0.0.1/32" in warning


def test_a_provisioner_needs_a_name_and_a_hash_alone_and_may_have_a_pattern_of_agents() -> None:
    plain = f'[aap]\n[[aap.provisioner]]\nname = "ci"\nsha256 = "{SHA}"\n'
    for more, agents in (("", ""), ('agents = "ci-*"\n', "ci-*")):
        aap = read_aap(source_of(plain + more, ENV))

        assert aap is not None
        assert [(one.name, one.agents) for one in aap.provisioners] == [("ci", agents)]


@pytest.mark.parametrize("agents", ['""', '" ci"', '"a\\nb"', "7"])
def test_a_pattern_of_agents_that_matches_none_is_refused(agents: str) -> None:
    said = problems(
        f'[aap]\n[[aap.provisioner]]\nname = "ci"\nsha256 = "{SHA}"\nagents = {agents}\n'
    )

    assert "line 5: aap.provisioner 1.agents" in said
