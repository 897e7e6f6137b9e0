"""Slack for Sayso: cards become messages, button presses become decisions."""

from sayso_slack.adapter import Identity, SlackAdapter
from sayso_slack.config import SlackConfig
from sayso_slack.incoming.answers import HttpAnswer
from sayso_slack.incoming.listener import SlackListener

__all__ = ["HttpAnswer", "Identity", "SlackAdapter", "SlackConfig", "SlackListener"]
