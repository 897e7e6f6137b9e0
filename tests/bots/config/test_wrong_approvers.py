"""What somebody is told to write in place of an approver who is not known."""

from __future__ import annotations

import re

import pytest
from support.settings_text import problems, read


@pytest.mark.parametrize("name", ["alice@example.com", "Alice Smith", "alice"])
def test_what_an_approver_without_an_account_is_told_to_write_works(name: str) -> None:
    route = '[[route]]\nto = ["slack:C0OPS"]\napprovers = ["{name}"]\n'
    (said,) = problems(route.format(name=name))
    section = re.search(r"add (\[people\..+\]) with (.+), or name an account", said)
    here = re.search(r'write "(.+)" here', said)
    assert section is not None
    written = name if here is None else here[1]

    assert read(f"{section[1]}\n{section[2]}\n{route.format(name=written)}").routes.people


def test_an_address_of_somebody_who_is_known_is_told_the_name() -> None:
    (said,) = problems(
        '[people.alice]\nslack = "U0A"\n[[route]]\nto = ["slack:C0OPS"]\n'
        'approvers = ["alice@example.com"]'
    )

    assert said.endswith("'alice@example.com' is not in [people]; write \"alice\"")
