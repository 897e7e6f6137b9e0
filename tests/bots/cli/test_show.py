"""``sayso show`` prints what was asked so that nothing of it is pushed out of sight."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from support.commands import Run

from sayso.calls import new_id
from sayso.stores.connect import open_store
from sayso.testing import a_request

LINES, SPACES = "\n" * 301, " " * 900


async def shown(
    run: Run,
    store_url: str,
    *options: str,
    arguments: dict[str, Any] | None = None,
    description: str = "",
) -> str:
    """What the command prints of a request for this."""
    asked = a_request(f"blanks-{new_id()}", arguments=arguments)
    asked = asked.model_copy(update={"description": description})
    async with open_store(store_url) as backend:
        await backend.store.open(asked, seconds=30, inbox="", book=None)
    env = {"SAYSO_STORE_URL": store_url}
    done = await asyncio.to_thread(run, "show", asked.question_id, *options, env=env)
    assert done.code == 0
    return done.out


@pytest.mark.parametrize(
    ("blanks", "said"), [(LINES, "[300 blank lines]"), (SPACES, "[900 spaces]")]
)
async def test_blanks_push_nothing_of_a_request_out_of_sight(
    run: Run, store_url: str, blanks: str, said: str
) -> None:
    text = f"tidies up{blanks}and removes everything"

    as_argument = await shown(run, store_url, arguments={"command": text})
    as_description = await shown(run, store_url, description=text)

    for out in (as_argument, as_description):
        assert said in out
        assert "and removes everything" in out
        assert len(out.splitlines()) < 30
        assert max(map(len, out.splitlines())) < 120


async def test_what_looks_like_folded_blanks_and_is_none_is_told_apart(
    run: Run, store_url: str
) -> None:
    out = await shown(run, store_url, arguments={"command": "ls [300 blank lines] x"})

    assert "[300 blank lines]" not in out


async def test_json_holds_the_arguments_in_full_secrets_and_blanks_included(
    run: Run, store_url: str
) -> None:
    arguments = {"command": f"PGPASSWORD=hunter2 psql{LINES}x", "token": "hunter3"}

    printed = await shown(run, store_url, "--json", arguments=arguments)
    as_text = await shown(run, store_url, arguments=arguments)

    assert json.loads(printed)["request"]["arguments"] == arguments
    assert "hunter" not in as_text
