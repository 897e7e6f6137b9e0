"""Cards as Block Kit messages, Slack callbacks as presses."""
