"""What Telegram shows of several questions: reminders and lists.

Functions from values to messages, without a client. Cards have a room of their own.
"""
