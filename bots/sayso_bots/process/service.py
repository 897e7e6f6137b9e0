"""The service manager that started this process, spoken to as sd_notify(3) describes."""

from __future__ import annotations

import logging
import socket
from collections.abc import Mapping

_log = logging.getLogger(__name__)


def notify_service_manager(state: str, env: Mapping[str, str]) -> None:
    """Send a state, such as ``READY=1``, to systemd where it waits for one (``Type=notify``)."""
    address = env.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    # systemd writes an abstract address, which begins with a zero byte, with an @.
    address = f"\0{address[1:]}" if address[0] == "@" else address
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notifying:
            notifying.sendto(state.encode(), address)
    except OSError as error:
        _log.warning("the service manager cannot be told %s: %s", state, error.strerror)
