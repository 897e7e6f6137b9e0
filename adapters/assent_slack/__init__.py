"""Slack for Assent: cards become messages, button presses become decisions."""

from assent_slack.adapter import Identity, SlackAdapter
from assent_slack.answers import HttpAnswer
from assent_slack.config import SlackConfig
from assent_slack.listener import SlackListener

__all__ = ["HttpAnswer", "Identity", "SlackAdapter", "SlackConfig", "SlackListener"]
