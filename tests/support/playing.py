"""Both platforms, played, on a machine that may be busy with other things."""

from __future__ import annotations

from typing import Any

from sayso.testing.builders import PATIENCE_SECONDS
from sayso_playground import Playground, PlaygroundConfig


def a_playground(**config: Any) -> Playground:
    """A playground whose Slack does not call a press lost because this machine is slow."""
    return Playground(PlaygroundConfig(**{"slack_ack_seconds": PATIENCE_SECONDS, **config}))
