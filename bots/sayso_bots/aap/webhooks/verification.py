"""Whether a receiver is who it should be: it answers a challenge that only it can read."""

from __future__ import annotations

import json
import uuid

from sayso_bots.aap.webhooks.messages import written
from sayso_bots.aap.webhooks.receiver import Receiver
from sayso_bots.aap.webhooks.sending import MOST_ANSWER, Sender, UnreachedError


class UnverifiedError(Exception):
    """A receiver did not repeat the challenge. The text says why, for its owner."""


async def verify(sender: Sender, receiver: Receiver, instance_id: str, *, created_at: str) -> None:
    """Send a challenge, and see that just this comes back.

    Raises:
        UnverifiedError: it does not.
        NotPublicError: the receiver's name leads to an address that is not public.
    """
    message_id, challenge = str(uuid.uuid4()), str(uuid.uuid4())
    message = {
        "id": message_id,
        "type": "webhook.verification",
        "registration_id": receiver.registration_id,
        "instance_id": instance_id,
        "created_at": created_at,
        "challenge": challenge,
    }
    try:
        reply = await sender.send(receiver, message_id, written(message))
    except UnreachedError as error:
        raise UnverifiedError(f"the receiver was not verified: {error}") from None
    if reply.status != 200:
        text = f"the receiver was not verified: it answered {reply.status} instead of 200"
        raise UnverifiedError(text)
    if not _repeats(reply.body, challenge):
        raise UnverifiedError("the receiver was not verified: it did not repeat the challenge")


def _repeats(body: bytes, challenge: str) -> bool:
    if len(body) > MOST_ANSWER:
        return False
    try:
        pairs = json.loads(body, object_pairs_hook=list)
    except (ValueError, RecursionError):
        return False
    return bool(pairs == [("challenge", challenge)])
