"""The asynchronous mode: receivers are verified, and told of every end, over real TLS."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from aiohttp import web
from support.aap_world import PROVISIONER, AapWorld, Answer, aap_toml, aap_world_on
from support.certificates import self_signed
from support.hooks import HOST, KEY, REGISTRATION, SECRET, Came, Hooks, hooks, verifying
from support.playing import a_playground

from sayso.errors import ConfigError
from sayso.stores.backend import Backend
from sayso.stores.connect import open_store
from sayso_bots.aap.credentials import Vault
from sayso_playground import Playground

HERE = 'allow_private_receivers = ["127.0.0.1/32"]'
DENY = '[[policy]]\nagent = "*"\ndefault = "ask"\ndeny = [{ tool = "forbidden" }]'


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The certificate of every receiver."""
    return self_signed(tmp_path_factory.mktemp("tls"), f"DNS:{HOST}", "IP:127.0.0.1")


@pytest.fixture
async def receiving(certificate: Path) -> AsyncIterator[Hooks]:
    """A receiver at work."""
    async with hooks(certificate) as receiver:
        yield receiver


@pytest.fixture
async def playground() -> AsyncIterator[Playground]:
    """Both platforms, played."""
    async with a_playground() as playing:
        yield playing


@pytest.fixture
async def aap(
    playground: Playground, backend: Backend, certificate: Path
) -> AsyncIterator[AapWorld]:
    """Bots that may call receivers on this computer."""
    toml = aap_toml(HERE, policy=DENY)
    trusted = str(certificate / "crt")
    async with aap_world_on(playground, backend, toml, SSL_CERT_FILE=trusted) as world:
        yield world


async def _provision(aap: AapWorld, delivery: Any, key: str = "") -> Answer:
    body = {"instance_name": "a-paused-agent", "delivery": delivery}
    return await aap.call("POST", "/v1/instances", body, token=PROVISIONER, key=key or str(uuid4()))


async def _change(aap: AapWorld, delivery: Any, key: str = "") -> Answer:
    path = f"/v1/instances/{aap.instance_id}"
    body = {"delivery": delivery}
    return await aap.call("PATCH", path, body, token=PROVISIONER, key=key or str(uuid4()))


async def _told(receiving: Hooks, aap: AapWorld, number: int) -> Sequence[dict[str, Any]]:
    await receiving.until(number)
    return [came.message for came in receiving.events]


async def test_a_receiver_is_verified_before_there_is_an_instance_and_its_secret_is_never_told(
    aap: AapWorld, receiving: Hooks
) -> None:
    made = await _provision(aap, receiving.delivery())

    instance = made.json["instance"]
    (challenge,) = receiving.challenges
    assert made.status == 201
    assert instance["delivery"] == {
        "type": "webhook",
        "url": receiving.local,
        "registration_id": REGISTRATION,
    }
    assert challenge.message["instance_id"] == instance["id"]
    shown = await aap.call("GET", f"/v1/instances/{instance['id']}", token=PROVISIONER)
    assert shown.json == instance
    assert "whsec" not in made.text + shown.text


async def test_a_receiver_that_is_not_verified_changes_nothing_and_the_key_is_free_to_try_again(
    aap: AapWorld, receiving: Hooks
) -> None:
    async def refusing(came: Came) -> web.StreamResponse:
        return web.Response(status=403)

    receiving.answering = refusing
    first = await _provision(aap, receiving.delivery(), key="one")
    receiving.answering = verifying
    second = await _provision(aap, receiving.delivery(), key="one")
    replayed = await _provision(aap, receiving.delivery(), key="one")

    assert first.error == (422, "webhook_verification_failed")
    assert (second.status, replayed.status) == (201, 200)
    assert replayed.json == second.json
    assert len(receiving.challenges) == 2


async def test_attempts_with_one_key_at_once_share_one_verification(
    aap: AapWorld, receiving: Hooks
) -> None:
    go_on = asyncio.Event()

    async def slow(came: Came) -> web.StreamResponse:
        await go_on.wait()
        return await verifying(came)

    receiving.answering = slow
    attempts = [
        asyncio.ensure_future(_provision(aap, receiving.delivery(), key="one")) for _ in range(5)
    ]
    while not receiving.challenges:
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.3)
    go_on.set()
    answers = await asyncio.gather(*attempts)

    assert len(receiving.challenges) == 1
    assert sorted(answer.status for answer in answers) == [200, 200, 200, 200, 201]
    assert len({answer.text for answer in answers}) == 1


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"type": "carrier_pigeon"}, "unsupported_delivery_type"),
        ({"url": "http://127.0.0.1/x"}, "invalid_webhook_url"),
        ({"url": "https://user:pw@example.com/x"}, "invalid_webhook_url"),
        ({"url": "https://10.0.0.1/x"}, "invalid_webhook_url"),
        ({"url": "https://[::ffff:10.0.0.1]/x"}, "invalid_webhook_url"),
        ({"url": "https://[64:ff9b::a00:1]/x"}, "invalid_webhook_url"),
        ({"url": "https://localhost:1/x"}, "invalid_webhook_url"),  # also ::1, which is not allowed
        ({"signing_secret": "whsec_short"}, "invalid_request"),
        ({"registration_id": "seven"}, "invalid_request"),
        ({"more": 1}, "invalid_request"),
    ],
)
async def test_a_delivery_that_cannot_be_used_is_refused_before_anybody_is_called(
    wrong: dict[str, Any], code: str, aap: AapWorld, receiving: Hooks
) -> None:
    made = await _provision(aap, receiving.delivery(**wrong))

    if "localhost" not in str(wrong):
        assert made.error == (400, code)
    else:  # where this computer has no ::1, it is only not there
        assert made.error in {(400, code), (422, "webhook_verification_failed")}
    assert SECRET not in made.text
    assert "pw" not in made.text
    assert receiving.calls == []


async def test_no_receiver_on_this_computer_is_called_unless_the_settings_allow_it(
    playground: Playground, backend: Backend, certificate: Path, receiving: Hooks
) -> None:
    trusted = str(certificate / "crt")
    async with aap_world_on(playground, backend, SSL_CERT_FILE=trusted) as aap:
        made = await _provision(aap, receiving.delivery())

    assert made.error == (400, "invalid_webhook_url")
    assert receiving.calls == []


async def test_every_end_is_told_once_also_that_of_what_a_rule_answers_at_creation(
    aap: AapWorld, receiving: Hooks
) -> None:
    assert (await _change(aap, receiving.delivery())).status == 200

    ends = [await aap.pressed("Allow"), await aap.pressed("Deny")]
    cancelled = await aap.asked()
    ends.append((await aap.call("DELETE", f"/v1/requests/{cancelled['id']}")).json)
    ends.append(await aap.asked(tool="forbidden"))
    late = await aap.asked(timeout="1s")
    ends.append((await aap.get(late["id"], wait="25s")).json)
    told = await _told(receiving, aap, 5)

    assert [end["status"] for end in ends] == [
        *("approved", "denied", "cancelled", "denied", "expired")
    ]
    by_request = {message["request_id"]: message for message in told}
    assert len(by_request) == len(told) == 5
    for end in ends:
        message = by_request[end["id"]]
        assert message["created_at"] == end["decision"]["decided_at"]
        assert message["instance_id"] == aap.instance_id
        assert set(message) == {*("id", "type", "instance_id", "request_id", "created_at")}


async def test_what_ends_while_there_is_no_receiver_is_never_told(
    aap: AapWorld, receiving: Hooks
) -> None:
    await aap.pressed("Allow")
    await _change(aap, receiving.delivery())
    await aap.pressed("Allow")
    await receiving.until(1)
    assert (await _change(aap, None)).json == {"id": aap.instance_id, "name": aap.name}
    await aap.pressed("Allow")
    await _change(aap, receiving.delivery())
    last = await aap.pressed("Deny")
    told = await _told(receiving, aap, 2)

    assert [message["request_id"] for message in told][1:] == [last["id"]]


async def test_a_replaced_receiver_gets_what_waits_signed_with_its_own_secret(
    aap: AapWorld, receiving: Hooks, certificate: Path
) -> None:
    async def closed(came: Came) -> web.StreamResponse:
        is_event = came.message["type"] == "request.resolved"
        return web.Response(status=503) if is_event else await verifying(came)

    receiving.answering = closed
    await _change(aap, receiving.delivery())
    await aap.pressed("Allow")
    await receiving.until(1)
    async with hooks(certificate) as other:
        changed = await _change(aap, other.delivery(registration_id=str(uuid4())))
        await other.until(1)

    assert changed.json["delivery"]["url"] == other.local
    assert other.events[0].body == receiving.events[0].body


async def test_a_receiver_that_is_not_verified_does_not_take_the_place_of_another(
    aap: AapWorld, receiving: Hooks
) -> None:
    await _change(aap, receiving.delivery())
    gone = receiving.local.replace(str(receiving.port), "1")

    refused = await _change(aap, receiving.delivery(url=gone))
    await aap.pressed("Allow")
    await receiving.until(1)

    assert refused.error == (422, "webhook_verification_failed")


async def test_a_deleted_instance_is_told_nothing_of_what_is_withdrawn_with_it(
    aap: AapWorld, receiving: Hooks
) -> None:
    await _change(aap, receiving.delivery())
    await aap.asked()
    path = f"/v1/instances/{aap.instance_id}"
    assert (await aap.call("DELETE", path, token=PROVISIONER)).status == 204
    async with asyncio.timeout(10):
        while await aap.backend.watch.pending():
            await asyncio.sleep(0.01)
    for _ in range(20):
        if (await aap.backend.errands.take("aap-ended", most=0, hold=0)).next_in is None:
            break
        await asyncio.sleep(0.1)

    assert receiving.events == []


async def test_what_was_not_taken_is_told_after_a_restart(
    playground: Playground, backend: Backend, certificate: Path, receiving: Hooks
) -> None:
    async def closed(came: Came) -> web.StreamResponse:
        is_event = came.message["type"] == "request.resolved"
        return web.Response(status=500) if is_event else await verifying(came)

    trusted, toml = str(certificate / "crt"), aap_toml(HERE)
    receiving.answering = closed
    async with aap_world_on(playground, backend, toml, SSL_CERT_FILE=trusted) as aap:
        await _change(aap, receiving.delivery())
        await aap.pressed("Allow")
        await receiving.until(1)
    receiving.answering = verifying
    tried = len(receiving.events)
    async with aap_world_on(playground, backend, toml, SSL_CERT_FILE=trusted):
        await receiving.until(tried + 1)

    assert len({came.body for came in receiving.events}) == 1


async def test_several_desks_share_the_work_and_one_of_them_sends(
    playground: Playground, store_url: str, certificate: Path, receiving: Hooks
) -> None:
    trusted, toml = str(certificate / "crt"), aap_toml(HERE)
    async with (
        open_store(store_url) as one,
        open_store(store_url) as other,
        aap_world_on(playground, other, toml, SSL_CERT_FILE=trusted),
        aap_world_on(playground, one, toml, SSL_CERT_FILE=trusted) as aap,
    ):
        await _change(aap, receiving.delivery())
        for _ in range(5):
            request = await aap.asked()
            await aap.call("DELETE", f"/v1/requests/{request['id']}")
        await receiving.until(5)
        await asyncio.sleep(0.5)

    assert len({came.message["id"] for came in receiving.events}) == 5
    assert len(receiving.events) == 5


async def test_certificates_that_cannot_be_read_are_an_error_at_the_start(
    playground: Playground, backend: Backend, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=r"SSL_CERT_FILE names .*gone"):
        async with aap_world_on(playground, backend, SSL_CERT_FILE=str(tmp_path / "gone")):
            pass


def test_the_secret_of_a_receiver_is_sealed_in_the_store() -> None:
    vault = Vault(b"a secret of the bots, which is long enough")
    sealed = vault.seal(KEY)

    assert KEY.hex() not in sealed
    assert vault.seal(KEY) != sealed
    assert vault.unseal(sealed) == KEY
    assert Vault(b"another secret of the bots, long enough").unseal(sealed) != KEY
