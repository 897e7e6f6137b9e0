"""Slack for Sayso: cards become messages, button presses become decisions.

All that only Slack has belongs here: its blocks, its dialogs, its signatures, its errors. Who may
decide and what an answer means is the core's business.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sayso_slack.config import SlackConfig

if TYPE_CHECKING:
    from sayso_slack.adapter import Identity, SlackAdapter
    from sayso_slack.incoming.answers import HttpAnswer
    from sayso_slack.incoming.listener import SlackListener

__all__ = ["HttpAnswer", "Identity", "SlackAdapter", "SlackConfig", "SlackListener"]

# Reading settings needs none of Slack's libraries: these are loaded when they are first used.
_LATER = {
    "HttpAnswer": "sayso_slack.incoming.answers",
    "Identity": "sayso_slack.adapter",
    "SlackAdapter": "sayso_slack.adapter",
    "SlackListener": "sayso_slack.incoming.listener",
}

# Type checkers read the imports above: to them, another name is a mistake.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """What is loaded on its first use."""
        if name not in _LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(import_module(_LATER[name]), name)
        return found
