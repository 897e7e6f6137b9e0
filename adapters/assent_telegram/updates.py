"""Which updates the bot asks Telegram for, by webhook and by polling alike."""

from __future__ import annotations

# message: a group tells of its migration in a service message;
# callback_query: the presses; my_chat_member: somebody blocked or removed the
# bot. edited_message is left out: nothing that people type is read.
ALLOWED_UPDATES = ("message", "callback_query", "my_chat_member")
