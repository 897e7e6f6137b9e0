"""`sayso check` and `sayso webhook` follow no redirects."""

from __future__ import annotations

import asyncio

from support.commands import PEOPLE, Run, env_of
from support.redirects import redirecting

from sayso_playground import Playground

ROUTE = f"""
{PEOPLE}
[[route]]
to = ["slack:C0OPS", "telegram:-1001234567890"]
approvers = ["alice"]
"""


async def test_the_commands_send_no_token_where_a_redirect_leads(
    run: Run, playground: Playground
) -> None:
    async with redirecting(302) as elsewhere:
        env = env_of(playground) | {
            "SAYSO_STORE_URL": "memory://",
            "SAYSO_SLACK_API_URL": f"{elsewhere.url}api/",
            "SAYSO_TELEGRAM_API_URL": elsewhere.url.rstrip("/"),
        }
        check = await asyncio.to_thread(run, "check", env=env, toml=ROUTE)
        show = await asyncio.to_thread(run, "webhook", "show", env=env)

    assert (check.code, show.code) == (1, 1)
    assert "name the address itself in slack.api_url" in check.out
    assert "name the address itself in telegram.api_url" in check.out
    assert "name the address itself in telegram.api_url" in show.err
    assert elsewhere.arrived == []
