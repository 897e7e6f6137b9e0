"""What makes a message a notification of ours: the headers of ``standardwebhooks``."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping
from datetime import datetime

from sayso_bots.aap.webhooks.receiver import Receiver


def signed_headers(
    receiver: Receiver, message_id: str, body: bytes, at: datetime
) -> Mapping[str, str]:
    """The headers of one try: its moment, and a signature over that and the body."""
    stamp = str(int(at.timestamp()))
    signed = f"{message_id}.{stamp}.".encode() + body
    digest = hmac.new(receiver.key, signed, hashlib.sha256).digest()
    return {
        "webhook-id": message_id,
        "webhook-timestamp": stamp,
        "webhook-signature": "v1," + base64.b64encode(digest).decode(),
    }
