"""Slack for Sayso: cards become messages, button presses become decisions.

All that only Slack has belongs here: its blocks, its dialogs, its signatures, its errors. Who may
decide and what an answer means is the core's business.
"""

from typing import TYPE_CHECKING

from sayso.later import later
from sayso_slack.config import SlackConfig

if TYPE_CHECKING:
    from sayso_slack.adapter import Identity, SlackAdapter
    from sayso_slack.listener import SlackListener

__all__ = ["Identity", "SlackAdapter", "SlackConfig", "SlackListener"]

# Type checkers read the imports above: to them, another name is a mistake.
if not TYPE_CHECKING:
    # Reading settings needs none of Slack's libraries: these are loaded on their first use.
    __getattr__, __dir__ = later(
        globals(),
        {
            "sayso_slack.adapter": ("Identity", "SlackAdapter"),
            "sayso_slack.listener": ("SlackListener",),
        },
    )
