"""A receiver proves that it is the one that was registered."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from support.hooks import KEY, REGISTRATION, Came, Hooks, sender_to

from sayso_bots.aap.webhooks.receiver import Receiver
from sayso_bots.aap.webhooks.verification import UnverifiedError, verify

INSTANCE = "5f2b2f6e-6a0a-4a0e-9d4c-2f3a8c6f1f00"
CREATED = "2026-03-01T12:00:00.000000Z"


async def test_a_challenge_says_who_asks_and_is_another_one_each_time(
    receiving: Hooks, certificate: Path
) -> None:
    for _ in range(2):
        await verify(sender_to(certificate), receiving.receiver, INSTANCE, created_at=CREATED)

    first, second = (came.message for came in receiving.calls)
    assert set(first) == {
        *("id", "type", "registration_id", "instance_id", "created_at", "challenge")
    }
    assert (first["type"], first["registration_id"]) == ("webhook.verification", REGISTRATION)
    assert (first["instance_id"], first["created_at"]) == (INSTANCE, CREATED)
    assert receiving.calls[0].headers["webhook-id"] == first["id"]
    assert first["id"] != second["id"]
    assert first["challenge"] != second["challenge"]


@pytest.mark.parametrize(
    "answer",
    [
        lambda c: web.Response(status=204),
        lambda c: web.json_response({"challenge": c}, status=201),
        lambda c: web.json_response({"challenge": c}, status=302, headers={"Location": "/"}),
        lambda c: web.json_response({"challenge": "00000000-0000-4000-8000-000000000000"}),
        lambda c: web.json_response({"challenge": c, "more": 1}),
        lambda c: web.json_response({"challenge": c.upper() + " "}),
        lambda c: web.json_response([{"challenge": c}]),
        lambda c: web.json_response(c),
        lambda c: web.Response(text=f'{{"challenge":"x","challenge":"{c}"}}'),
        lambda c: web.Response(text=f'{{"challenge":"{c}"}} trailing'),
        lambda c: web.Response(body=b"\xff\xfe"),
        lambda c: web.Response(text="[" * 4000),
        lambda c: web.Response(text=f'{{"challenge":"{c}"}}' + " " * 5000),
        lambda c: web.Response(text=""),
        lambda c: web.Response(status=500),
    ],
)
async def test_anything_but_200_with_the_challenge_alone_is_no_proof(
    answer: Callable[[Any], web.Response], receiving: Hooks, certificate: Path
) -> None:
    async def answering(came: Came) -> web.StreamResponse:
        return answer(came.message["challenge"])

    receiving.answering = answering

    with pytest.raises(UnverifiedError):
        await verify(sender_to(certificate), receiving.receiver, INSTANCE, created_at=CREATED)


async def test_a_receiver_that_does_not_answer_is_not_verified(
    receiving: Hooks, certificate: Path
) -> None:
    gone = receiving.receiver.url.replace(str(receiving.port), "1")
    receiver = Receiver(gone, REGISTRATION, KEY)

    with pytest.raises(UnverifiedError, match="cannot be reached"):
        await verify(sender_to(certificate), receiver, INSTANCE, created_at=CREATED)
