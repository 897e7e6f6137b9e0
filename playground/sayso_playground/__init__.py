"""Doubles of the Slack Web API and the Telegram Bot API, with a page to press buttons on.

They answer as the platforms do, refusals included, and know nothing about any bot::

    async with Playground(PlaygroundConfig(slack_events_url=events_url)) as playground:
        slack = AsyncWebClient("xoxb-playground", base_url=playground.slack_api_url)
        await slack.chat_postMessage(channel="C0OPS", text="May I?", blocks=blocks)

        message = await playground.slack.message_where(lambda m: "May I" in m.text)
        delivery = await playground.slack.press(message, "Allow", by="alice")
        assert delivery.status == 200

- ``playground.slack``: ``messages``, ``ephemerals``, ``view``; ``message_where``,
  ``ephemeral_where``, ``view_for``, ``until`` wait for a condition without polling;
  ``press``, ``submit``, ``close_view`` act as a person; ``send_event``, ``verify_url``,
  ``uninstall`` act as Slack; a form is filled in by the labels of its inputs, and what
  Slack's own client insists on is never sent; ``sign``, ``block_actions`` and
  ``deliver_raw`` are for requests that are not quite right; ``deliver_to(url)`` chooses
  HTTP, ``deliver_to(None)`` Socket Mode.
- ``playground.telegram``: ``messages``, ``message_where``, ``until``, ``press``,
  ``press_data``, ``say``, ``correct``, ``delete``, ``block``, ``unblock``, ``kick``,
  ``migrate_group``, ``add_update``, ``deliver_to``; webhooks and long polling.
- both: ``calls`` (what the bot called, without secrets), ``misbehave(method, fault, times)``
  with ``RateLimited``, ``ServerError``, ``Slow``, ``DropConnection`` for API methods (``"*"``
  for all) and ``DeliverTwice``, ``Slow`` for ``"callback"``; ``behave()`` ends it.

Time is ``config.clock``; the pauses between webhook retries are ``config.sleep``.
``playground.url`` is a page on which a person can be any of the members.
"""

from sayso_playground.config import (
    ALICE,
    BOB,
    MALLORY,
    Member,
    PlaygroundConfig,
    SlackChannel,
    TelegramChat,
    UserGroup,
)
from sayso_playground.faults import (
    Call,
    DeliverTwice,
    Delivery,
    DropConnection,
    Fault,
    RateLimited,
    ServerError,
    Slow,
)
from sayso_playground.server import Playground
from sayso_playground.slack.double import SlackDouble
from sayso_playground.slack.state import SlackMessage, SlackView
from sayso_playground.telegram.double import TelegramDouble
from sayso_playground.telegram.state import TelegramDocument, TelegramMessage

__all__ = [
    "ALICE",
    "BOB",
    "MALLORY",
    "Call",
    "DeliverTwice",
    "Delivery",
    "DropConnection",
    "Fault",
    "Member",
    "Playground",
    "PlaygroundConfig",
    "RateLimited",
    "ServerError",
    "SlackChannel",
    "SlackDouble",
    "SlackMessage",
    "SlackView",
    "Slow",
    "TelegramChat",
    "TelegramDocument",
    "TelegramDouble",
    "TelegramMessage",
    "UserGroup",
]
