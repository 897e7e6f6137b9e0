"""What an adapter asks becomes a card, and comes back exactly as it was submitted."""

from __future__ import annotations

import pytest
from support.aap_world import AapWorld

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_request_is_asked_shown_allowed_and_used_once(aap: AapWorld) -> None:
    request = await aap.asked(agent_reasoning="the change was reviewed")
    assert request["status"] == "pending"

    card = await aap.card("terraform apply")
    await aap.playground.slack.press(card, "Allow", by="alice")
    ended = (await aap.get(request["id"], wait="25s")).json
    used = await aap.consume(request["id"])
    reported = await aap.report(request["id"], status="succeeded")

    assert ended["status"] == ended["decision"]["status"] == "approved"
    assert "consumption" not in ended
    assert used.status == 200
    assert used.json["consumption"]["consumed_at"] >= ended["decision"]["decided_at"]
    assert reported.json["consumption"]["outcome"]["status"] == "succeeded"
