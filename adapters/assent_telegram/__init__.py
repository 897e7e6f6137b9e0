"""Cards as messages with inline keyboards, Telegram updates as presses."""
