"""The double of Telegram: its Bot API, its updates, and the limits of both."""
