"""One try to reach a receiver."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import ssl
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from aiohttp import web
from support.certificates import self_signed, trusting
from support.hooks import HERE, HOST, KEY, REGISTRATION, Came, Hooks, leads_here, sender_to

from sayso_bots.aap.webhooks.networks import Reach
from sayso_bots.aap.webhooks.receiver import Receiver
from sayso_bots.aap.webhooks.sending import NotPublicError, Sender, UnreachedError

BODY = b'{"id":"e-1","type":"request.resolved"}'


async def test_a_message_arrives_as_it_was_signed_at_that_moment(
    receiving: Hooks, certificate: Path
) -> None:
    at = datetime(2026, 3, 1, 12, 0, 0, 999_000, tzinfo=UTC)
    sender = Sender(HERE, trusting(certificate), resolve=leads_here, clock=lambda: at)

    reply = await sender.send(receiving.receiver, "e-1", BODY)

    (came,) = receiving.calls
    stamp = str(int(at.timestamp()))
    signed = hmac.new(bytes(range(32)), f"e-1.{stamp}.".encode() + BODY, hashlib.sha256).digest()
    assert (reply.status, reply.is_success, came.body) == (204, True, BODY)
    assert came.path == "/aap/events?from=sayso%20here"
    assert came.headers["webhook-id"] == "e-1"
    assert came.headers["webhook-timestamp"] == stamp
    assert came.headers["webhook-signature"] == f"v1,{base64.b64encode(signed).decode()}"
    assert came.headers["Content-Type"] == "application/json"
    assert came.headers["Host"] == f"{HOST}:{receiving.port}"


async def test_a_redirect_is_an_answer_and_not_followed(
    receiving: Hooks, certificate: Path
) -> None:
    async def elsewhere(came: Came) -> web.StreamResponse:
        return web.Response(status=307, headers={"Location": receiving.url})

    receiving.answering = elsewhere

    reply = await sender_to(certificate).send(receiving.receiver, "e-1", BODY)

    assert (reply.status, reply.is_success, len(receiving.calls)) == (307, False, 1)


@pytest.mark.parametrize(
    "addresses",
    [
        ["10.0.0.1"],
        ["8.8.8.8", "127.0.0.2"],
        ["127.0.0.1", "::1"],
        ["64:ff9b::a00:1"],
        ["::ffff:169.254.169.254"],
    ],
)
async def test_a_name_with_any_address_that_is_not_public_is_not_connected_to(
    addresses: list[str], receiving: Hooks, certificate: Path
) -> None:
    async def leads(_host: str, _port: int) -> Sequence[str]:
        return addresses

    sender = Sender(HERE, trusting(certificate), resolve=leads)

    with pytest.raises(NotPublicError):
        await sender.send(receiving.receiver, "e-1", BODY)
    with pytest.raises(NotPublicError):
        await sender.check(receiving.receiver)
    assert receiving.calls == []


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]"])
async def test_an_address_instead_of_a_name_is_checked_too(host: str, receiving: Hooks) -> None:
    receiver = Receiver(f"https://{host}:{receiving.port}/x", REGISTRATION, KEY)

    with pytest.raises(NotPublicError):
        await Sender(Reach(), ssl.create_default_context()).send(receiver, "e-1", BODY)


async def test_the_name_is_looked_up_again_at_each_try_and_the_checked_address_is_connected_to(
    receiving: Hooks, certificate: Path
) -> None:
    answers = [["127.0.0.1"], ["127.0.0.2"]]
    asked: list[tuple[str, int]] = []

    async def changing(host: str, port: int) -> Sequence[str]:
        asked.append((host, port))
        return answers.pop(0)

    sender = Sender(HERE, trusting(certificate), resolve=changing)
    await sender.send(receiving.receiver, "e-1", BODY)

    with pytest.raises(NotPublicError):
        await sender.send(receiving.receiver, "e-1", BODY)
    assert asked == [(HOST, receiving.port)] * 2
    assert len(receiving.calls) == 1


async def test_the_name_of_the_receiver_is_verified_although_its_address_is_connected_to(
    receiving: Hooks, certificate: Path
) -> None:
    other = receiving.url.replace(HOST, "somebody.example.com")

    with pytest.raises(UnreachedError, match="CertificateError"):
        await sender_to(certificate).send(Receiver(other, REGISTRATION, KEY), "e-1", BODY)
    assert receiving.calls == []


async def test_a_certificate_that_nobody_vouches_for_is_refused(
    receiving: Hooks, tmp_path: Path
) -> None:
    stranger = self_signed(tmp_path, f"DNS:{HOST}")

    with pytest.raises(UnreachedError, match="CertificateError"):
        await sender_to(stranger).send(receiving.receiver, "e-1", BODY)
    assert receiving.calls == []


async def test_a_try_ends_at_its_limit(receiving: Hooks, certificate: Path) -> None:
    never = asyncio.Event()

    async def silent(came: Came) -> web.StreamResponse:
        await never.wait()
        return web.Response()

    receiving.answering = silent
    sender = sender_to(certificate, seconds=0.3)

    with pytest.raises(UnreachedError, match=r"no answer within 0\.3 s"):
        await sender.send(receiving.receiver, "e-1", BODY)
    assert len(receiving.calls) == 1
    never.set()


async def test_a_name_server_that_does_not_answer_counts_into_the_limit(certificate: Path) -> None:
    async def silent(_host: str, _port: int) -> Sequence[str]:
        await asyncio.Event().wait()
        return []

    sender = Sender(HERE, trusting(certificate), resolve=silent, seconds=0.05)

    with pytest.raises(UnreachedError, match="no answer"):
        await sender.send(Receiver(f"https://{HOST}/x", REGISTRATION, KEY), "e-1", BODY)


async def test_a_receiver_that_is_away_is_an_error_that_quotes_nothing_of_its_address(
    certificate: Path, receiving: Hooks
) -> None:
    async def unknown(host: str, _port: int) -> Sequence[str]:
        raise OSError(f"no such host {host}/aap?token=abc")

    sender = Sender(HERE, trusting(certificate), resolve=unknown)

    with pytest.raises(UnreachedError) as failed:
        await sender.send(receiving.receiver, "e-1", BODY)
    assert "token" not in str(failed.value)
    await sender.check(receiving.receiver)  # the try itself has to tell


async def test_what_a_receiver_asks_to_wait_counts_with_429_and_503_alone(
    receiving: Hooks, certificate: Path
) -> None:
    statuses = [429, 503, 500, 302]

    async def busy(came: Came) -> web.StreamResponse:
        return web.Response(status=statuses[len(receiving.calls) - 1], headers={"Retry-After": "9"})

    receiving.answering = busy
    sender = sender_to(certificate)

    replies = [await sender.send(receiving.receiver, "e-1", BODY) for _ in statuses]

    assert [(reply.status, reply.retry_after) for reply in replies] == [
        (429, 9.0),
        (503, 9.0),
        (500, None),
        (302, None),
    ]


async def test_no_more_of_an_answer_is_read_than_can_matter(
    receiving: Hooks, certificate: Path
) -> None:
    async def endless(came: Came) -> web.StreamResponse:
        return web.Response(body=b"x" * 10_000_000)

    receiving.answering = endless

    reply = await sender_to(certificate).send(receiving.receiver, "e-1", BODY)

    assert (reply.status, len(reply.body)) == (200, 4097)
