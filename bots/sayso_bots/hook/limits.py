"""How long a hook waits, and what ends the wait. Loads next to nothing."""

from __future__ import annotations

import signal

DEFAULT_SECONDS = 540.0
"""How long a question waits unless told: a minute less than the agents' own limit for a hook."""

MARGIN_SECONDS = 30.0
"""When the time of the question is over by so much, whatever goes on ends in a denial."""

SPARE_SECONDS = 60
"""So much longer than the question is the limit that is written for the agent."""

TELLING_SECONDS = 10
"""The limit that is written for telling how a call went, and how long that is tried."""

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGALRM)
"""What ends the wait: the agent's own limit sends SIGTERM, ours SIGALRM."""

MAX_BYTES = 64 * 1024 * 1024
"""Longer than any call that a gate takes."""
