"""Both sides of Slack's windows: of the signature, of repetitions, of a body's size."""

from __future__ import annotations

import pytest
from support.clock import Clock
from support.desk_double import DeskDouble
from support.slack_kit import FORM, Client, a_press, callback, post, signed

from sayso_slack import SlackListener
from sayso_slack.listener import BODY_BYTES


@pytest.mark.parametrize(("off", "status"), [(-301, 401), (-300, 200), (300, 200), (301, 401)])
async def test_a_signature_holds_five_minutes_before_and_after_its_time(
    off: int, status: int, client: Client, desk: DeskDouble, clock: Clock
) -> None:
    got, _ = await post(client, *callback(a_press(), clock.seconds() + off))

    assert got == status
    assert len(desk.presses) == (status == 200)


@pytest.mark.parametrize(
    ("later", "status"), [(0, 409), (1, 409), (599, 409), (600, 409), (601, 401), (602, 401)]
)
async def test_a_callback_is_refused_as_a_repetition_as_long_as_its_signature_holds(
    later: int, status: int, client: Client, desk: DeskDouble, clock: Clock
) -> None:
    # It comes as early as it may, from a machine whose clock is five minutes ahead.
    sent = callback(a_press(), clock.seconds() + 300)
    first, _ = await post(client, *sent)
    clock.pass_by(later)
    second, _ = await post(client, *sent)

    assert (first, second) == (200, status)
    assert len(desk.presses) == 1


@pytest.mark.parametrize(("later", "status"), [(599, 409), (601, 409), (601.5, 200)])
async def test_an_envelope_of_socket_mode_is_remembered_as_long_as_a_callback(
    later: float, status: int, listener: SlackListener, clock: Clock
) -> None:
    first = await listener.answer_envelope("an-envelope", a_press())
    clock.pass_by(later)
    second = await listener.answer_envelope("an-envelope", a_press())

    assert (first.status, second.status) == (200, status)


@pytest.mark.parametrize(("size", "status"), [(BODY_BYTES, 401), (BODY_BYTES + 1, 413)])
async def test_a_callback_has_at_most_a_mebibyte(size: int, status: int, client: Client) -> None:
    unsigned = {"Content-Type": FORM}

    assert (await post(client, unsigned, b"x" * size))[0] == status


async def test_a_callback_of_a_mebibyte_that_is_signed_is_read(
    client: Client, clock: Clock
) -> None:
    body = b"payload=" + b"x" * (BODY_BYTES - 8)

    assert (await post(client, signed(body, clock.seconds()), body))[0] == 400
