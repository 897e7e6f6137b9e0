"""Which updates the bot asks Telegram for, by webhook and by polling alike."""

from __future__ import annotations

# message: replies that fill in a form, and a group tells of its migration in a service
# message; edited_message: whoever edits such a reply is told that it changes nothing;
# callback_query: the presses; my_chat_member: somebody blocked or removed the bot.
ALLOWED_UPDATES = ("message", "edited_message", "callback_query", "my_chat_member")
